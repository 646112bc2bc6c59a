import Foundation
import Logging
import Metrics
import NIOCore
import NIOPosix
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushAPNs
@testable import SimulatedAPNs

/// A local APNs and a transport to it, over real TLS, for one test.
struct BothEnds {
    let folder: TemporaryFolder
    let server: LocalAPNs
    let transport: APNsTransport
    let key: PushAPNs.ProviderKey
    let root: Data
    /// The transport's clock.
    let clock = AdjustableClock()
    /// The error of the server's clock, in seconds.
    let serverError: Locked<Int64>
    static let topic: Topic = "com.example.app"
    private static let requestSeconds: Int64 = 600

    /// - Parameter key: Returns the key that the transport signs with; by default, the server's own.
    init(
        _ change: (inout LocalAPNsConfiguration) -> Void = { _ in },
        key: (PushAPNs.ProviderKey, LocalAPNs) throws -> PushAPNs.ProviderKey = { key, _ in key }
    ) async throws {
        folder = try TemporaryFolder()
        let serverError = Locked<Int64>(0)
        self.serverError = serverError
        var configuration = LocalAPNsConfiguration()
        configuration.environment = .sandbox
        configuration.closingTime = .milliseconds(100)
        // A handshake may be slow on a busy machine, and one that the server ends would be retried.
        configuration.handshakeTimeout = .seconds(1_000_000)
        configuration.requestTimeout = .seconds(1_000_000)
        let now = configuration.now
        configuration.now = { now() + serverError.withLock { $0 } * 1_000 }
        change(&configuration)
        server = try await LocalAPNs.start(folder: folder.appending("APNs"), configuration: configuration)
        let address = server.address
        let pem = try Data(contentsOf: URL(filePath: address.key ?? ""))
        let own = try PushAPNs.ProviderKey(pem: Array(pem), keyID: address.keyID ?? "", teamID: address.teamID ?? "")
        self.key = try key(own, server)
        root = try Data(contentsOf: URL(filePath: address.root))
        transport = try Self.transport(to: address.port, key: self.key, root: root, clock)
    }

    static func transport(
        to port: Int, key: PushAPNs.ProviderKey, root: Data, _ clock: AdjustableClock
    ) throws -> APNsTransport {
        var configuration = APNsConfiguration(
            endpoint: APNsEndpoint(host: "localhost", port: port), key: key,
            trustRoots: try TrustRoots(pem: Array(root)))
        configuration.limits.connectionCount = 1
        // Real time must not run out, even on a busy machine. Only the time that a test adds counts.
        configuration.deadlines.request = .seconds(Self.requestSeconds)
        configuration.deadlines.connect = .seconds(1_000_000)
        configuration.deadlines.firstAnswer = .seconds(1_000_000)
        configuration.deadlines.ping = .seconds(1_000_000)
        return try APNsTransport(
            configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            metrics: NOOPMetricsHandler.instance,
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(), clock: clock.transportClock)
    }

    /// Advances the time at both ends.
    func advance(seconds: Int64) {
        serverError.withLock { $0 += seconds }
        clock.advance(seconds: seconds)
    }

    /// Lets all requests in progress time out.
    func expireRequests() { advance(seconds: Self.requestSeconds) }

    /// A device's token; the same name has the same one.
    func device(_ name: String = "phone") throws -> Address {
        .apns(try #require(DeviceToken(parsing: server.register(name: name, topic: Self.topic.description))))
    }

    func push(to address: Address) -> PushRequest {
        let id = UUID().uuidString.lowercased()
        return PushRequest(
            address: address, body: Array(#"{"aps":{"alert":"x"}}"#.utf8), topic: Self.topic, apnsID: id,
            collapseID: id, priority: .immediate, expiration: nil)
    }

    typealias Outcome = Result<APNsAnswer, PushTransportError>

    func deliver(_ request: PushRequest, over other: APNsTransport? = nil) async -> Outcome {
        let transport = other ?? transport
        do {
            return try await ending("the outcome of a push") {
                do throws(PushTransportError) {
                    return .success(try await transport.answer(to: request))
                } catch {
                    return .failure(error)
                }
            }
        } catch {
            Issue.record(error)
            return .failure(.canceled)
        }
    }

    /// Delivers a push to the device with this name.
    func deliver(_ name: String = "phone") async throws -> Outcome { await deliver(push(to: try device(name))) }

    /// Returns the requests in the log, once there are `count` of them.
    func requests(_ count: Int) async throws -> [[String: Any]] {
        let file = folder.appending("APNs/log.jsonl")
        var found: [[String: Any]] = []
        try await eventually("\(count) requests in the log") {
            let text = (try? Data(contentsOf: file)).map { String(decoding: $0, as: UTF8.self) } ?? ""
            found = text.split(separator: "\n").compactMap {
                (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any]
            }.filter { $0["event"] as? String == "request" }
            return found.count >= count
        }
        return found
    }

    func stop() async {
        await server.stop()
        await transport.shutDown()
    }
}

extension BothEnds.Outcome {
    var isAccepted: Bool { if case .success(.accepted) = self { true } else { false } }
    var error: PushTransportError? { if case .failure(let error) = self { error } else { nil } }
    var refusal: APNsRefusal? { if case .success(.refused(let refusal)) = self { refusal } else { nil } }
}

/// The real time plus the time that a test adds.
final class AdjustableClock: Sendable {
    private let added = Locked(Int64(0))
    private let wallError = Locked(Int64(0))

    /// Advances the time.
    func advance(seconds: Int64) { added.withLock { $0 += seconds } }

    /// Sets the error of the time of day, and of nothing else.
    func setWall(wrongBySeconds seconds: Int64) { wallError.withLock { $0 = seconds } }

    var transportClock: TransportClock {
        TransportClock(
            now: { .now() + .seconds(self.added.withLock { $0 }) },
            wall: { Timestamp.now().advanced(bySeconds: self.added.withLock { $0 } + self.wallError.withLock { $0 }) },
            chance: { 0.5 }, tick: .milliseconds(10))
    }
}
