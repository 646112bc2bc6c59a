internal import PushCrypto

/// The app's own name for one request to send, so that asking again does not send again: 1 to 256 bytes of UTF-8.
///
/// Only a hash is kept where it is stored. A name that can be guessed can be confirmed from its hash, so make it of IDs
/// and not of words: `invitation-8812`, not what the message says.
public struct IdempotencyKey: Hashable, Sendable {
    /// BLAKE2b-256 of the text, under a label of its own.
    package let digest: [UInt8]

    /// Nil unless the text has 1 to 256 bytes.
    public init?(_ text: String) {
        guard (1...256).contains(text.utf8.count) else { return nil }
        digest = BLAKE2b.hash(Array("sealedpush/v1 request".utf8) + [0] + text.utf8, byteCount: 32)
    }
}
