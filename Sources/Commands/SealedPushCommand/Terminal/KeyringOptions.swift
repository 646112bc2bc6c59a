internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushKeyring
internal import SealedPush

/// The options that name and unlock a keyring, and lookups of the names in it.
struct KeyringOptions: ParsableArguments {
    @Option(help: .value("folder", "The keyring's folder.")) var keyring = "Keys"

    @Option(help: .value("file", "Key or passphrase; - for stdin. Or SEALED_PUSH_KEY.")) var unlock: String?

    func validate() throws {
        guard !keyring.isEmpty else { throw ValidationError("--keyring is empty; specify the keyring's folder.") }
    }

    /// Returns the keyring, which must exist, for a command that the audit log records under this name.
    func keys(_ command: String) throws -> Keyring {
        try Self.mustBeThere(keyring)
        return try newKeys(command)
    }

    static func mustBeThere(_ folder: String) throws {
        guard try InputFile.exists(folder)
        else { throw CommandFailure.file("there is no keyring at \(folder); specify its folder with --keyring") }
    }

    /// Prepares to choose a key by its name: fails if the keyring is missing, and warns if it isn't sealed.
    func willChoose(in keys: Keyring) throws {
        try Self.mustBeThere(keyring)
        try warnIfInTheClear(keys)
    }

    /// Returns the keyring, which may not exist yet. For commands that create one, or don't need one if keys are given as text.
    func newKeys(_ command: String) throws -> Keyring {
        Keyring(folder: URL(filePath: keyring), unlocking: try unlocking(), expecting: .ofUser(), command: command)
    }

    /// Returns the keyring for sealing it again. If it isn't sealed, the environment's key is ignored: it may be the new one.
    func keysToSeal(_ command: String) throws -> Keyring {
        let plain = Keyring(folder: URL(filePath: keyring), expecting: .ofUser(isRequired: false), command: command)
        return try unlock != nil || plain.sealKind() != nil ? newKeys(command) : plain
    }

    private func unlocking() throws -> KeyringUnlocking {
        if let unlock { return .given(try Secrets.secret(SecretFile(unlock, from: "--unlock"))) }
        if let key = try SecretFile.keyringKeyFromEnvironment() { return .given(.key(key)) }
        return .asking { (kind) throws(KeyringError) in
            guard kind == .passphrase, let passphrase = try? Prompt.passphrase("Keyring passphrase: ")
            else { throw .needsSecret(kind) }
            return .passphrase(passphrase)
        }
    }

    /// Warns, once, if the keyring isn't sealed. Call it after writing secrets, or before choosing keys by their names.
    func warnIfInTheClear(_ keys: Keyring) throws {
        guard try keys.sealKind() == nil, Self.hasWarned.withLock({ !$0 }) else { return }
        Self.hasWarned.withLock { $0 = true }
        CommandFailure.report(
            "warning: \(keyring) is not sealed: its secrets are in the clear, and anyone who can write to it can replace keys; use `sealedpush keys passphrase` to seal it"
        )
    }

    private static let hasWarned = Locked(false)

    /// Returns the public key given as text, or as a name in the keyring.
    func publicKey(_ reference: KeyReference, in keys: Keyring) throws -> AnyPublicKey {
        try resolved(reference, in: keys, AnyPublicKey.init(parsing:)) { try keys.authenticEntry(named: $0).key }
    }

    /// Returns the senders to trust, or nil if none are given.
    func trusted(_ senders: [KeyReference], in keys: Keyring) throws -> TrustedSenders? {
        senders.isEmpty ? nil : TrustedSenders(try senders.map { try sender($0, in: keys) })
    }

    /// Returns the sender given as text, or as a name in the keyring.
    func sender(_ reference: KeyReference, in keys: Keyring) throws -> SenderPublicKey {
        try resolved(reference, in: keys, SenderPublicKey.init(parsing:)) { try keys.sender(named: $0) }
    }

    private func resolved<Key>(
        _ reference: KeyReference, in keys: Keyring, _ parse: (String) throws(KeyTextError) -> Key,
        _ find: (KeyName) throws -> Key
    ) throws -> Key {
        switch reference {
        case .text(let text): return try text.parsed(parse)
        case .name(let name):
            try willChoose(in: keys)
            return try find(name)
        }
    }
}

extension KeyText {
    /// Returns a device's key that no signed record vouches for.
    func recipient(isUnverifiedAllowed: Bool) throws -> DevicePublicKey {
        let recipient = try parsed(DevicePublicKey.init(parsing:))
        guard isUnverifiedAllowed else {
            throw CommandFailure.usage(
                "a key given as text is unverified; import the device's record, or use --unverified")
        }
        return recipient
    }
}
