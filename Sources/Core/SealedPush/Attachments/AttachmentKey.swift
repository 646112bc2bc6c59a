internal import PushCore

/// The key of one encrypted file: 32 random bytes, used for that file only.
///
/// Its bytes are wiped with the last reference; printing or reflecting one shows nothing of them. They travel inside the
/// sealed content.
public final class AttachmentKey: Sendable {
    private let bytes: WipedBytes

    /// A new random key.
    public init() {
        bytes = WipedBytes(count: SecretStream.keyByteCount) { SecureRandom.fill($0) }
    }

    /// Nil unless the text is base64url of 32 bytes.
    init?(text: String) {
        guard var decoded = Base64URL.decode(text.utf8), decoded.count == SecretStream.keyByteCount else { return nil }
        defer { wipe(&decoded) }
        bytes = WipedBytes(count: decoded.count) { [decoded] in $0.copyBytes(from: decoded) }
    }

    /// For the content's JSON and nothing else.
    var text: String { bytes.withBytes { Base64URL.encode(Array($0)) } }

    /// Lends the 32 bytes, for as long as `body` runs.
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

    /// Of the key's hash, not of the key.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(withBytes { BLAKE2b.hash(Array($0), byteCount: 32) })
    }
}

extension AttachmentKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "AttachmentKey(hidden)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
