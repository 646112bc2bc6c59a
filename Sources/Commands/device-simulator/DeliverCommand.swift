internal import ArgumentParser
internal import CommandSupport
internal import Dispatch
internal import Foundation
internal import PushCore
internal import PushKeyring
internal import PushSimulator
internal import SealedPush

/// `device-simulator deliver`
struct DeliverCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deliver", abstract: "Deliver pushes to a simulated phone, and show what the user sees.",
        usage: "device-simulator deliver <file> ... --device <name> --topic <id>",
        discussion: """
            The files have the format of `xcrun simctl push`. One process handles them all.

              device-simulator deliver push.apns --device alice-phone \\
                --topic com.example.app --trust newsroom --state Phone

            Exit status: 0 done, even if the safe default was shown; 64 usage; 65 input; \
            74 files; 75 keyring busy; 77 keyring key missing or wrong.
            """)

    @Argument(help: ArgumentHelp("Payload files; - for standard input.", valueName: "file")) var files: [String]

    @OptionGroup(title: "Phone") var deviceOptions: DeviceOptions
    @OptionGroup(title: "Extension") var extensionOptions: ExtensionOptions
    @OptionGroup(title: "System") var system: SystemOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The request's identifier, as set by a collapse ID.", valueName: "id"))
    var identifier: String?

    @Option(help: ArgumentHelp("Deliver this many files at once.", valueName: "count")) var parallel = 1

    @Flag(help: "Also show pushes expanded by the content extension.") var expanded = false

    @OptionGroup(title: "Picture") var picture: PictureOptions

    @Flag(help: "Print one JSON object per line.") var json = false

    func validate() throws {
        guard (1...64).contains(parallel) else { throw ValidationError("--parallel must be 1 to 64.") }
        guard identifier.map({ (1...64).contains($0.utf8.count) }) ?? true else {
            throw ValidationError("--identifier must have 1 to 64 bytes, like a collapse ID.")
        }
    }

    func run() throws {
        // Read every file before delivering, so that a mistyped name doesn't leave the work half done.
        let pushes = try files.map { (file: $0, push: try read($0)) }
        try picture.check()
        let throwaway = deviceOptions.state == nil
        let container = deviceOptions.container()
        defer { if throwaway { try? FileManager.default.removeItem(at: container) } }
        let device = try OwnedDevice(deviceOptions, container: container)
        let delivery = extensionOptions.delivery(
            to: device, topic: deviceOptions.topic, isLocked: system.locked, rules: system.rules)
        let deliveries = Locked<[LockScreenPicture.PicturedPush]>([])
        try deliverAll(pushes) { file, push in
            let identifier = identifier ?? UUID().uuidString
            var delivered: DeliveredPush
            do {
                delivered = try delivery.deliver(push, identifier: identifier)
                if expanded, let shown = delivered.shown {
                    delivered.expansion = try delivery.expand(shown, identifier: identifier, at: Date())
                }
            } catch { throw CommandFailure(status: 74, message: "\(error)") }
            // One at a time from here on, so that the picture matches the output.
            try deliveries.withLock { deliveries in
                if picture.file != nil {
                    deliveries.append(
                        LockScreenPicture.PicturedPush(name: file, identifier: identifier, push: delivered))
                }
                let confirmed = throwaway ? nil : confirm(device)
                guard json else { return try printPush(delivered) }
                var object = delivered.jsonObject(file: file, identifier: identifier)
                object["confirmed"] = confirmed ?? NSNull()
                try printLine(jsonLine(object))
            }
        }
        for remark in delivery.end() { report(remark) }
        // With parallel deliveries, the last one's marker may have been written after its response.
        if !throwaway { _ = confirm(device) }
        try picture.draw(deliveries.withLock { $0 }, topic: deviceOptions.topic)
        if delivery.asksForNewKey { report("the ledger was missing or copied; the app should generate a new key") }
    }

    /// Delivers the pushes in order, up to --parallel at once, and stops at the first error.
    private func deliverAll(
        _ pushes: [(file: String, push: PushFile)], _ deliver: @escaping (String, PushFile) throws -> Void
    ) throws {
        // The pushes are only read, and `deliver` synchronizes itself.
        nonisolated(unsafe) let work = (pushes: pushes, deliver: deliver)
        let state = Locked<(next: Int, failure: (any Error)?)>((0, nil))
        let workers = DispatchGroup()
        let worker: @Sendable () -> Void = {
            while true {
                let index: Int? = state.withLock { state in
                    guard state.failure == nil, state.next < work.pushes.count else { return nil }
                    defer { state.next += 1 }
                    return state.next
                }
                guard let index else { return workers.leave() }
                do {
                    try work.deliver(work.pushes[index].file, work.pushes[index].push)
                } catch {
                    state.withLock { $0.failure = $0.failure ?? error }
                }
            }
        }
        // Use threads, because each waits for an extension, and a queue has only as many threads as there are cores.
        for _ in 0..<min(parallel, pushes.count) {
            workers.enter()
            Thread.detachNewThread(worker)
        }
        workers.wait()
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Acts as the app: puts a new key into use once the extension has opened a message with it, and returns the key's ID.
    private func confirm(_ device: OwnedDevice) -> String? {
        guard let key = device.confirm()?.keyID else { return nil }
        report("a message was opened with the new key \(key); the key is now confirmed, and older keys are retired")
        return key.description
    }

    private func read(_ file: String) throws -> PushFile {
        let bytes = try InputFile.read(file, limit: PushFile.maximumFileByteCount)
        let push: PushFile
        do { push = try PushFile(parsing: Data(bytes)) } catch {
            throw CommandFailure(status: 65, message: "\(file): \(error)")
        }
        if let bundle = push.targetBundle, bundle != deviceOptions.topic.description {
            throw CommandFailure(
                status: 65,
                message: "\(file) is for \(TerminalText.printable(bundle)), but --topic is \(deviceOptions.topic)")
        }
        return push
    }
}

