internal import ArgumentParser
internal import CommandSupport
internal import PushKeyring
internal import SealedPush

/// The options that select the keys for `revoke` and `erase`.
struct LifeOptions: ParsableArguments {
    @Argument(help: "The key's name.") var name: KeyName

    @Option(name: .customLong("key"), help: "Only this key, by its ID, if the name has several.")
    var keyID: String?

    @Flag(help: "Don't ask for confirmation.") var yes = false

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    /// Looks up the keyring, the entry, and the key ID; fails if one doesn't exist. Call it before asking for confirmation.
    func chosen(_ command: String) throws -> (Keyring, KeyringEntry, KeyID?) {
        let keys = try keyring.keys(command)
        let entry = try keys.entry(named: name)
        let id = try keyID.map { text in
            guard let key = entry.keys.first(where: { $0.key.keyID.description == text.lowercased() })
            else { throw CommandFailure.input("\(name) has no key with this ID; `keys show \(name)` lists its keys") }
            return key.key.keyID
        }
        return (keys, entry, id)
    }
}
