import EndToEnd
import Foundation
import Glibc
import PushAPNs
import PushSender
import PushSimulator
import SealedPush
import SimulatedAPNs
import TestPrograms
import TestSupport
import Testing

/// Phones whose apps have created their keys, one or more processes that run their extensions, and a transport to them.
final class Rig {
    let server: LocalAPNs
    private(set) var processes: [ChildProcess] = []
    private let folder: TemporaryFolder
    let newsroom = Newsroom()
    let apps: [PhoneApp]
    /// The server's record of each device.
    var enrolled: [EnrolledDevice]
    private let sealer: Sealer
    private let transport: APNsTransport
    private var tokens: [DeviceToken] = []

    static let deviceCount = 8

    init(processCount: Int) async throws {
        folder = try TemporaryFolder(inMemory: true)
        let (newsroom, folder) = (newsroom, folder)
        apps = try (1...Self.deviceCount).map {
            try PhoneApp(in: folder.appending("States/phone-\($0)"), trusting: newsroom)
        }
        let created = Timestamp.now().advanced(bySeconds: -3_600)
        enrolled = try apps.map { try newsroom.enroll($0, at: created) }
        sealer = Sealer(sender: newsroom.sender, topic: Newsroom.topic, safeDefault: Newsroom.safeDefault)
        server = try await LocalAPNs.start(folder: folder.appending("APNs"))
        let address = server.address
        var configuration = APNsConfiguration(
            endpoint: APNsEndpoint(host: address.host, port: address.port),
            key: try ProviderKey(
                pem: Array(Data(contentsOf: URL(filePath: address.key ?? ""))), keyID: address.keyID ?? "",
                teamID: address.teamID ?? ""),
            trustRoots: try TrustRoots(pem: Array(Data(contentsOf: URL(filePath: address.root)))))
        configuration.deadlines.request = .seconds(600)
        configuration.deadlines.connect = .seconds(600)
        transport = try APNsTransport(configuration)
        for number in 0..<processCount { try await start(number) }
        tokens = try lines(0).compactMap { ($0["token"] as? String).flatMap { DeviceToken(parsing: $0) } }
    }

    private func start(_ number: Int) async throws {
        let output = try folder.write("", to: "devices-\(number)")
        let arguments = [
            "run", "--device", "phone", "--count", "\(Self.deviceCount)", "--apns", folder.appending("APNs").path,
            "--topic", Newsroom.topic.description, "--keyring", folder.appending("None").path, "--trust",
            newsroom.trusted, "--state", folder.appending("States").path, "--json",
        ]
        processes.append(
            try Program("device-simulator").start(arguments, output: FileHandle(forWritingTo: URL(filePath: output))))
        try await wait("the devices' first lines") { try self.lines(number).count == Self.deviceCount }
    }

    /// Sends the messages concurrently, to the devices in turn.
    func send(_ messages: Range<Int>) async throws {
        try await send(messages.map { (message: $0, device: $0 % Self.deviceCount) })
    }

    /// Sends the messages concurrently, to the given devices.
    func send(_ messages: [(message: Int, device: Int)]) async throws {
        let requests = try messages.map { message, device in
            let recipient = try enrolled[device].recipient(at: .now())
            return PushRequest(
                try sealer.seal(Content(body: "message \(message)"), to: recipient), to: .apns(tokens[device]))
        }
        let transport = transport
        try await withThrowingTaskGroup(of: PushOutcome.self) { group in
            for request in requests { group.addTask { try await transport.deliver(request) } }
            for try await answer in group { #expect(answer == .accepted(uniqueID: answer.uniqueID)) }
        }
    }

    /// Disconnects a process. If it doesn't hold the devices, the server hardly notices.
    func disconnect(_ number: Int) async throws {
        let before = try count("offline", number)
        Glibc.kill(processes[number].identifier, SIGUSR1)
        try await wait("a device that goes offline") { try self.count("offline", number) > before }
    }

    func reconnect(_ number: Int) async throws {
        let before = try count("online", number)
        Glibc.kill(processes[number].identifier, SIGUSR2)
        try await wait("all devices online") { try self.count("online", number) >= before + Self.deviceCount }
    }

    private func count(_ event: String, _ number: Int) throws -> Int {
        try lines(number).count { $0["event"] as? String == event }
    }

    func end() async {
        await transport.shutDown()
        for process in processes {
            Glibc.kill(process.identifier, SIGINT)
            #expect(process.wait() == .exited(0))
        }
        await server.stop()
    }

    func notifications() throws -> [[String: Any]] {
        try processes.indices.flatMap { try lines($0) }.filter { $0["event"] as? String == "notification" }
    }

    private func lines(_ number: Int) throws -> [[String: Any]] {
        try Checkout.text(folder.appending("devices-\(number)")).split(separator: "\n").compactMap {
            (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any]
        }
    }

    func wait(_ what: String, until condition: () throws -> Bool) async throws {
        do { try await eventually(what, condition) } catch {
            print("\(server.deviceCounts), \(try notifications().count) notifications")
            throw error
        }
    }
}

extension PushOutcome {
    fileprivate var uniqueID: String? { if case .accepted(let uniqueID) = self { uniqueID } else { nil } }
}
