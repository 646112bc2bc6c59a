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

            Whom the device believes is what --trust names; without it, what `sealedpush trust` has listed for the topic.
            A new key of the device (`sealedpush keys rotate`) is confirmed by the first message that opens under it, where
            --state keeps the device.

            Examples:
              device-simulator deliver push.apns --device alice-phone --trust newsroom \\
                --topic com.example.app --keyring Keys --state Phone
              device-simulator deliver *.apns --device alice-phone --trust pushsender1... \\
                --topic com.example.app --json

            Exit status: 0 done (the safe default included), 64 wrong use, 65 unusable input, 74 files, 75 the keyring is
            busy, 77 it is sealed and its key is missing or wrong.
            """)

    @Argument(help: ArgumentHelp("Payload files; - for standard input.", valueName: "file"))
    var files: [String]

    @OptionGroup var deviceOptions: DeviceOptions

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

    @Flag(help: "Show at the end what is on the screen, by conversation, and the badge.")
    var screen = false

    @Flag(help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        guard timeLimit > 0, timeLimit <= 600 else {
            throw ValidationError("--time-limit is more than 0 and at most 600 seconds.")
        }
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
        let throwaway = deviceOptions.state == nil
        let container = deviceOptions.container
        defer { if throwaway { try? FileManager.default.removeItem(at: container) } }
        let device = try OwnedDevice(deviceOptions)
        let delivery = try delivery(to: device, container: container)
        var shown = DeviceScreen()
        for (file, push) in pushes {
            let identifier = identifier ?? UUID().uuidString
            let delivered: DeliveredPush
            do {
                delivered = try delivery.deliver(push, identifier: identifier, pushType: pushType)
            } catch {
                throw Failure(status: 74, message: "\(error)")
            }
            let change = shown.show(delivered, identifier: identifier, at: Date())
            for identifier in change.removed { delivery.forget(identifier) }
            let confirmed = throwaway ? nil : confirm(device, delivery)
            if json {
                var object = delivered.jsonObject(file: file, identifier: identifier)
                object["replaced"] = change.isReplacement
                object["confirmed"] = confirmed ?? NSNull()
                try printJSON(object)
            } else {
                try printPush(delivered)
            }
        }
        if screen { try printScreen(shown) }
        if delivery.asksForNewKey {
            report("the ledger was missing or copied; the app should make a new key")
        }
    }

    /// Acts as the app: a key under which the extension has opened a message is in use from now on. Gives its ID.
    private func confirm(_ device: OwnedDevice, _ delivery: PushDelivery) -> String? {
        do throws(KeyringError) {
            guard let waiting = try device.unconfirmed(), delivery.hasOpened(under: waiting) else { return nil }
            try device.keyring.confirm(device.name)
            report(
                "a message has opened under the new key \(waiting.keyID): it is confirmed, and the older ones retire")
            return waiting.keyID.description
        } catch {
            // Another process was faster, which is as good; anything else costs the delivery nothing.
            if error != .nothingToConfirm(device.name) { report("the new key can't be confirmed: \(error)") }
            return nil
        }
    }

    private func delivery(to device: OwnedDevice, container: URL) throws -> PushDelivery {
        do {
            try PushDelivery.prepareContainer(container, keyCreated: device.created.secondsSince1970)
        } catch {
            throw Failure(status: 74, message: "\(container.path(percentEncoded: false)) can't be made")
        }
        let trusted = try device.trusted()
        if trusted == TrustedSenders([]), program == nil {
            report(
                "no sender is trusted: name one with --trust, or list one for \(deviceOptions.topic) with `sealedpush trust add`"
            )
        }
        let simulated = SimulatedDevice(
            keyring: device.keyring.folder, name: device.name.description, keyFile: deviceOptions.keyFileURL,
            container: container, isLocked: locked)
        let ownProgram = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        let process = ExtensionProcess(
            program: program.map { URL(filePath: $0) } ?? ownProgram,
            arguments: program == nil ? ["host-extension"] : [], timeLimit: .seconds(timeLimit))
        let standard = StandardConfiguration(
            topic: deviceOptions.topic, senders: trusted.senders.map(\.description),
            authorities: trusted.authorities.map(\.description), safeDefault: safeDefault,
            allowsAnonymous: allowAnonymous)
        return PushDelivery(device: simulated, process: process, standard: standard)
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
        if let bundle = push.targetBundle, bundle != deviceOptions.topic {
            throw Failure(
                status: 65,
                message: "\(file) is for \(TerminalText.printable(bundle)), and --topic is \(deviceOptions.topic)")
        }
        return push
    }
}

extension DeliverCommand {
    private func report(_ message: String) {
        try? FileHandle.standardError.write(contentsOf: Data("device-simulator: \(message)\n".utf8))
    }

    private func printJSON(_ object: [String: Any]) throws {
        let data = try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
        try printLine(TerminalText.json(String(decoding: data, as: UTF8.self)))
    }

    private func printScreen(_ screen: DeviceScreen) throws {
        guard !json else { return try printJSON(screen.jsonObject) }
        for line in LockScreen.lines(screen, on: deviceOptions.device) { try printLine(line) }
    }

    private func printPush(_ push: DeliveredPush) throws {
        for line in LockScreen.lines(push, on: deviceOptions.device) { try printLine(line) }
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
