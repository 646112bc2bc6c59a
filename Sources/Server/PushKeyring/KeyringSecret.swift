internal import Foundation
internal import PushCore
public import SealedPush

/// The secret that seals a keyring.
public enum KeyringSecret: Sendable {
    /// A passphrase, which a person remembers; slow to try, through Argon2id.
    case passphrase(Passphrase)
    /// A random key, for a machine that starts without a person.
    case key(KeyringKey)

    /// The kind of secret that a keyring needs.
    public enum Kind: String, Sendable {
        /// A passphrase, through Argon2id.
        case passphrase
        /// A key from a file or the environment.
        case key
    }

    /// Which kind of secret this is.
    public var kind: Kind {
        switch self {
        case .passphrase: .passphrase
        case .key: .key
        }
    }

    /// The forms that may have sealed the keyring, starting with the one used today.
    var forms: [KeyringSecret] {
        guard case .passphrase(let passphrase) = self, let typed = passphrase.typed else { return [self] }
        return [self, .passphrase(typed)]
    }
}

/// A passphrase: 1 to 1,024 bytes in guarded memory. It's wiped with the last reference, and never printed.
public final class Passphrase: Sendable {
    fileprivate let secret: GuardedSecret
    /// The passphrase as it was typed, if that isn't in Normalization Form C.
    fileprivate let typed: Passphrase?

    /// Copies 1 to 1,024 bytes without a final line end; returns nil for any other number. The caller must wipe its copy.
    ///
    /// An `é` is the same as one character or two. To normalize it, a non-ASCII passphrase passes through strings, which
    /// can't be wiped. Source: RFC 8265, 4.2.
    public convenience init?(_ bytes: [UInt8]) {
        var count = bytes.count
        if count > 0, bytes[count - 1] == UInt8(ascii: "\n") { count -= 1 }
        if count > 0, bytes[count - 1] == UInt8(ascii: "\r") { count -= 1 }
        let typed = bytes[..<count]
        var composed = typed.allSatisfy { $0 < 0x80 } ? [] : Self.composed(typed)
        defer { wipe(&composed) }
        if composed.isEmpty || composed.elementsEqual(typed) {
            self.init(typed, typed: nil)
        } else {
            self.init(composed[...], typed: Passphrase(typed, typed: nil))
        }
    }

    private init?(_ bytes: ArraySlice<UInt8>, typed: Passphrase?) {
        guard (1...1_024).contains(bytes.count) else { return nil }
        secret = GuardedSecret(count: bytes.count) { $0.copyBytes(from: bytes) }
        self.typed = typed
    }

    /// Returns an empty array if the bytes aren't UTF-8.
    private static func composed(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        String(strictUTF8: bytes).map { Array($0.precomposedStringWithCanonicalMapping.utf8) } ?? []
    }

    /// From 1 to 1,024.
    package var byteCount: Int { secret.count }
}

/// A keyring's own key, for servers without anyone to type a passphrase: 32 random bytes, written as `PUSH-KEYRING-KEY-1…` in
/// a file or an environment variable. It's in guarded memory, wiped with the last reference, and never printed.
public final class KeyringKey: Sendable {
    fileprivate let secret: GuardedSecret

    /// Creates a random key.
    public init() { secret = GuardedSecret(count: Self.form.byteCount) { SecureRandom.fill($0) } }

    /// Parses the uppercase text, with optional white space around it. The caller must wipe its own copy.
    public init(parsing text: [UInt8]) throws(KeyTextError) {
        let text = text.trimmingSpace
        guard !text.isEmpty else { throw .notAKey }
        let trimmed = WipedBytes(count: text.count) { $0.copyBytes(from: text) }
        let bytes = try trimmed.withBytes { (text) throws(KeyTextError) in try Bech32.decode(text, as: Self.form) }
        secret = GuardedSecret(count: bytes.count) { output in bytes.withBytes { output.copyMemory(from: $0) } }
    }

