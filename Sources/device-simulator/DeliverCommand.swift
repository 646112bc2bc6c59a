internal import ArgumentParser
internal import CommandSupport
internal import Dispatch
internal import Foundation
internal import LockScreenPicture
internal import PushKeyring
internal import PushSimulator
internal import SealedPush
internal import _PushBase

/// `device-simulator deliver`
struct DeliverCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deliver",
        abstract: "Delivers pushes from files to one device and shows what a person would see.",
        discussion: """
            FILE is what Xcode and `xcrun simctl push` take: a payload, optionally with "Simulator Target Bundle". Each is
            run through the extension, under iOS's rules: 30 seconds, 24 MB, and a process that serves several. An
            attachment that the system would not show is left out, and said to be.

            Whom the device believes is what --trust names; without it, what `sealedpush trust` has listed for the topic.
            A new key of the device (`sealedpush keys rotate`) is confirmed by the first message that opens under it, where
            --state keeps the device.

            --picture and --html show the lock screen with all the pushes of one run, and beside the phone what became of each.

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

    @Option(
        parsing: .unconditional,
        help: "The request's identifier (the collapse ID); otherwise each delivery has one of its own.")
    var identifier: String?

    @OptionGroup var extensionOptions: ExtensionOptions

    @Flag(help: "The device has not been unlocked since it started.")
    var locked = false

    @Option(help: "Deliver this many files at once.")
    var parallel = 1

    @Option(help: "What apns-push-type says.")
    var pushType = "alert"

    @Flag(help: "Show at the end what is on the screen, by conversation, and the badge.")
    var screen = false

    @OptionGroup(title: "Pictures of the lock screen") var pictures: PictureOptions

    @Flag(help: "Expand each notification that is shown, as the app's content extension does.")
    var expanded = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Choose an action of the expanded notification.", valueName: "id or id=text"))
    var action: String?

    @Flag(help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        guard (1...64).contains(parallel) else { throw ValidationError("--parallel is 1 to 64.") }
        guard identifier.map({ (1...64).contains($0.utf8.count) }) ?? true else {
            throw ValidationError("--identifier has 1 to 64 bytes, like a collapse ID.")
        }
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
        try pictures.checkFiles()
        let throwaway = deviceOptions.state == nil
        let container = deviceOptions.container
        defer { if throwaway { try? FileManager.default.removeItem(at: container) } }
        let device = try OwnedDevice(deviceOptions, container: container)
        let delivery = try extensionOptions.delivery(to: device, deviceOptions, isLocked: locked)
        let screen = Locked(DeviceScreen())
        let deliveries = Locked<[LockScreenPicture.Delivery]>([])
        try deliverAll(pushes) { file, push in
            let identifier = identifier ?? UUID().uuidString
            var delivered: DeliveredPush
            do {
                delivered = try delivery.deliver(push, identifier: identifier, pushType: pushType)
                delivered.expansion = try delivered.shown.flatMap { try expand($0, identifier, delivery) }
            } catch {
                throw Failure(status: 74, message: "\(error)")
            }
            // One at a time from here: what is on the screen is what was printed.
            try screen.withLock { screen in
                if pictures.isAsked {
                    deliveries.withLock {
                        $0.append(LockScreenPicture.Delivery(name: file, identifier: identifier, push: delivered))
                    }
                }
                let change = screen.show(delivered, identifier: identifier, at: Date())
                for identifier in change.removed { delivery.forget(identifier) }
                let confirmed = throwaway ? nil : confirm(device)
                guard json else { return try printPush(delivered) }
                var object = delivered.jsonObject(file: file, identifier: identifier)
                object["replaced"] = change.isReplacement
                object["confirmed"] = confirmed ?? NSNull()
                try printJSON(object)
            }
        }
        for remark in delivery.end() { report(remark) }
        // Of several at once, the last one's marker may have come after its answer.
        if !throwaway { _ = confirm(device) }
        if self.screen { try printScreen(screen.withLock { $0 }) }
        try pictures.write(deliveries.withLock { $0 }, topic: deviceOptions.topic.description)
        if delivery.asksForNewKey {
            report("the ledger was missing or copied; the app should make a new key")
        }
    }

    /// Nil unless that is asked for.
    private func expand(
        _ shown: ShownNotification, _ identifier: String, _ delivery: PushDelivery
    ) throws -> ShownExpansion? {
        guard expanded || action != nil else { return nil }
        let parts = (action ?? "").split(separator: "=", maxSplits: 1).map(String.init)
        return try delivery.expand(
            shown, identifier: identifier, action: parts.first, text: parts.count > 1 ? parts[1] : nil, at: Date())
    }

    /// In order, or several at once; the first error ends it.
    private func deliverAll(
        _ pushes: [(file: String, push: PushFile)], _ deliver: @escaping (String, PushFile) throws -> Void
    ) throws {
        guard parallel > 1 else {
            for (file, push) in pushes { try deliver(file, push) }
            return
        }
        // Pushes are read only, and what is called takes turns where it has to.
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
        // Threads of their own: each waits for an extension, and a queue has no more of them than there are cores.
        for _ in 0..<min(parallel, pushes.count) {
            workers.enter()
            Thread.detachNewThread(worker)
        }
        workers.wait()
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Acts as the app: a key under which the extension has opened a message is in use from now on. Returns its ID.
    private func confirm(_ device: OwnedDevice) -> String? {
        guard let key = device.confirm()?.keyID else { return nil }
        report("a message has opened under the new key \(key): it is confirmed, and the older ones retire")
        return key.description
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
        if let bundle = push.targetBundle, bundle != deviceOptions.topic.description {
            throw Failure(
                status: 65,
                message: "\(file) is for \(TerminalText.printable(bundle)), and --topic is \(deviceOptions.topic)")
        }
        return push
    }
}

extension DeliverCommand {
    private func printJSON(_ object: [String: Any]) throws {
        let data = try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
        try printLine(TerminalText.json(String(decoding: data, as: UTF8.self)))
    }

    private func printScreen(_ screen: DeviceScreen) throws {
        guard !json else { return try printJSON(screen.jsonObject) }
        for line in LockScreen.lines(screen, on: deviceOptions.device.description) { try printLine(line) }
    }

    private func printPush(_ push: DeliveredPush) throws {
        for line in LockScreen.lines(push, on: deviceOptions.device.description) { try printLine(line) }
        guard let shown = push.shown, let expansion = push.expansion else { return }
        for line in LockScreen.lines(expansion, of: shown, on: deviceOptions.device.description) { try printLine(line) }
    }
}
