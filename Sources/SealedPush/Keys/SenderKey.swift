package import PushCrypto

/// A sender's secret key: what seals, and proves who sealed. Its text begins with `PUSH-SENDER-SECRET-KEY-1`.
///
/// The 32 bytes lie in guarded memory that is wiped with the last reference; printing, interpolating or reflecting one
/// shows the public half only. Safe to share between threads. A process can hold about 16,000. Source: Specification 8.
public final class SenderKey: Sendable {
    /// The public half.
    public let sender: Sender
    package let secretKey: X25519SecretKey

    /// Makes a new random key; about 45 µs.
    public convenience init() { self.init(secretKey: .random()) }

    /// Reads `PUSH-SENDER-SECRET-KEY-1…`, in capitals only.
    ///
    /// The caller's own string can't be wiped; where that matters, read bytes and use the other initialiser.
    public convenience init(parsing text: String) throws(KeyTextError) {
        var text = Array(text.utf8)
        defer { wipe(&text) }
        try self.init(parsing: text)
    }

    /// Reads the same text as ASCII bytes, which the caller wipes.
    public convenience init(parsing text: [UInt8]) throws(KeyTextError) {
        self.init(secretKey: try KeyKind.senderKey.secretKey(parsing: text))
    }

    /// Reads the same text from memory that its owner wipes.
    package convenience init(parsing text: UnsafeRawBufferPointer) throws(KeyTextError) {
        self.init(secretKey: try KeyKind.senderKey.secretKey(parsing: text))
    }

    private init(secretKey: consuming X25519SecretKey) {
        sender = Sender(secretKey.publicKey)
        self.secretKey = secretKey
    }

    /// Lends the secret text, as ASCII, for as long as `body` runs; it is wiped afterwards and must not escape.
    ///
    /// For storing a key and nothing else: whoever has this text has the key.
    public func withSecretText<Answer, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        try KeyKind.senderKey.withText(of: secretKey, body)
    }
}

extension SenderKey: CustomStringConvertible, CustomReflectable {
    /// The public half's text, never the secret.
    public var description: String { "SenderKey(\(sender))" }
    /// The public half only.
    public var customMirror: Mirror { Mirror(self, children: ["sender": sender.description]) }
}