    /// Passes the text to `body` as ASCII. Use this only to write a key file.
    public func withText<Answer, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        let text = secret.withBytes { Bech32.encode($0, prefix: Self.prefix, inCapitals: true) }
        return try text.withBytes(body)
    }

    private static let prefix = "push-keyring-key-"
    private static let form = Bech32.Form(prefix, byteCount: StorageKey.byteCount, inCapitals: true)
}

/// How a keyring is sealed: the kind of secret, and the parameters of its key. Not secret.
struct KeyringSeal: Hashable {
    let kind: KeyringSecret.Kind
    fileprivate let salt: [UInt8]
    fileprivate let cost: Argon2id.Cost?

    init(_ kind: KeyringSecret.Kind) {
        self.kind = kind
        salt = SecureRandom.bytes(count: Argon2id.saltByteCount)
        cost = kind == .passphrase ? .standard : nil
    }

    /// Reads the first paragraph of a keyring, or returns nil if a value is invalid.
    init?(_ file: borrowing TextFile) {
        guard let kind = file.text("seal", in: 0).flatMap(KeyringSecret.Kind.init(rawValue:)),
            let salt = file.bytes("salt", in: 0), salt.count == Argon2id.saltByteCount
        else { return nil }
        self.kind = kind
        self.salt = salt
        let operations = file.text("operations", in: 0).flatMap { UInt64($0) } ?? 0
        let memory = file.text("memory", in: 0).flatMap { Int($0) } ?? 0
        cost = Argon2id.Cost(operations: operations, memoryByteCount: memory)
        let names = [KeyringFile.versionName, "seal", "salt", "check"]
        let costNames = kind == .passphrase ? ["operations", "memory"] : []
        guard file.names(in: 0) == Set(names + costNames), (cost != nil) == (kind == .passphrase) else { return nil }
    }

    /// Distinguishes this seal from any other of the same keyring. Not secret.
    var mark: SealExpectation.Mark { Base64URL.encode(salt) }

    func write(to writer: inout TextFileWriter) {
        writer.field("seal", kind.rawValue)
        writer.field("salt", mark)
        writer.field("operations", cost.map { String($0.operations) })
        writer.field("memory", cost.map { String($0.memoryByteCount) })
    }
}

/// A seal and its key, which seals a keyring's secrets and computes its MAC. It can be shared.
final class KeyringSealKey: Sendable {
    let seal: KeyringSeal
    let storage: StorageKey

    /// Derives a seal's key from a secret, right or wrong. Takes about 0.2 s for a passphrase.
    init(_ seal: KeyringSeal, from secret: KeyringSecret) throws(KeyringError) {
        switch (secret, seal.kind) {
        case (.passphrase(let passphrase), .passphrase):
            var isDerived = false
            storage = StorageKey { output in
                isDerived = passphrase.secret.withBytes {
                    Argon2id.derive(from: $0, salt: seal.salt, cost: seal.cost ?? .standard, into: output)
                }
            }
            guard isDerived else { throw .outOfMemory }
        case (.key(let key), .key): storage = key.secret.withBytes { StorageKey(derivedFrom: $0, salt: seal.salt) }
        case (.passphrase, .key), (.key, .passphrase): throw .needsSecret(seal.kind)
        }
        self.seal = seal
    }

    convenience init(new secret: KeyringSecret) throws(KeyringError) {
        try self.init(KeyringSeal(secret.kind), from: secret)
    }

    /// The MAC of the seal's parameters, which distinguishes a wrong secret from an edited file.
    var check: [UInt8] { storage.mac(checked) }

    func isRight(_ check: [UInt8]) -> Bool { storage.isValid(check, of: checked) }

    private var checked: [UInt8] {
        var writer = TextFileWriter(capacity: 256)
        seal.write(to: &writer)
        return Array("sealedpush/v1 keyring seal".utf8) + [0] + writer.bytes
    }
}
