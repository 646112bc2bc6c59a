import Crypto
import HostilePeers
import Logging
import MetricsTestKit
import NIOCore
import NIOPosix
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushAPNs

/// A server, a transport to it, and a clock, for one test.
struct Rig: Sendable {
    let server: TestServer
    let clock: ManualClock
    let transport: APNsTransport
    let metrics = TestMetrics()
    static let signingKey = P256.Signing.PrivateKey()
    static let topic: Topic = "com.example.app"

    init(
        _ behavior: ServerBehavior, certificate: TestCertificate = .shared, trusting: TestCertificate = .shared,
        log: CollectedLog? = nil, clock: ManualClock = ManualClock(),
        configure: ConfigurationChange = .none
    ) async throws {
        self.clock = clock
        server = try await TestServer(behavior, certificate: certificate)
        transport = try Self.transport(
            to: server.port, clock: clock, metrics: metrics, trusting: trusting, log: log, configure: configure)
    }

    /// - Parameter streams: The number of simultaneous streams that the server allows.
    init(
        streams: Int = 100, log: CollectedLog? = nil, clock: ManualClock = ManualClock(),
        configure: ConfigurationChange = .none,
        onRequest: @escaping @Sendable (Exchange) -> Void = { $0.accept() }
    ) async throws {
        try await self.init(
            ServerBehavior(streams: streams, onRequest: onRequest), log: log, clock: clock, configure: configure)
    }

    static func transport(
        to port: Int, clock: ManualClock, metrics: TestMetrics = TestMetrics(),
        trusting: TestCertificate = .shared, log: CollectedLog? = nil,
        configure: ConfigurationChange = .none
    ) throws -> APNsTransport {
        let key = try ProviderKey(
            pem: Array(signingKey.pemRepresentation.utf8), keyID: "ABCDE12345", teamID: "FGHIJ67890")
        var configuration = APNsConfiguration(
            endpoint: APNsEndpoint(host: "localhost", port: port), key: key,
            trustRoots: try TrustRoots(pem: trusting.rootPEM))
        configuration.limits.connectionCount = 1
        configure.apply(&configuration)
        let logger = log.map { log in Logger(label: "test") { _ in log } }
        return try APNsTransport(
            configuration, logger: logger ?? Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, metrics: metrics,
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(), clock: clock.transportClock)
    }

    /// A push to the device with this number, which is also in its body.
    static func request(_ number: Int = 0, expiration: Timestamp? = nil) -> PushRequest {
        let digits = String(number, radix: 16)
        let text = String(repeating: "0", count: 64 - digits.count) + digits
        return PushRequest(
            address: .apns(DeviceToken(parsing: text) ?? DeviceToken(parsing: "00")!),
            body: Array("{\"number\":\(number)}".utf8),
            topic: topic, apnsID: "00000000-0000-8000-8000-" + text.suffix(12), collapseID: "collapse-\(number)",
            priority: .immediate, expiration: expiration)
    }

    /// Marks the tokens with these numbers as proven.
    func trust(_ numbers: some Sequence<Int>) {
        transport.trust(numbers.map { Self.request($0).address }, topic: Self.topic)
    }

    typealias Outcome = Result<APNsAnswer, PushTransportError>

    /// Delivers these pushes at once, each to its own device. Returns the outcomes in the order of their numbers.
    func deliver(_ numbers: Range<Int>) async -> [Outcome] {
        let outcomes = await ended("the outcomes of pushes \(numbers)") {
            await withTaskGroup(of: (Int, Outcome).self) { group in
                for number in numbers { group.addTask { (number, await transport.outcome(of: Self.request(number))) } }
                return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map { $0.1 }
            }
        }
        return outcomes ?? numbers.map { _ in .failure(.canceled) }
    }

    func outcome(_ number: Int = 0) async -> Outcome { await outcome(of: Self.request(number)) }

    func outcome(of request: PushRequest) async -> Outcome {
        await ended("the outcome of push \(request.apnsID)") { await transport.outcome(of: request) }
            ?? .failure(.canceled)
    }

    /// Nil if it never ended. In that case, the clock stands still, and deadlines don't help.
    private func ended<Value: Sendable>(_ what: String, _ body: @escaping @Sendable () async -> Value) async -> Value? {
        do {
            return try await ending(what, body)
        } catch {
            Issue.record(error)
            return nil
        }
    }
}

extension APNsTransport {
    func outcome(of request: PushRequest) async -> Rig.Outcome {
        do { return .success(try await answer(to: request)) } catch { return .failure(error) }
    }
}

extension Result where Success == APNsAnswer, Failure == PushTransportError {
    var isAccepted: Bool { if case .success(.accepted) = self { true } else { false } }
    var error: PushTransportError? { if case .failure(let error) = self { error } else { nil } }
    var refusal: APNsRefusal? { if case .success(.refused(let refusal)) = self { refusal } else { nil } }
}

/// Settings in which a test's transport differs from the default.
struct ConfigurationChange {
    let apply: (inout APNsConfiguration) -> Void

    static var none: ConfigurationChange { changed { _ in } }
    /// For tests in which time passes without triggering these deadlines.
    static var withoutDeadlines: ConfigurationChange { withoutDeadlines { _ in } }

    static func changed(_ apply: @escaping (inout APNsConfiguration) -> Void) -> ConfigurationChange {
        ConfigurationChange(apply: apply)
    }

    static func withoutDeadlines(but change: @escaping (inout APNsConfiguration) -> Void) -> ConfigurationChange {
        changed { configuration in
            configuration.deadlines.connect = .seconds(1_000_000)
            configuration.deadlines.request = .seconds(1_000_000)
            configuration.deadlines.pingWhileBusy = .seconds(1_000_000)
            configuration.deadlines.firstAnswer = .seconds(1_000_000)
            change(&configuration)
        }
    }
}

extension TestMetrics {
    /// A counter's total, or 0 if it doesn't exist.
    func counter(_ label: String, _ outcome: String) -> Int {
        ((try? expectCounter(label, [("outcome", outcome)]))?.totalValue).map { Int($0) } ?? 0
    }
}

/// A clock that advances on command. The transport checks it every few milliseconds.
final class ManualClock: Sendable {
    private let seconds = Locked(Double(0))
    private let wallOffset = Locked(Int64(0))
    private static let origin = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private let start = Timestamp(clamping: 1_800_000_000)
    private let tick: TimeAmount

    /// - Parameter tick: How often the transport checks the clock by itself.
    init(tick: TimeAmount = .milliseconds(5)) { self.tick = tick }

    /// In seconds.
    var elapsed: Double { seconds.withLock { $0 } }

    func advance(_ amount: Duration) { seconds.withLock { $0 += amount / .seconds(1) } }

    /// Advances to a time of the transport's clock, never backward.
    func jump(to moment: NIODeadline) {
        let elapsed = Double((moment - Self.origin).nanoseconds) / 1e9
        seconds.withLock { $0 = max($0, elapsed) }
    }

    /// Sets only the time of day.
    func setWall(bySeconds offset: Int64) { wallOffset.withLock { $0 = offset } }

    var transportClock: TransportClock {
        TransportClock(
            now: { Self.origin + .nanoseconds(Int64((self.seconds.withLock { $0 } * 1e9).rounded())) },
            wall: {
                self.start.advanced(bySeconds: Int64(self.seconds.withLock { $0 }) + self.wallOffset.withLock { $0 })
            }, chance: { 0.5 }, tick: tick)
    }
}