extension DeliverCommand {
    private func printPush(_ push: DeliveredPush) throws {
        for line in LockScreen.lines(push, on: deviceOptions.device.description) { try printLine(line) }
        guard let expansion = push.expansion else { return }
        for line in LockScreen.lines(expansion, on: deviceOptions.device.description) { try printLine(line) }
    }
}

/// The options for drawing the lock screen as a picture.
struct PictureOptions: ParsableArguments {
    @Option(
        name: .customLong("picture"),
        help: ArgumentHelp("Draw the lock screen into this new PNG file.", valueName: "file")) var file: String?

    @Option(help: ArgumentHelp("The app's name. Default: the last part of --topic.", valueName: "name"))
    var appName: String?

    func validate() throws {
        guard file != "" else { throw ValidationError("--picture is empty; specify a file.") }
        guard file != nil || appName == nil else { throw ValidationError("--app-name needs --picture.") }
        guard appName.map(VisibleText.isVisible) ?? true else {
            throw ValidationError("--app-name has no visible text.")
        }
    }

    /// Checks that the file can be created. Call it before delivering, because a delivery can't be undone.
    func check() throws(CommandFailure) {
        guard let file else { return }
        try OutputFile.requireNew(file)
        let folder = URL(filePath: file).deletingLastPathComponent().path(percentEncoded: false)
        guard access(folder, W_OK) == 0 else {
            throw .file("\(file) can't be written: \(String(cString: strerror(errno)))")
        }
    }

    func draw(_ deliveries: [LockScreenPicture.PicturedPush], topic: Topic) throws {
        guard let file else { return }
        let name = appName ?? topic.description.split(separator: ".").last.map(String.init) ?? topic.description
        try OutputFile.create(file, Array(LockScreenPicture(deliveries, appName: name).png()), mode: 0o600)
    }
}
