internal import PushCore

/// The app's own name for one send request, so that a retry doesn't send the message twice: 1 to 256 bytes of UTF-8.
///
/// Only a hash is stored. Anyone can verify a guess at a key from its hash, so use IDs such as `invitation-8812` rather than
/// words from the message. Random keys are best: with a guessable key, the sender's secret can verify guesses at content.
public struct IdempotencyKey: Hashable, Sendable {
    /// The BLAKE2b-256 hash of the text, with a dedicated label.
    package let digest: [UInt8]
    /// The hash with another label. It's never stored.
    package let tag: [UInt8]

    /// Creates a key, or returns nil unless the text has 1 to 256 bytes.
    public init?(_ text: String) {
        guard (1...Self.maximumByteCount).contains(text.utf8.count) else { return nil }
        digest = BLAKE2b.hash(Array("sealedpush/v1 request".utf8) + [0] + text.utf8, byteCount: 32)
        tag = BLAKE2b.hash(Array("sealedpush/v1 request content".utf8) + [0] + text.utf8, byteCount: 32)
    }

    package static let maximumByteCount = 256
    package static let rule = "1 to \(maximumByteCount) bytes of text"

    /// Returns a unique key.
    package static func random() -> IdempotencyKey { IdempotencyKey() }

    private init() { (digest, tag) = (SecureRandom.bytes(count: 32), SecureRandom.bytes(count: 32)) }
}
