internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushKeyring
internal import SealedPush

extension ArgumentHelp {
    /// The help of an option, and the name of its value, short enough that both fit one line.
    static func value(_ name: String, _ text: String) -> ArgumentHelp { ArgumentHelp(text, valueName: name) }
}

/// `--keyring` and what unlocks it, and names in it.
struct KeyringOptions: ParsableArguments {
    @Option(help: .value("folder", "The keyring's folder.")) var keyring = "Keys"

    @Option(help: .value("file", "Its key or passphrase; - reads it. Or SEALED_PUSH_KEY.")) var unlock: String?

    func validate() throws {
        guard !keyring.isEmpty else { throw ValidationError("--keyring is empty: name the keyring's folder.") }
    }

    /// The keyring, as a command uses it that the audit log calls by this name. It must be there.
    func keys(_ command: String) throws -> Keyring {
        try Self.mustBeThere(keyring)
        return try newKeys(command)
    }

    static func mustBeThere(_ folder: String) throws {
        guard FileManager.default.fileExists(atPath: folder)
        else { throw Failure.file("there is no keyring at \(folder): name its folder with --keyring") }
    }

    /// Before a key is chosen by its name: says that the keyring is missing, or not sealed.
    func willChoose(in keys: Keyring) throws {
        try Self.mustBeThere(keyring)
        try warnIfInTheClear(keys)
    }

    /// The same for a command that makes a keyring where there is none, or that needs none where keys are given as text.
    func newKeys(_ command: String) throws -> Keyring {
        Keyring(folder: URL(filePath: keyring), unlocking: try unlocking(), expecting: .ofUser(), command: command)
    }

    /// The keyring for sealing it anew: what the environment holds may be meant for the time after.
    func keysToSeal(_ command: String) throws -> Keyring {
        let plain = Keyring(folder: URL(filePath: keyring), expecting: .ofUser(isRequired: false), command: command)
        return try unlock != nil || plain.sealKind() != nil ? newKeys(command) : plain
    }

    private func unlocking() throws -> KeyringUnlocking {
        if let unlock { return .given(try Secrets.secret(file: unlock)) }
        if let key = try SecretFile.keyringKeyFromEnvironment() { return .given(.key(key)) }
        return .asking { (kind) throws(KeyringError) in
            guard kind == .passphrase, let passphrase = try? Prompt.passphrase("Passphrase of the keyring: ")
            else { throw .needsSecret(kind) }
            return .passphrase(passphrase)
        }
    }

    /// Tells, once, that a keyring is not sealed, in which secrets were just written or keys are chosen by their names.
    func warnIfInTheClear(_ keys: Keyring) throws {
        guard try keys.sealKind() == nil, Self.hasWarned.withLock({ !$0 }) else { return }
        Self.hasWarned.withLock { $0 = true }
        Failure.report(
            "warning: \(keyring) is not sealed: secrets are in the clear, and whoever may write there chooses the keys; `sealedpush keys passphrase` seals it"
        )
    }

    private static let hasWarned = Locked(false)

    /// A public key's text, or a name in the keyring.
    func publicKey(_ reference: KeyReference, in keys: Keyring) throws -> AnyPublicKey {
        try resolved(reference, in: keys, AnyPublicKey.init(parsing:)) { try keys.authenticEntry(named: $0).key }
    }

    /// Who is believed by name; nil if nobody is named.
    func trusted(_ senders: [KeyReference], in keys: Keyring) throws -> TrustedSenders? {
        senders.isEmpty ? nil : TrustedSenders(try senders.map { try sender($0, in: keys) })
    }

    /// A sender's text, or a name in the keyring.
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
    /// A device's key, which nobody vouches for.
    func recipient(isUnverifiedAllowed: Bool) throws -> DevicePublicKey {
        let recipient = try parsed(DevicePublicKey.init(parsing:))
        guard isUnverifiedAllowed else {
            throw Failure.usage(
                "nobody vouches for a key that is given as text: import its record, or say --unverified")
        }
        return recipient
    }
}

/// A length of time as people type it: `30d`, `12h`, `2w`. Not `1m`, which could be a minute or a month.
struct TimeSpan: ExpressibleByArgument, CustomStringConvertible {
    let seconds: Int64
    let description: String

    static let help = "h for hours, d for days, w for weeks"

    init?(argument: String) {
        guard let unit = argument.last.flatMap({ Self.units[$0] }), let count = Int64(argument.dropLast()),
            (1...100_000).contains(count)
        else { return nil }
        seconds = count * unit
        description = argument
    }

    init(days: Int64) {
        seconds = days * 86_400
        description = "\(days)d"
    }

    private static let units: [Character: Int64] = ["h": 3_600, "d": 86_400, "w": 7 * 86_400]
}
