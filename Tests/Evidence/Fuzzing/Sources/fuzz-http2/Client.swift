import CoreMetrics
import Crypto
import FuzzSupport
import Logging
import NIOCore
import NIOEmbedded
import NIOTLS

@testable import PushAPNs
@testable import PushSender
@testable import SealedPush

/// The transport as in an app, with one connection, and an event loop and a clock that advance on demand.
final class Client {
    private let clock = Clock()
    private let loop = EmbeddedEventLoop()
    private let channel: EmbeddedChannel
    private let dispatcher: Dispatcher
    private let pool: ConnectionPool
    private let outcomes = Outcomes()
    private var deliveries: [PendingPush] = []
    private var written = WrittenFrames()
    private var receivedByteCount = 0

    /// - Parameter hasSucceeded: whether a push was accepted before; until then, only one is sent at a time.
    init(hasSucceeded: Bool) {
        let clock = clock
        let times = TransportClock(now: { clock.now }, wall: { Timestamp(clamping: clock.seconds) }, chance: { 0.5 })
        dispatcher = Dispatcher(
            Self.configuration, tls: Self.tls, eventLoop: loop, clock: times, observer: Self.observer)
        // Signed at once; otherwise, signing would be on another thread.
        dispatcher.tokens = TokenSource(clock: times) { _ in }
        _ = dispatcher.tokens.current(now: clock.now)
        _ = dispatcher.tokens.signed("token")
        pool = dispatcher.pools[0]
        let connection = APNsConnection(number: dispatcher.nextConnectionNumber(), pool: pool, now: clock.now)
        connection.state.hasSucceeded = hasSucceeded
        pool.connections.append(connection)
        channel = EmbeddedChannel(loop: loop)
        run {
            try channel.connect(to: SocketAddress(unixDomainSocketPath: "/peer")).wait()
            try channel.pipeline.syncOperations.addHandler(connection)
        }
        channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: "h2"))
        settle()
    }

    func deliver(bodyByteCount: Int) {
        let number = deliveries.count
        guard number < 64 else { return }
        let digits = String(number, radix: 16)
        var request = PushRequest(
            address: .apns(Self.token), body: [UInt8](repeating: UInt8(number), count: bodyByteCount),
            topic: "com.example.app",
            apnsID: "00000000-0000-8000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits,
            collapseID: "collapse", priority: .immediate, expiration: nil)
        request.isProven = true
        written.expect(request)
        let delivery = PendingPush(request, startedAt: clock.now, deadline: clock.now + dispatcher.deadlines.request)
        deliveries.append(delivery)
        let (dispatcher, outcomes) = (dispatcher, outcomes)
        Task(executorPreference: dispatcher.executor) {
            let _: PendingPush.Outcome = await withUnsafeContinuation { continuation in
                delivery.continuation = continuation
                dispatcher.submit(.deliver(delivery))
            }
            outcomes.counts[number] += 1
        }
        outcomes.counts.append(0)
        settle()
    }

    func cancel(_ number: Int) {
        dispatcher.submit(.cancel(deliveries[number % deliveries.count]))
        settle()
    }

    func receive(_ bytes: [UInt8]) {
        guard channel.isActive else { return }
        receivedByteCount += bytes.count
        written.peerSent(bytes)
        run { try channel.writeInbound(ByteBuffer(bytes: bytes)) }
        settle()
    }

    func advance(milliseconds: Int64) {
        clock.milliseconds += milliseconds
        dispatcher.tick()
        settle()
    }

    /// Closes the connection from the peer's side and lets all time limits pass.
    func end() {
        if channel.isActive { channel.close(promise: nil) }
        settle()
        for _ in 0..<2 { advance(milliseconds: 31_000) }
        demand(outcomes.counts.allSatisfy { $0 == 1 }, "pushes have \(outcomes.counts) outcomes")
        demand(dispatcher.pools.allSatisfy { $0.connections.isEmpty && $0.waiting.isEmpty }, "something is left over")
        dispatcher.closeNow()
        settle()
        demand(dispatcher.isClosed, "it doesn't shut down")
    }

    private func settle() {
        // Prevents most connection attempts: there is no server, and this loop can't connect.
        pool.backoff.failed(now: clock.now, chance: 0, atLeast: .hours(1))
        loop.run()
        run { while let bytes = try channel.readOutbound(as: ByteBuffer.self) { written.take(bytes) } }
        let limit = 10_000 + 30 * receivedByteCount + 10_000 * deliveries.count
        demand(written.byteCount <= limit, "\(written.byteCount) bytes are sent after \(receivedByteCount)")
    }

    private func run(_ body: () throws -> Void) {
        do { try body() } catch is ChannelError {} catch { fatalError("an unhandled error: \(error)") }
    }

    private static let token = DeviceToken(parsing: String(repeating: "ab", count: 32)).unsafelyUnwrapped
    private static let configuration: APNsConfiguration = {
        let pem = P256.Signing.PrivateKey().pemRepresentation
        do {
            let key = try ProviderKey(pem: Array(pem.utf8), keyID: "ABCDE12345", teamID: "FGHIJ67890")
            return APNsConfiguration(endpoint: .production, key: key)
        } catch { fatalError("no key: \(error)") }
    }()
    private static let tls: TLSClient = {
        do { return try TLSClient(endpoint: .production, roots: .system) } catch { fatalError("no TLS: \(error)") }
    }()
    private static let observer = TransportObserver(
        Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() }, NOOPMetricsHandler.instance)
}

/// `@unchecked`: libFuzzer calls on one thread, which does everything.
private final class Outcomes: @unchecked Sendable { var counts: [Int] = [] }

/// `@unchecked` for the same reason.
private final class Clock: @unchecked Sendable {
    var milliseconds: Int64 = 1_000_000
    var now: NIODeadline { .uptimeNanoseconds(UInt64(milliseconds) * 1_000_000) }
    var seconds: Int64 { 1_800_000_000 + milliseconds / 1_000 }
}
