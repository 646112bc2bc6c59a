internal import PushCore
internal import SealedPush

/// How a keyring is sealed: which kind of secret, and what its key is made with. Not secret.
struct KeyringSeal: Hashable {
    let kind: KeyringSecret.Kind
    private let salt: [UInt8]
    private let cost: Argon2id.Cost?

    /// A new seal, with a salt of its own.
    init(_ kind: KeyringSecret.Kind) {
        self.kind = kind
        salt = SecureRandom.bytes(count: Argon2id.saltByteCount)
        cost = kind == .passphrase ? .standard : nil
    }

    /// Reads the first paragraph of a keyring; nil if a value is not what it should be.
    init?(_ file: borrowing TextFile) {
        guard let kind = file.text("seal", in: 0).flatMap(KeyringSecret.Kind.init(rawValue:)),
            let salt = file.bytes("salt", in: 0), salt.count == Argon2id.saltByteCount
        else { return nil }
        self.kind = kind
        self.salt = salt
        var names: Set = ["sealedpush-keyring", "seal", "salt", "check"]
        switch kind {
        case .key: cost = nil
        case .passphrase:
            names.formUnion(["operations", "memory"])
            guard let operations = file.text("operations", in: 0).flatMap(UInt64.init),
                let memory = file.text("memory", in: 0).flatMap({ Int($0) }),
                let cost = Argon2id.Cost(operations: operations, memoryByteCount: memory)
            else { return nil }
            self.cost = cost
        }
        guard file.names(in: 0) == names else { return nil }
    }

    /// What tells this seal from every other one of the same keyring; not secret.
    var mark: SeenSeals.Mark { Base64URL.encode(salt) }

    func write(to writer: inout TextFileWriter, under key: MasterKey) {
        writeFields(to: &writer)
        writer.field("check", Base64URL.encode(key.storage.mac(checked)))
    }

    /// Whether a key is the one that wrote a keyring with this seal.
    func isRight(_ key: MasterKey, check: [UInt8]) -> Bool { key.storage.isValid(check, of: checked) }

    private var checked: [UInt8] {
        var writer = TextFileWriter(capacity: 256)
        writeFields(to: &writer)
        return Array("sealedpush/v1 keyring seal".utf8) + [0] + writer.bytes
    }

    private func writeFields(to writer: inout TextFileWriter) {
        writer.field("seal", kind.rawValue)
        writer.field("salt", Base64URL.encode(salt))
        writer.field("operations", cost.map { String($0.operations) })
        writer.field("memory", cost.map { String($0.memoryByteCount) })
    }

    /// The key that this seal makes of a secret, right or wrong; about 0.2 s for a passphrase.
    func key(from secret: KeyringSecret) throws(KeyringError) -> MasterKey {
        switch (secret, kind) {
        case (.passphrase(let passphrase), .passphrase):
            var isDerived = false
            let key = MasterKey(
                StorageKey { output in
                    isDerived = passphrase.withBytes {
                        Argon2id.derive(from: $0, salt: salt, cost: cost ?? .standard, into: output)
                    }
                })
            guard isDerived else { throw .outOfMemory }
            return key
        case (.key(let key), .key): return key.withBytes { MasterKey(StorageKey(derivedFrom: $0, salt: salt)) }
        case (.passphrase, .key), (.key, .passphrase): throw .needsSecret(kind)
        }
    }
}

/// The key under which a sealed keyring's secrets and MAC are; several may hold it.
final class MasterKey: Sendable {
    let storage: StorageKey

    init(_ storage: consuming StorageKey) { self.storage = storage }
}

/// A seal with its key.
struct SealKey {
    let seal: KeyringSeal
    let key: MasterKey

    /// A new seal under a secret.
    init(new secret: KeyringSecret) throws(KeyringError) {
        seal = KeyringSeal(secret.kind)
        key = try seal.key(from: secret)
    }

    init(seal: KeyringSeal, key: MasterKey) {
        self.seal = seal
        self.key = key
    }
}
