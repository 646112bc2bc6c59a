internal import PushCore

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
