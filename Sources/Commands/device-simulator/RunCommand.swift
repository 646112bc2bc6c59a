internal import ArgumentParser
internal import CommandSupport
internal import Dispatch
internal import Foundation
internal import PushCore
internal import PushKeyring
internal import PushService
internal import PushSimulator
internal import SealedPush
internal import SimulatedAPNs

/// `device-simulator run`
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Keep a simulated phone on, and show the pushes from a local APNs.",
        usage: "device-simulator run --device <name> --topic <id> --apns <folder> ...",
        discussion: """
            SIGUSR1 takes the phone offline, SIGUSR2 brings it back, and Ctrl-C ends it. The phone reconnects when \
            the server comes back. Unacknowledged pushes arrive again and replace their earlier copies.

            Example:
              device-simulator run --device alice-phone --topic com.example.app \\
                --trust newsroom --apns APNs --state Phone

            Exit status: 0 done, 64 usage, 65 input, 74 files.
            """)

    @Option(help: "The local APNs' folder.") var apns: String

    @OptionGroup(title: "Phone") var device: DeviceOptions
    @OptionGroup(title: "Extension") var extensionOptions: ExtensionOptions

    @Option(help: "Run phones NAME-1 to NAME-COUNT in this process, each in a folder named after it.") var count: Int?

    @Option(help: .value("url", "Enroll the app with the server at this --phones URL.")) var server: String?

    @Option(help: .value("token", "The app's login token, from POST /v1/logins.")) var login: String?

    @Option(
        help: .value(
            "name,url,token,key", "Add an account: its server, a login token, and the sender or authority to pin."))
    var account: [AccountArgument] = []

    @Flag(help: "With --server or --account: the app creates hybrid keys.") var hybrid = false

    @Flag(help: "Print one JSON object per line.") var json = false

    func validate() throws {
        guard (server == nil) == (login == nil) else {
            throw ValidationError("Use --server with a URL and --login with a token together.")
        }
        guard server.map({ Self.url($0) != nil }) ?? true else {
            throw ValidationError("--server must be an http or https URL, without a user, a password, or a query.")
        }
        guard TypedPath.isPath(apns) else {
            throw ValidationError("--apns must be a folder's path, starting with / or ./ if it contains any of :=?@.")
        }
        guard !hybrid || server != nil || !account.isEmpty else {
            throw ValidationError("--hybrid needs --server or --account.")
        }
        guard server == nil && account.isEmpty || count == nil else {
            throw ValidationError("--server and --account work with one phone; leave out --count.")
        }
        guard device.state != nil else {
            throw ValidationError("--state is missing; a phone that stays on needs a folder.")
        }
        guard count.map({ (1...DeviceReceiver.maximumDeviceCount).contains($0) }) ?? true else {
            throw ValidationError("--count must be 1 to \(DeviceReceiver.maximumDeviceCount).")
        }
        guard count == nil || extensionOptions.program == nil else {
            throw ValidationError("--count runs the simulator's own extension; leave out --extension.")
        }
    }

    static func url(_ text: String) -> URL? {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()),
            NetworkHost(url) != nil, url.query() == nil, url.fragment() == nil
        else { return nil }
        return url
    }

    func run() throws {
        let screen = RunScreen(json: json)
        try runUntilDone { ended in
            let phones =
                if let count {
                    try (1...count).map { try RunningDevice(self, number: $0) }
                } else {
                    [try RunningDevice(self)]
                }
            // Each phone shows its notifications one by one. Phones work in parallel, and mostly wait for the disk.
            let workers = (0..<min(8, phones.count)).map { DispatchQueue(label: "phones \($0)") }
            let (folder, topic) = (URL(filePath: apns), device.topic.description)
            let receiver = DeviceReceiver(folder: folder, topic: topic, names: phones.map(\.name)) { event in
                switch event {
                case .online(let tokens):
                    for (phone, token) in zip(phones, tokens) {
                        screen.online(phone.name, token)
                        phone.enroll(token, screen)
                    }
                case .offline: screen.offline(device.device.description)
                case .unreachable(let message): screen.unreachable(message)
                case .arrived(let arrival):
                    workers[arrival.device % workers.count].async { phones[arrival.device].show(arrival, on: screen) }
                }
            }
            let switches = [
                Signal(SIGUSR1) { receiver.setOnline(false) }, Signal(SIGUSR2) { receiver.setOnline(true) },
            ]
            async let running: Void = receiver.run()
            await ended()
            receiver.stop()
            await running
            // Finish notifications in progress, which would otherwise be shown again.
            for worker in workers { await withCheckedContinuation { done in worker.async { done.resume() } } }
            for phone in phones { for remark in phone.end() { report(remark) } }
            withExtendedLifetime(switches) {}
        }
    }
}

