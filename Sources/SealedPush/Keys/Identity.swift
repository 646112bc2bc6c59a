package import PushCrypto

/// The private half of a device's key: what opens. Its text begins with `PUSH-SECRET-KEY-1`.
///
/// The 32 bytes lie in guarded memory that is wiped with the last reference; printing, interpolating or reflecting one
/// shows the public half only. Safe to share between threads. A process can hold about 16,000. Source: Specification 8.
public final class Identity: SecretKey {
    /// The public half.
    public let recipient: Recipient
    package let secretKey: X25519SecretKey

    /// Makes a new random key; about 45 µs.
    public convenience init() { self.init(secretKey: .random()) }

    /// Reads `PUSH-SECRET-KEY-1…`, in capitals only, from memory that its owner wipes.
    public convenience init(parsing text: UnsafeRawBufferPointer) throws(KeyTextError) {
        self.init(secretKey: try KeyKind.identity.secretKey(parsing: text))
    }

    private init(secretKey: consuming X25519SecretKey) {
        recipient = Recipient(secretKey.publicKey)
        self.secretKey = secretKey
    }

    /// The public half.
    public var publicHalf: Recipient { recipient }

    /// Lends the secret text, as ASCII, for as long as `body` runs; it is wiped afterwards and must not escape.
    ///
    /// For storing a key and nothing else: whoever has this text has the key.
    public func withSecretText<Answer: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        try KeyKind.identity.withText(of: secretKey, body)
    }
}
