internal import PushCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A file on the web, and the hash that identifies it. Source: ContentParts 14.1.
public struct RemoteFile: Hashable, Sendable {
    /// The URL: at most 2,048 bytes, by `https` to a lowercase host, without a user, password, or fragment. Receivers
    /// decide whether to fetch it. Source: ContentParts 14.1.1.
    public var url: URL
    /// The stored size in bytes; for encrypted files, of the ciphertext.
    public var byteCount: Int
    /// The BLAKE2b-256 of those bytes.
    public var hash: [UInt8]
    /// The key that decrypts it; nil for an unencrypted file.
    public var key: AttachmentKey?

    /// Creates a reference; sealing checks the limits.
    public init(url: URL, byteCount: Int, hash: [UInt8], key: AttachmentKey?) {
        self.url = url
        self.byteCount = byteCount
        self.hash = hash
        self.key = key
    }

    /// The size of the decrypted file in bytes; nil if no encrypted file has this length.
    public var contentByteCount: Int? {
        key == nil ? byteCount : SealedFileLayout(sealedByteCount: byteCount)?.plaintextByteCount
    }
}

extension RemoteFile {
    init(reading file: inout MemberReader) throws(ContentError) {
        url = try file.required("url") { $0.string.flatMap(Self.url) }
        let sizes = 1...Self.maximumByteCount
        byteCount = Int(try file.required("size") { $0.integer.flatMap { sizes.contains($0) ? $0 : nil } })
        hash = try file.required("hash") { $0.bytes(count: BLAKE2bStream.byteCount) }
        // Unencrypted only by explicit choice: a missing or broken key must not turn a sealed file into a plain one.
        if try file.optional("plain", \.bool) == true {
            guard file.take("key") == nil else { throw .invalid(file.place(of: "key")) }
            key = nil
        } else {
            key = try file.required("key") { $0.string.flatMap(AttachmentKey.init(text:)) }
        }
        guard contentByteCount != nil else { throw .invalid(file.place(of: "size")) }
    }

    /// The members as one JSON object, including the key.
    package var entry: [UInt8] { JSONValue.object(members).bytes }

    var members: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "url": .string(url.absoluteString), "size": .integer(Int64(byteCount)),
            "hash": .string(Base64URL.encode(hash)),
        ]
        if let key { members["key"] = .string(key.text) } else { members["plain"] = true }
        return members
    }

    /// Whether only an app that allows private addresses may fetch it.
    package var isOnPrivateNetwork: Bool { NetworkHost(url).map { !$0.isPublic && !$0.isLoopback } ?? false }

    /// Returns nil unless the text is a URL in the form of ContentParts 14.1.1.
    package static func url(_ text: String) -> URL? {
        ContentURL(parsing: text, maximumByteCount: maximumURLByteCount) == nil ? nil : URL(string: text)
    }

    private static let maximumURLByteCount = 2_048
    /// Longer than any file that phones would fetch.
    static let maximumByteCount: Int64 = 1 << 40
}