/// A phone that stays on.
private final class RunningDevice: Sendable {
    let name: String
    private let owned: OwnedDevice
    private let delivery: PushDelivery
    /// Whether its app puts a new key into use as soon as a message has been opened with it.
    private let confirms: Bool
    /// The servers with which its app enrolls, for which accounts; the app's own account has no name.
    private let enrollments: [(server: PushServerClient, app: OwnDevice, account: AccountName?)]
    /// The local APNs' folder.
    private let apns: URL

    /// - Parameter number: the phone's number if this process runs many; otherwise nil.
    init(_ command: RunCommand, number: Int? = nil) throws {
        var (options, container) = (command.device, command.device.container())
        if let number {
            guard let name = KeyName(parsing: "\(options.device)-\(number)") else {
                throw CommandFailure.usage("--device is too long for \(number) phones")
            }
            options.device = name
            try? FileManager.default.createDirectory(at: container, withIntermediateDirectories: true)
            container.append(path: name.description, directoryHint: .isDirectory)
        }
        name = options.device.description
        owned = try OwnedDevice(
            options, container: container, makesKeys: command.server != nil || !command.account.isEmpty)
        confirms = number == nil
        apns = URL(filePath: command.apns)
        var enrollments: [(server: PushServerClient, app: OwnDevice, account: AccountName?)] = []
        if command.server != nil || !command.account.isEmpty {
            var standard = command.extensionOptions.standard(owned, topic: options.topic)
            standard.isHybrid = command.hybrid
            if let server = command.server.flatMap(RunCommand.url), let login = command.login,
                let app = owned.phone.app(standard)
            {
                enrollments.append((PushServerClient(url: server) { "Bearer \(login)" }, app, nil))
            }
            for argument in command.account {
                let app: OwnDevice?
                do throws(DeviceError) { app = try owned.phone.add(argument.account, to: standard) } catch {
                    throw CommandFailure.usage("account \(argument.account.name) can't be added: \(error)")
                }
                let client = PushServerClient(url: argument.account.server) { "Bearer \(argument.login)" }
                if let app { enrollments.append((client, app, argument.account.name)) }
            }
        }
        self.enrollments = enrollments
        guard number != nil else {
            delivery = command.extensionOptions.delivery(to: owned, topic: options.topic)
            return
        }
        let standard = command.extensionOptions.standard(owned, topic: options.topic)
        guard let inside = PushDelivery(inThisProcess: standard, device: owned.phone) else {
            throw CommandFailure.usage("the phone's configuration is invalid")
        }
        delivery = inside
    }

    /// Acts as the app: sends the server the token and the keys' record, and proves the keys.
    func enroll(_ token: String, _ screen: RunScreen) {
        guard !enrollments.isEmpty, let token = Hex.decode(token) else { return }
        Task { [self] in
            let environment: PushEnvironment
            do throws(LocalAPNsError) { environment = try await environmentOfAPNs() } catch {
                return report("the app can't enroll: \(error)")
            }
            for (server, app, account) in enrollments {
                let done = await server.register(app, token: token, environment: environment, at: .now())
                let purpose = account.map { " for \($0)" } ?? ""
                for problem in done.problems { report("the app can't enroll\(purpose): \(problem)") }
                if let device = done.device, done.isRegistered {
                    screen.enrolled(name, as: device, for: account?.description)
                }
            }
        }
    }

    /// Waits up to 30 seconds, because the local APNs saves its address after it begins to listen for devices.
    private func environmentOfAPNs() async throws(LocalAPNsError) -> PushEnvironment {
        for _ in 0..<1_500 {
            if let address = try? LocalAPNsAddress(inFolder: apns) { return address.environment }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return try LocalAPNsAddress(inFolder: apns).environment
    }

    /// Runs a notification through the extension, acts as the app if a new key was used, and then acknowledges it. A phone
    /// that is killed before that gets the notification again, and recognizes it from its ledger.
    func show(_ arrival: DeviceReceiver.Arrival, on screen: RunScreen) {
        owned.bringNewKeys()
        let notification = arrival.notification
        let push = deliver(notification)
        if confirms { _ = owned.confirm() }
        screen.show(name, notification, push)
        arrival.acknowledge(showing: push)
    }

    private func deliver(_ notification: APNsNotification) -> DeliveredPush {
        do {
            let push = try PushFile(parsing: notification.payload)
            return try delivery.deliver(
                push, identifier: notification.identifier, pushType: notification.pushType.rawValue)
        } catch { return DeliveredPush(notShownBecause: "\(error)") }
    }

    /// Ends the extension's process. Returns remarks about its errors after its responses.
    func end() -> [String] { delivery.end() }
}
