package import PushCrypto

/// A device's enrolment key: what signs its ``DeviceRecord``. Its text begins with `PUSH-ENROLMENT-SECRET-KEY-1`.
///
/// A device has one for each app and keeps it for as long as the app is installed there, while its other keys change.
///
/// The 32 bytes lie in guarded memory that is wiped with the last reference; printing, interpolating or reflecting one
/// shows the public half only. Safe to share between threads. A process can hold about 16,000. Source: Specification 8.
public final class EnrolmentKey: SecretKey {
    /// The public half.
    public let enrolment: Enrolment
    package let secretKey: Ed25519SecretKey

    /// Makes a new random key; about 180 µs.
    public convenience init() { self.init(secretKey: .random()) }

    /// Reads `PUSH-ENROLMENT-SECRET-KEY-1…`, in capitals only, from memory that its owner wipes.
    public convenience init(parsing text: UnsafeRawBufferPointer) throws(KeyTextError) {
        self.init(secretKey: try KeyKind.enrolmentKey.secretKey(parsing: text))
    }

    private init(secretKey: consuming Ed25519SecretKey) {
        enrolment = Enrolment(secretKey.publicKey)
        self.secretKey = secretKey
    }

    /// The public half.
    public var publicHalf: Enrolment { enrolment }

    /// Lends the secret text, as ASCII, for as long as `body` runs; it is wiped afterwards and must not escape.
    ///
    /// For storing a key and nothing else: whoever has this text has the key.
    public func withSecretText<Answer: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        try KeyKind.enrolmentKey.withText(of: secretKey, body)
    }
}
