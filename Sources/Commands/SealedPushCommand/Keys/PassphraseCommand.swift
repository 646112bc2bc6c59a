internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushKeyring

struct PassphraseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passphrase",
        abstract: "Seal the keyring's secrets with a passphrase or with a key in a file.",
        usage: "sealedpush keys passphrase [<options>]",
        discussion: """
            Reseals everything in one change. Prompts for the previous passphrase unless --unlock provides it, or a key.

            Examples:
              sealedpush keys passphrase --keyring Keys
              sealedpush keys passphrase --new-unlock /etc/sealedpush.key --keyring Keys
              sealedpush keys passphrase --clear --keyring Keys

            If the --new-unlock file doesn't exist, it is created with a new key; keep it apart from backups of the \
            keyring. A lost passphrase can't be recovered.
            """)

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    @Option(help: .value("file", "The new key or passphrase; later used with --unlock.")) var newUnlock: String?

    @Flag(help: "Leave the secrets in the clear, readable only by you.") var clear = false

    @Flag(help: "Don't ask for confirmation.") var yes = false

    func validate() throws {
        guard newUnlock == nil || !clear else { throw ValidationError("Use either --new-unlock or --clear.") }
    }

    func run() throws {
        let keys = try keyring.keysToSeal("keys passphrase")
        if clear {
            try Prompt.confirm(
                "The secrets in \(keyring.keyring) will be in the clear; anyone who reads the files has the keys.",
                isConfirmed: yes)
            try keys.seal(with: nil)
            return try Output.line("The secrets in \(keyring.keyring) are now in the clear.")
        }
        // Check the old secret first.
        _ = try keys.trustList()
        let (secret, created) = try Secrets.newSecret(
            file: newUnlock, option: "--new-unlock", question: "New passphrase: ", for: "the keyring")
        // After a theft, resealing with the current secret would only look like a change.
        guard isSealed(with: secret) != true else {
            throw CommandFailure.input(
                "\(keyring.keyring) is already sealed with this \(secret.kind.rawValue); nothing was changed")
        }
        do { try keys.seal(with: secret) } catch {
            // The change can fail after it took effect, and then the new file has the only key.
            if isSealed(with: secret) == false { created?.remove() }
            throw error
        }
        try Output.line("\(keyring.keyring) is now sealed with a \(secret.kind.rawValue).")
    }

    /// Whether the keyring is sealed with this secret; nil if it can't be read.
    private func isSealed(with secret: KeyringSecret) -> Bool? {
        let keys = Keyring(
            folder: URL(filePath: keyring.keyring), unlocking: .given(secret), command: "keys passphrase")
        do throws(KeyringError) {
            guard try keys.sealKind() != nil else { return false }
            _ = try keys.trustList()
            return true
        } catch {
            switch error {
            case .notSealed, .needsSecret, .wrongSecret: return false
            default: return nil
            }
        }
    }
}
