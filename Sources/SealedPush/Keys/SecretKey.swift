import PushCrypto
internal import _PushBase

/// A secret key that is written as text: ``Identity``, ``SenderKey``, ``AuthorityKey`` or ``EnrolmentKey``.
///
/// The 32 bytes lie in guarded memory that is wiped with the last reference; printing, interpolating or reflecting one
/// shows the public half only. Safe to share between threads. A process can hold about 16,000. Only this library's own
/// types conform. Source: Specification 8.
public protocol SecretKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// What others may know of it.
    associatedtype PublicHalf: Hashable, Sendable, CustomStringConvertible

    /// The public half.
    var publicHalf: PublicHalf { get }

    /// Makes a new random key.
    init()

    /// Reads the secret text, in capitals only, as ASCII from memory that its owner wipes.
    init(parsing text: UnsafeRawBufferPointer) throws(KeyTextError)

    /// Lends the secret text, as ASCII, for as long as `body` runs; it is wiped afterwards and must not escape.
    ///
    /// For storing a key and nothing else: whoever has this text has the key.
    func withSecretText<Answer: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Answer
    ) throws(Failure) -> Answer
}

extension SecretKey {
    /// Reads the secret text, in capitals only.
    ///
    /// The caller's own string can't be wiped; where that matters, read bytes and use the other initialiser.
    public init(parsing text: String) throws(KeyTextError) {
        var text = Array(text.utf8)
        defer { wipe(&text) }
        try self.init(parsing: text)
    }

    /// Reads the same text as ASCII bytes, which the caller wipes.
    public init(parsing text: [UInt8]) throws(KeyTextError) {
        guard !text.isEmpty else { throw .notAKey }
        // Through scratch memory, since an array may not lend its bytes to what throws a typed error.
        let scratch = WipedBytes(count: text.count) { $0.copyBytes(from: text) }
        self = try scratch.withBytes { (bytes) throws(KeyTextError) in try Self(parsing: bytes) }
    }

    /// The public half's text, never the secret.
    public var description: String { "\(Self.self)(\(publicHalf))" }

    /// The public half only.
    public var customMirror: Mirror {
        Mirror(self, children: ["\(PublicHalf.self)".lowercased(): publicHalf.description])
    }
}
