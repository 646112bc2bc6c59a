#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A file that lies somewhere on the web, and how to know that it is the right one. Source: Specification 14.1.
public struct RemoteFile: Hashable, Sendable {
    /// Where it is: `https`, with a host, without user or password, at most 2,048 bytes. Whether a receiver goes there is its
    /// own decision.
    public var url: URL
    /// How many bytes lie there: of the encrypted file, where it is encrypted.
    public var byteCount: Int
    /// BLAKE2b-256 over those bytes.
    public var hash: [UInt8]
    /// What opens it; nil for a file that is not encrypted.
    public var key: AttachmentKey?

    public init(url: URL, byteCount: Int, hash: [UInt8], key: AttachmentKey?) {
        self.url = url
        self.byteCount = byteCount
        self.hash = hash
        self.key = key
    }

    /// How many bytes it opens to; nil where no encrypted file has this length.
    public var contentByteCount: Int? {
        key == nil ? byteCount : SealedFileLayout(sealedByteCount: byteCount)?.plaintextByteCount
    }
}

extension RemoteFile {
    init(reading file: inout MemberReader) throws(ContentError) {
        url = try file.required("url") { $0.string.flatMap(Self.url) }
        let sizes = 1...Self.maximumByteCount
        byteCount = Int(try file.required("size") { $0.integer.flatMap { sizes.contains($0) ? $0 : nil } })
        hash = try file.required("hash") { value in
            value.string.flatMap { Base64URL.decode($0.utf8) }.flatMap { $0.count == 32 ? $0 : nil }
        }
        // Plain by explicit choice only: a key that is missing or broken must not turn a sealed file into a plain one.
        if try file.optional("plain", \.bool) == true {
            guard file.take("key") == nil else { throw .invalid(file.place(of: "key")) }
            key = nil
        } else {
            key = try file.required("key") { $0.string.flatMap(AttachmentKey.init(text:)) }
        }
        guard contentByteCount != nil else { throw .invalid(file.place(of: "size")) }
    }

    /// The members as one JSON object: with the key.
    package var entry: [UInt8] {
        var writer = JSONWriter()
        writer.value(.object(members))
        return writer.bytes
    }

    var members: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "url": .string(url.absoluteString), "size": .integer(Int64(byteCount)),
            "hash": .string(Base64URL.encode(hash)),
        ]
        if let key { members["key"] = .string(key.text) } else { members["plain"] = true }
        return members
    }

    static func url(_ text: String) -> URL? {
        guard text.utf8.count <= maximumURLByteCount, text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
            let url = URL(string: text), let scheme = url.scheme?.lowercased(), ["https", "http"].contains(scheme),
            let host = url.host(), !host.isEmpty, url.user() == nil, url.password() == nil
        else { return nil }
        return url
    }

    static let maximumURLByteCount = 2_048
    /// Longer than any file that is there to be fetched by a phone.
    static let maximumByteCount: Int64 = 1 << 40
}
