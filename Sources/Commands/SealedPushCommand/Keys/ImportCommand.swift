import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
import PushKeyring
internal import SealedPush

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add someone else's public key or device record, or your own secret from a file.",
        usage: "sealedpush keys import [<options>] <name> [<key>]",
        discussion: """
            Examples:
              sealedpush keys import bob-phone pushrecord.AQE... --keyring Keys
              sealedpush keys import newsroom pushsender1... --keyring Keys
              sealedpush keys import newsroom --secret-file - --keyring Keys < secret.txt

            The first record under a name pins the device's enrollment key. Accept it only through the app's own login, \
            or compare fingerprints on both ends (`keys show`). Later records must be newer and signed by that key.
            """)

    @Argument(help: "The name in this keyring: \(KeyName.rule)") var name: KeyName

    @Argument(help: .value("key", "push1…, pushpq.…, pushsender1…, pushauthority1…, or pushrecord.…")) var text: String?

    @Option(help: "A file with a secret key's text; - for standard input.") var secretFile: String?

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    func validate() throws {
        guard (text == nil) != (secretFile == nil) else { throw ValidationError("Use either a key or --secret-file.") }
    }

    func run() throws {
        let keys = try keyring.newKeys("keys import")
        let text = text?.trimmingCharacters(in: .whitespacesAndNewlines)
        if let secretFile {
            try importSecret(SecretFile(secretFile, from: "--secret-file"), as: name, keys)
        } else if let text, text.hasPrefix("pushrecord") {
            try keys.add(DeviceRecord(parsing: text), named: name)
        } else if let text {
            let key: AnyPublicKey
            do { key = try AnyPublicKey(parsing: text) } catch {
                throw CommandFailure.input("not a public key: \(error)")
            }
            try keys.add(key, named: name)
        }
        let entry = try keys.entry(named: name)
        try Output.line("\(name): \(entry.kind.rawValue) \(entry.key.keyID)")
    }

    private func importSecret(_ file: SecretFile, as name: KeyName, _ keys: Keyring) throws {
        var bytes = try file.read(limit: 4_096)
        defer { wipe(&bytes) }
        // A single allocation, so that wiping it wipes the whole secret.
        var text = [UInt8](bytes.trimmingSpace)
        defer { wipe(&text) }
        guard try keys.add(secretText: text, named: name) != nil
        else { throw CommandFailure.input("\(file) doesn't contain the secret key of a device, sender, or authority") }
        try keyring.warnIfInTheClear(keys)
    }
}
