internal import ArgumentParser
internal import Foundation
internal import PushKeyring
internal import SealedPush

/// `--keyring`, and names in it.
struct KeyringOptions: ParsableArguments {
    @Option(help: "The keyring's folder.")
    var keyring = "Keys"

    func validate() throws {
        guard !keyring.isEmpty else { throw ValidationError("--keyring is empty: name the keyring's folder.") }
    }

    var keys: Keyring { Keyring(folder: URL(filePath: keyring)) }

    func name(_ text: String) throws -> KeyName {
        guard let name = KeyName(parsing: text) else {
            throw Failure.usage(
                "a name has 1 to 64 letters, digits, dots, hyphens and underscores, and begins with a letter or digit")
        }
        return name
    }

    /// A key's text, or a name in the keyring.
    func recipient(_ text: String) throws -> Recipient {
        if let recipient = try publicKey(text, prefix: "push1", Recipient.init(parsing:)) { return recipient }
        return try keys.recipient(named: name(text))
    }

    /// A key's text, or a name in the keyring.
    func sender(_ text: String) throws -> Sender {
        if let sender = try publicKey(text, prefix: "pushsender1", Sender.init(parsing:)) { return sender }
        return try keys.sender(named: name(text))
    }

    /// Nil where the text does not even begin like a key.
    private func publicKey<Key>(
        _ text: String, prefix: String, _ parse: (String) throws(KeyTextError) -> Key
    ) throws -> Key? {
        guard text.lowercased().hasPrefix(prefix) else { return nil }
        do { return try parse(text) } catch { throw Failure.input("\(prefix)…: \(error)") }
    }
}
