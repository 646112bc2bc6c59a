import Foundation
import Glibc
import PushAPNS
import PushKeyring
import PushSender
import PushSimulator
import SealedPush
import SimulatedAPNs
import TestPrograms
import TestSupport
import TestThreads
import Testing

/// One ledger, several processes of one device at once.
@Suite("A device that is told the same push in parallel", .serialized, .blocking)
struct ParallelTests {
    @Test("opens it each time, under the one identifier: nobody sees it twice, or the safe default in its place")
    func processes() throws {
        let device = try Device()
        for round in 0..<6 {
            let file = try device.file(try device.seal(Content(body: "round \(round)")))
            let outputs = try (0..<4).map { _ in try device.folder.write("", to: UUID().uuidString) }
            let processes = try outputs.map { output in
                try Program("device-simulator").start(
                    device.arguments(file, ["--identifier", "place"]),
                    output: FileHandle(forWritingTo: URL(filePath: output)))
            }
            for process in processes { #expect(process.wait() == .exited(0)) }
            for output in outputs {
                let text = try Checkout.text(URL(filePath: output))
                #expect(text.contains(#""outcome":"opened""#) && text.contains("round \(round)"), "\(text)")
            }
        }
    }

    @Test("also where two of its processes take the connection from each other with everything on its way")
    func connections() async throws {
        let rig = try await Rig()
        defer { for process in rig.processes { process.kill() } }
        var sentCount = 0
        // Six times, and on until some came to both processes: on an idle machine the one may be done too soon.
        for round in 0..<40 {
            guard try round < 6 || rig.notifications().count == sentCount else { break }
            try await rig.disconnect(round % 2)
            try await rig.send(sentCount..<sentCount + 200)
            sentCount += 200
            // It takes the devices back, and with them what the other process is working on.
            try await rig.reconnect(round % 2)
            try await rig.wait { rig.server.deviceCounts.unacknowledged == 0 }
        }
        try await rig.wait { try rig.notifications().count >= sentCount }
        await rig.end()

        var places: [String: Set<String>] = [:]
        let all = try rig.notifications()
        for notification in all {
            #expect(notification["outcome"] as? String == "opened", "\(notification)")
            let place = "\(notification["device"] ?? "") \(notification["identifier"] ?? "")"
            places[notification["body"] as? String ?? "", default: []].insert(place)
        }
        #expect(places.count == sentCount)
        #expect(places.values.allSatisfy { $0.count == 1 })
        print("\(all.count) notifications of \(sentCount) messages")
        #expect(all.count > sentCount, "some came to both processes")
    }
}

/// Devices that run in two processes, and a transport to them.
private final class Rig {
    let server: LocalAPNs
    private(set) var processes: [ChildProcess] = []
    private let folder: TemporaryFolder
    private let sealer: Sealer
    private let transport: APNSTransport
    private let recipients: [Recipient]
    private var tokens: [DeviceToken] = []

    private static let deviceCount = 8
    private static let topic: Topic = "com.example.app"

    init() async throws {
        folder = try TemporaryFolder(inMemory: true)
        let keyring = Keyring(folder: folder.appending("Keys"))
        let created = Timestamp.now().advanced(bySeconds: -3_600)
        _ = try keyring.generateSender(named: Self.name("newsroom"), at: created)
        recipients = try (1...Self.deviceCount).map {
            try keyring.generateDevice(named: Self.name("phone-\($0)"), at: created)
        }
        sealer = Sealer(
            sender: try keyring.senderKey(named: Self.name("newsroom")), topic: Self.topic, safeDefault: "wire default")
        server = try await LocalAPNs.start(folder: folder.appending("APNs"))
        let address = server.address
        var configuration = APNSConfiguration(
            endpoint: APNSEndpoint(host: address.host, port: address.port),
            key: try ProviderKey(
                pem: Array(Data(contentsOf: URL(filePath: address.key ?? ""))), keyID: address.keyID ?? "",
                teamID: address.teamID ?? ""),
            trustRoots: try TrustRoots(pem: Array(Data(contentsOf: URL(filePath: address.root)))))
        configuration.deadlines.request = .seconds(600)
        configuration.deadlines.connect = .seconds(600)
        transport = try APNSTransport(configuration)
        for number in 0..<2 { try await start(number) }
        tokens = try lines(0).compactMap { ($0["token"] as? String).flatMap { DeviceToken(parsing: $0) } }
    }

    private static func name(_ text: String) throws -> KeyName { try #require(KeyName(parsing: text)) }

    private func start(_ number: Int) async throws {
        let output = try folder.write("", to: "devices-\(number)")
        let arguments = [
            "run", "--device", "phone", "--count", "\(Self.deviceCount)", "--apns", folder.appending("APNs").path,
            "--topic", Self.topic.description, "--keyring", folder.appending("Keys").path, "--trust", "newsroom",
            "--state", folder.appending("States").path, "--json",
        ]
        processes.append(
            try Program("device-simulator").start(arguments, output: FileHandle(forWritingTo: URL(filePath: output))))
        try await wait { try self.lines(number).count == Self.deviceCount }
    }

    /// All at once.
    func send(_ messages: Range<Int>) async throws {
        let requests = try messages.map { message in
            let device = message % Self.deviceCount
            let content = Content(body: "message \(message)")
            return PushRequest(
                try sealer.seal(content, toUnverified: recipients[device]), to: tokens[device])
        }
        let transport = transport
        try await withThrowingTaskGroup(of: PushAnswer.self) { group in
            for request in requests { group.addTask { try await transport.deliver(request) } }
            for try await answer in group { #expect(answer == .accepted(uniqueID: answer.uniqueID)) }
        }
    }

    /// One that does not have the devices: the server hardly notices.
    func disconnect(_ number: Int) async throws {
        let before = try count("offline", number)
        Glibc.kill(processes[number].identifier, SIGUSR1)
        try await wait { try self.count("offline", number) > before }
    }

    func reconnect(_ number: Int) async throws {
        let before = try count("online", number)
        Glibc.kill(processes[number].identifier, SIGUSR2)
        try await wait { try self.count("online", number) >= before + Self.deviceCount }
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

    func wait(until condition: () throws -> Bool) async throws {
        try await eventually("what the test waits for", condition)
    }
}

extension PushAnswer {
    fileprivate var uniqueID: String? { if case .accepted(let uniqueID) = self { uniqueID } else { nil } }
}
