internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushKeyring
internal import SealedPush

/// `sealedpush keys import`
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Adds somebody else's public key or device record, or a secret of your own from a file.",
        discussion: """
            Examples:
              sealedpush keys import bob-phone pushrecord.AQE... --keyring Keys
              sealedpush keys import newsroom pushsender1... --keyring Keys
              sealedpush keys import newsroom --secret-file - --keyring Keys < secret.txt

            The first record under a name pins the device's enrolment key: take it only from the app's own login, or
            compare `keys fingerprint` on both ends. Later records must be signed by that key, and be newer.
            """)

    @Argument(help: "The name it gets here.")
    var name: KeyName

    @Argument(help: ArgumentHelp("push1…, pushsender1…, pushauthority1… or pushrecord.…", valueName: "key"))
    var text: String?

    @Option(help: "A file with a secret key's text; - for standard input.")
    var secretFile: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var keyring: KeyringOptions

    func validate() throws {
        guard (text == nil) != (secretFile == nil) else { throw ValidationError("Give either a key or --secret-file.") }
    }

    func run() throws {
        try Failure.reporting {
            let keys = try keyring.newKeys("keys import")
            if let secretFile {
                try importSecret(secretFile, as: name, keys)
            } else if let text = text?.trimmingCharacters(in: .whitespacesAndNewlines), text.hasPrefix("pushrecord") {
                let record: DeviceRecord
                do { record = try DeviceRecord(parsing: text) } catch { throw Failure.input("\(error)") }
                try keys.add(record, named: name)
            } else if let text = text?.trimmingCharacters(in: .whitespacesAndNewlines) {
                let key: AnyPublicKey
                do { key = try AnyPublicKey(parsing: text) } catch { throw Failure.input("no public key: \(error)") }
                try keys.add(key, named: name)
            }
            let entry = try keys.entry(named: name)
            if json { return try Output.json(entry.json()) }
            try Output.line("\(name): \(entry.kind.rawValue) \(entry.key.keyID)")
        }
    }

    private func importSecret(_ file: String, as name: KeyName, _ keys: Keyring) throws {
        var bytes = try Input.readSecret(file, limit: 4_096)
        defer { wipeSecret(&bytes) }
        let isText = { (byte: UInt8) in !Array(" \t\r\n".utf8).contains(byte) }
        let start = bytes.firstIndex(where: isText) ?? bytes.endIndex
        // One allocation, which is wiped.
        var text = [UInt8](bytes[start..<(bytes.lastIndex(where: isText).map { $0 + 1 } ?? start)])
        defer { wipeSecret(&text) }
        guard try keys.add(secretText: text, named: name) != nil else {
            throw Failure.input("\(file) holds no secret key of a device, sender or authority")
        }
        try keyring.warnIfInTheClear(keys)
    }
}
