internal import ArgumentParser
internal import Foundation
internal import PushKeyring
internal import PushSimulator
internal import SealedPush

/// `device-simulator deliver`
struct DeliverCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deliver",
        abstract: "Delivers pushes from files to one device and shows what a person would see.",
        discussion: """
            FILE is what Xcode and `xcrun simctl push` take: a payload, optionally with "Simulator Target Bundle". Each is
            run through the extension in a process of its own, with 30 seconds and no more.

            Examples:
              device-simulator deliver push.apns --device alice-phone --trust newsroom \\
                --topic com.example.app --keyring Keys --state Phone
              device-simulator deliver *.apns --device alice-phone --trust pushsender1... \\
                --topic com.example.app --json

            Exit status: 0 done (the safe default included), 64 wrong use, 65 unusable input, 74 files.
            """)

    @Argument(help: ArgumentHelp("Payload files; - for standard input.", valueName: "file"))
    var files: [String]

    @Option(help: "The device: a name in the keyring, with its secret key.")
    var device: String

    @Option(help: "A trusted sender: a name in the keyring or pushsender1…; may be given several times.")
    var trust: [String] = []

    @Option(help: "The app's bundle ID.")
    var topic: String

    @Option(help: "The keyring's folder.")
    var keyring = "Keys"

    @Option(help: "The device's folder. A new one is a new device; without it the device is thrown away afterwards.")
    var state: String?

    @Option(help: "The request's identifier (the collapse ID); otherwise each delivery has one of its own.")
    var identifier: String?

    @Option(name: .customLong("default"), help: "The safe default that the device's app shows.")
    var safeDefault = "You have a new message!"

    @Flag(help: "The app opens anonymous messages too.")
    var allowAnonymous = false

    @Flag(help: "The device has not been unlocked since it started.")
    var locked = false

    @Option(name: .customLong("extension"), help: "An app's own extension: a program that calls ExtensionHost.run.")
    var program: String?

    @Option(help: "Seconds that the extension has, from its start.")
    var timeLimit: Double = 30

    @Option(help: "What apns-push-type says.")
    var pushType = "alert"

    @Flag(help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        guard Topic(parsing: topic) != nil else {
            throw ValidationError("--topic is a bundle ID, such as com.example.app.")
        }
        guard KeyName(parsing: device) != nil else {
            throw ValidationError("--device is a name in the keyring, such as alice-phone.")
        }
        guard timeLimit > 0, timeLimit <= 600 else {
            throw ValidationError("--time-limit is more than 0 and at most 600 seconds.")
        }
        guard !keyring.isEmpty else { throw ValidationError("--keyring is empty: name the keyring's folder.") }
        guard state != "" else { throw ValidationError("--state is empty: name the device's folder.") }
        guard identifier.map({ (1...64).contains($0.utf8.count) }) ?? true else {
            throw ValidationError("--identifier has 1 to 64 bytes, like a collapse ID.")
        }
        guard VisibleText.isVisible(safeDefault) else { throw ValidationError("--default has no visible text.") }
    }

    func run() throws {
        do {
            try deliver()
        } catch let failure as Failure {
            report(failure.message)
            throw ExitCode(failure.status)
        }
    }

    private func deliver() throws {
        // Every file is read before anything runs: a typing error in the last one leaves nothing half done.
        let pushes = try files.map { (file: $0, push: try read($0)) }
        let throwaway = state == nil
        let container = state.map { URL(filePath: $0) } ?? .temporaryDirectory.appending(path: UUID().uuidString)
        defer { if throwaway { try? FileManager.default.removeItem(at: container) } }
        let delivery = try delivery(container: container)
        for (file, push) in pushes {
            let identifier = identifier ?? UUID().uuidString
            let delivered: DeliveredPush
            do {
                delivered = try delivery.deliver(push, identifier: identifier, pushType: pushType)
            } catch {
                throw Failure(status: 74, message: "\(error)")
            }
            if json {
                try printJSON(delivered.jsonObject(file: file, identifier: identifier))
            } else {
                try printScreen(delivered)
            }
        }
        if delivery.asksForNewKey {
            report("the ledger was missing or copied; the app should make a new key")
        }
    }

    private func report(_ message: String) {
        try? FileHandle.standardError.write(contentsOf: Data("device-simulator: \(message)\n".utf8))
    }

    private func delivery(container: URL) throws -> PushDelivery {
        let keys = Keyring(folder: URL(filePath: keyring))
        let created: Int64
        do {
            guard let name = KeyName(parsing: device) else { throw KeyringError.damaged(keys.folder) }
            created = try keys.deviceKeys(named: name).last?.life.created.secondsSince1970 ?? 0
        } catch let error as KeyringError {
            throw Failure(error)
        }
        do {
            try PushDelivery.prepareContainer(container, keyCreated: created)
        } catch {
            throw Failure(status: 74, message: "\(container.path(percentEncoded: false)) can't be made")
        }
        let device = SimulatedDevice(keyring: keys.folder, name: device, container: container, isLocked: locked)
        let ownProgram = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        let process = ExtensionProcess(
            program: program.map { URL(filePath: $0) } ?? ownProgram,
            arguments: program == nil ? ["host-extension"] : [], timeLimit: .seconds(timeLimit))
        let standard = StandardConfiguration(
            topic: topic, senders: try trust.map { try sender($0, in: keys) }, safeDefault: safeDefault,
            allowsAnonymous: allowAnonymous)
        return PushDelivery(device: device, process: process, standard: standard)
    }

    private func sender(_ text: String, in keys: Keyring) throws -> String {
        if let sender = try? Sender(parsing: text) { return sender.description }
        guard let name = KeyName(parsing: text) else {
            throw Failure(status: 64, message: "--trust takes a name in the keyring, or pushsender1…")
        }
        do {
            return try keys.sender(named: name).description
        } catch {
            throw Failure(error)
        }
    }

    private func read(_ file: String) throws -> PushFile {
        let bytes: [UInt8]
        do throws(DurableFiles.Failure) {
            let path = file == "-" ? "/dev/stdin" : file
            bytes = try DurableFiles.read(URL(filePath: path), limit: PushFile.maximumFileByteCount + 1, anyKind: true)
        } catch {
            throw Failure(status: 74, message: "\(file): \(error.message)")
        }
        let push: PushFile
        do { push = try PushFile(parsing: Data(bytes)) } catch {
            throw Failure(status: 65, message: "\(file): \(error)")
        }
        if let bundle = push.targetBundle, bundle != topic {
            throw Failure(
                status: 65, message: "\(file) is for \(TerminalText.printable(bundle)), and --topic is \(topic)")
        }
        return push
    }

    private func printJSON(_ object: [String: Any]) throws {
        let data = try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
        try printLine(TerminalText.json(String(decoding: data, as: UTF8.self)))
    }

    private func printScreen(_ push: DeliveredPush) throws {
        for line in LockScreen.box(title: device, LockScreen.paragraphs(push)) { try printLine(line) }
        let detail = [push.outcome.rawValue, push.reason, push.note].compactMap { $0 }.joined(separator: ": ")
        let time = push.elapsed.map { ", \($0.formatted(.units(allowed: [.milliseconds])))" } ?? ""
        try printLine("  \(TerminalText.printable(detail))\(time)")
    }

    /// An error where standard output can't be written, so that no script takes silence for success.
    private func printLine(_ text: String) throws {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
        } catch {
            throw Failure(status: 74, message: "standard output can't be written")
        }
    }
}

/// What ends the program, with its exit status.
private struct Failure: Error {
    let status: Int32
    let message: String

    init(status: Int32, message: String) {
        self.status = status
        self.message = message
    }

    init(_ error: KeyringError) {
        switch error {
        case .exists, .notFound, .wrongKind, .noSecret, .notUsable, .unconfirmed, .nothingToConfirm, .unverified,
            .record, .challenge, .damaged, .altered, .backup:
            self.init(status: 65, message: error.description)
        case .file, .outOfMemory: self.init(status: 74, message: error.description)
        case .busy: self.init(status: 75, message: error.description)
        case .wrongSecret, .needsSecret, .notSealed: self.init(status: 77, message: error.description)
        }
    }
}
