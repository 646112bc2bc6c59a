internal import PushCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A file on the web, and the hash that identifies it. Source: ContentParts 14.1.
public struct RemoteFile: Hashable, Sendable {
    /// The URL: `https`, with a host but no user or password, at most 2,048 bytes. Receivers decide whether to fetch it.
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

    /// Whether a sender may use it: over `https` or, in a rehearsal, loopback `http`. Apps may allow private addresses.
    package var isFetchable: Bool {
        guard let scheme = url.scheme,
            let authority = URLAuthority(
                url.absoluteString.dropFirst(scheme.count + 3).prefix { !"/?#".contains($0) }), authority.isUsable
        else { return false }
        return scheme.lowercased() == "https" || URLAuthority.loopbackHosts.contains(String(authority.host))
    }

    /// Whether only an app that allows private addresses may fetch it.
    package var isOnPrivateNetwork: Bool { NetworkHost(url).map { !$0.isPublic && !$0.isLoopback } ?? false }

    package static func url(_ text: String) -> URL? {
        guard text.utf8.count <= maximumURLByteCount, text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
            let url = URL(string: text), let scheme = url.scheme?.lowercased(), ["https", "http"].contains(scheme),
            let host = url.host(), !host.isEmpty, url.user() == nil, url.password() == nil
        else { return nil }
        return url
    }

    static let maximumURLByteCount = 2_048
    /// Longer than any file that phones would fetch.
    static let maximumByteCount: Int64 = 1 << 40
}
