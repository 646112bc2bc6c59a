internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushKeyring

/// `sealedpush keys passphrase`
struct PassphraseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passphrase",
        abstract: "Seal the keyring's secrets: under a passphrase, or under a key in a file.",
        usage: "sealedpush keys passphrase [<options>]",
        discussion: """
            Everything is sealed anew, in one change. The one it had before is asked for, or named as everywhere.

            Examples:
              sealedpush keys passphrase --keyring Keys
              sealedpush keys passphrase --new-key-file /etc/sealedpush.key --keyring Keys
              sealedpush keys passphrase --clear --keyring Keys

            A key file is made if it is missing: keep it where backups of the keyring are not. A passphrase that is lost \
            can't be replaced.
            """)

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    @Option(help: "A file with the new passphrase.") var newPassphraseFile: String?

    @Option(help: "A file with the new key; made if it is missing.") var newKeyFile: String?

    @Flag(help: "Leave the secrets in the clear, for your user alone.") var clear = false

    @Flag(help: "Do not ask.") var yes = false

    func validate() throws {
        guard [newPassphraseFile, newKeyFile, clear ? "" : nil].compactMap({ $0 }).count <= 1 else {
            throw ValidationError("Give one of --new-passphrase-file, --new-key-file and --clear.")
        }
    }

    func run() throws {
        try Failure.reporting {
            let keys = try keyring.keysToSeal("keys passphrase")
            if clear {
                try Prompt.confirm(
                    "The secrets in \(keyring.keyring) will be in the clear: whoever reads the files has the keys.",
                    isConfirmed: yes)
                try keys.seal(with: nil)
                try Output.line("The secrets in \(keyring.keyring) are in the clear.")
            } else {
                // The old secret first: a key file that was made for nothing would be taken for the keyring's.
                _ = try keys.trustList()
                let secret = try newSecret()
                // One that is not sealed, or does not exist yet, has no secret to differ from.
                if try keys.sealKind() != nil { try requireOther(secret) }
                try keys.seal(with: secret)
                try Output.line("\(keyring.keyring) is sealed with a \(secret.kind.rawValue).")
            }
        }
    }

    /// After a theft it would look done.
    private func requireOther(_ secret: KeyringSecret) throws {
        let same = Keyring(
            folder: URL(filePath: keyring.keyring), unlocking: .given(secret),
            expecting: SealExpectation(seen: .ofUser()), command: "keys passphrase")
        guard (try? same.trustList()) == nil else {
            throw Failure.input(
                "\(keyring.keyring) is sealed with this \(secret.kind.rawValue) already: nothing was changed")
        }
    }

    private func newSecret() throws -> KeyringSecret {
        if let newPassphraseFile { return Secrets.new(.passphrase(try Secrets.passphrase(file: newPassphraseFile))) }
        if let newKeyFile {
            guard FileManager.default.fileExists(atPath: newKeyFile) else {
                let key = try Secrets.makeKey(file: newKeyFile)
                Failure.report("made \(newKeyFile): without it the keyring can't be opened")
                return .key(key)
            }
            Failure.report("\(newKeyFile) is there already, and its key is used")
            return .key(try SecretFile.keyringKey(newKeyFile))
        }
        guard let passphrase = try Prompt.newPassphrase("New passphrase: ") else {
            throw Failure.usage("there is no terminal to ask at: name --new-passphrase-file or --new-key-file")
        }
        return Secrets.new(.passphrase(passphrase))
    }
}
