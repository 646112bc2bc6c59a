package import PushCrypto

/// A sender's secret key: what seals, and proves who sealed. Its text begins with `PUSH-SENDER-SECRET-KEY-1`.
///
/// The 32 bytes lie in guarded memory that is wiped with the last reference; printing, interpolating or reflecting one
/// shows the public half only. Safe to share between threads. A process can hold about 16,000. Source: Specification 8.
public final class SenderKey: SecretKey {
    /// The public half.
    public let sender: Sender
    package let secretKey: X25519SecretKey

    /// Makes a new random key; about 45 µs.
    public convenience init() { self.init(secretKey: .random()) }

    /// Reads `PUSH-SENDER-SECRET-KEY-1…`, in capitals only, from memory that its owner wipes.
    public convenience init(parsing text: UnsafeRawBufferPointer) throws(KeyTextError) {
        self.init(secretKey: try KeyKind.senderKey.secretKey(parsing: text))
    }

    private init(secretKey: consuming X25519SecretKey) {
        sender = Sender(secretKey.publicKey)
        self.secretKey = secretKey
    }

    /// The public half.
    public var publicHalf: Sender { sender }

    /// Lends the secret text, as ASCII, for as long as `body` runs; it is wiped afterwards and must not escape.
    ///
    /// For storing a key and nothing else: whoever has this text has the key.
    public func withSecretText<Answer: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        try KeyKind.senderKey.withText(of: secretKey, body)
    }
}
