package import PushCrypto

/// An app's authority: what signs its ``SenderSet``. Its text begins with `PUSH-AUTHORITY-SECRET-KEY-1`.
///
/// Belongs on a machine that is not connected to the network: whoever has it names the senders that every device of
/// the app believes.
///
/// The 32 bytes lie in guarded memory that is wiped with the last reference; printing, interpolating or reflecting one
/// shows the public half only. Safe to share between threads. A process can hold about 16,000. Source: Specification 8.
public final class AuthorityKey: SecretKey {
    /// The public half.
    public let authority: Authority
    package let secretKey: Ed25519SecretKey

    /// Makes a new random key; about 180 µs.
    public convenience init() { self.init(secretKey: .random()) }

    /// Reads `PUSH-AUTHORITY-SECRET-KEY-1…`, in capitals only, from memory that its owner wipes.
    public convenience init(parsing text: UnsafeRawBufferPointer) throws(KeyTextError) {
        self.init(secretKey: try KeyKind.authorityKey.secretKey(parsing: text))
    }

    private init(secretKey: consuming Ed25519SecretKey) {
        authority = Authority(secretKey.publicKey)
        self.secretKey = secretKey
    }

    /// The public half.
    public var publicHalf: Authority { authority }

    /// Lends the secret text, as ASCII, for as long as `body` runs; it is wiped afterwards and must not escape.
    ///
    /// For storing a key and nothing else: whoever has this text has the key.
    public func withSecretText<Answer: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        try KeyKind.authorityKey.withText(of: secretKey, body)
    }
}
