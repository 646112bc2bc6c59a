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

    /// How many bytes it gives; nil where no encrypted file has this length.
    public var contentByteCount: Int? {
        key == nil ? byteCount : SealedFileLayout(sealedByteCount: byteCount)?.plaintextByteCount
    }
}

extension RemoteFile {
    /// Reads the members; nil where one is missing or wrong.
    init?(_ members: [String: JSONValue]) {
        guard let url = members["url"]?.string.flatMap(Self.url),
            let size = members["size"]?.integer, (1...Self.maximumByteCount).contains(size),
            let hash = members["hash"]?.string.flatMap({ Base64URL.decode($0.utf8) }), hash.count == 32
        else { return nil }
        let isPlain: Bool
        switch members["plain"] {
        case nil, .bool(false)?: isPlain = false
        case .bool(true)?: isPlain = true
        default: return nil
        }
        let key = members["key"]?.string.flatMap(AttachmentKey.init(text:))
        // Plain by explicit choice only: a key that is missing or broken must not turn a sealed file into a plain one.
        guard isPlain ? members["key"] == nil : key != nil else { return nil }
        self.init(url: url, byteCount: Int(size), hash: hash, key: key)
        guard contentByteCount != nil else { return nil }
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
