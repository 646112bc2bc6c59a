internal import PushCore
public import SealedPush

/// What seals a keyring's secrets.
public enum KeyringSecret: Sendable {
    case passphrase(Passphrase)
    case key(KeyringKey)

    /// Which of the two a keyring asks for.
    public enum Kind: String, Sendable {
        /// A passphrase, through Argon2id.
        case passphrase
        /// A key from a file or the environment.
        case key
    }

    public var kind: Kind {
        switch self {
        case .passphrase: .passphrase
        case .key: .key
        }
    }
}

/// A passphrase: 1 to 1,024 bytes, in guarded memory that is wiped with the last reference; never printed.
public final class Passphrase: Sendable, CustomStringConvertible {
    private let secret: GuardedSecret

    /// Copies the bytes, without one line end behind them; nil for none, or more than 1,024. The caller wipes its own.
    public init?(_ bytes: [UInt8]) {
        var count = bytes.count
        if count > 0, bytes[count - 1] == UInt8(ascii: "\n") { count -= 1 }
        if count > 0, bytes[count - 1] == UInt8(ascii: "\r") { count -= 1 }
        guard (1...Self.maximumByteCount).contains(count) else { return nil }
        byteCount = count
        secret = GuardedSecret(count: count) { $0.copyBytes(from: bytes[..<count]) }
    }

    func withBytes<Answer>(_ body: (UnsafeRawBufferPointer) -> Answer) -> Answer { secret.withBytes(body) }

    /// 1 to 1,024.
    package let byteCount: Int

    public var description: String { "Passphrase" }

    static let maximumByteCount = 1_024
}

/// A keyring's own key, for servers, where nobody is there to type a passphrase: 32 random bytes, written as
/// `PUSH-KEYRING-KEY-1…` in a file or an environment variable.
///
/// In guarded memory that is wiped with the last reference; never printed.
public final class KeyringKey: Sendable, CustomStringConvertible {
    private let secret: GuardedSecret

    /// Makes a new random key.
    public init() { secret = GuardedSecret(count: Self.form.byteCount) { SecureRandom.fill($0) } }

    /// Reads the text, in capitals only, with white space around it. The caller wipes its own copy.
    public init(parsing text: [UInt8]) throws(KeyTextError) {
        let isSpace = { (byte: UInt8) in Array(" \t\r\n".utf8).contains(byte) }
        guard let start = text.firstIndex(where: { !isSpace($0) }), let end = text.lastIndex(where: { !isSpace($0) })
        else { throw .notAKey }
        let trimmed = WipedBytes(count: end - start + 1) { $0.copyBytes(from: text[start...end]) }
        let bytes = try trimmed.withBytes { (text) throws(KeyTextError) in try Bech32.decode(text, as: Self.form) }
        secret = GuardedSecret(count: bytes.count) { output in bytes.withBytes { output.copyMemory(from: $0) } }
    }

    /// Lends the text, as ASCII, for as long as `body` runs; for writing a key file and nothing else.
    public func withText<Answer, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        let text = secret.withBytes { Bech32.encode($0, prefix: Self.prefix, inCapitals: true) }
        return try text.withBytes(body)
    }

    func withBytes<Answer>(_ body: (UnsafeRawBufferPointer) -> Answer) -> Answer { secret.withBytes(body) }

    public var description: String { "KeyringKey" }

    private static let prefix = "push-keyring-key-"
    private static let form = Bech32.Form(prefix, byteCount: StorageKey.byteCount, inCapitals: true)
}
