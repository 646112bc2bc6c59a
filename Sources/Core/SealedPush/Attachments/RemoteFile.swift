internal import PushCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A file on the web, and the hash that identifies it. Source: Specification 14.1.
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

/// The key of one encrypted file: 32 random bytes, used for that file only.
///
/// Its bytes travel in the sealed content and are wiped with the last reference. Printing or reflecting a key hides them.
public final class AttachmentKey: Sendable {
    private let bytes: WipedBytes

    /// Creates a random key.
    public init() { bytes = WipedBytes(count: SecretStream.keyByteCount) { SecureRandom.fill($0) } }

    /// Returns nil unless the text is base64url of 32 bytes.
    init?(text: String) {
        guard var decoded = Base64URL.decode(text.utf8), decoded.count == SecretStream.keyByteCount else { return nil }
        defer { wipe(&decoded) }
        bytes = WipedBytes(count: decoded.count) { [decoded] in $0.copyBytes(from: decoded) }
    }

    /// The key's text, only for the content's JSON.
    var text: String { bytes.withBytes { Base64URL.encode(Array($0)) } }

    package func withBytes<Answer: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        try bytes.withBytes(body)
    }
}

extension AttachmentKey: Hashable {
    public static func == (one: AttachmentKey, other: AttachmentKey) -> Bool {
        one.withBytes { one in other.withBytes { ConstantTime.areEqual(one, $0) } }
    }

    /// Hashes the key's hash, not the key.
    public func hash(into hasher: inout Hasher) { hasher.combine(withBytes { BLAKE2b.hash(Array($0), byteCount: 32) }) }
}

extension AttachmentKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "AttachmentKey(hidden)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// An error in sealing or opening a file. Contains no part of the file.
public enum AttachmentError: String, Error, Sendable {
    /// Larger than iOS allows for this type, or larger than announced.
    case tooLarge = "too-large"
    /// Shorter than announced.
    case cut
    /// Not the bytes that were sealed.
    case altered
    /// Not of the declared type.
    case wrongType = "wrong-type"
    /// Empty.
    case empty
    /// The file couldn't be read.
    case unreadable
    /// The file couldn't be written.
    case notWritable = "not-writable"
    /// The disk is full, or the user's quota is used up.
    case diskFull = "disk-full"
    /// The process has as many files open as it may have.
    case tooManyOpenFiles = "too-many-open-files"
    /// The file already exists.
    case exists
    /// The attachment's ID doesn't have 1 to 64 bytes.
    case wrongID = "wrong-id"
}

extension AttachmentError {
    /// Creates the error for a system's error number: one with its own remedy, or `other`.
    package init(code: Int32, or other: AttachmentError) {
        self =
            switch code {
            case ENOSPC, EDQUOT: .diskFull
            case EMFILE, ENFILE: .tooManyOpenFiles
            default: other
            }
    }
}

extension AttachmentError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .tooLarge: "the file is too large for iOS to show (limits: sound 5 MB, picture 10 MB, movie 50 MB)"
        case .cut: "the file is shorter than it should be"
        case .altered: "the file is not the one that was sealed"
        case .wrongType: "the file's contents don't match the type that its name declares"
        case .empty: "the file is empty"
        case .unreadable: "the file can't be read"
        case .notWritable: "the file can't be written; check that its folder exists"
        case .diskFull: "the disk is full, or its quota is used up; free some space first"
        case .tooManyOpenFiles: "too many files are open; raise the limit (`ulimit -n`)"
        case .exists: "the file already exists and won't be overwritten"
        case .wrongID: "an attachment's ID must have 1 to 64 bytes"
        }
    }
}
