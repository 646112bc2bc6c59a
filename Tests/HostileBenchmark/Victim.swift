import CoreMetrics
import Foundation
import HostilePeers
import Logging
import NIOCore
import PushAPNS
import PushCore
import PushSender

/// One connection to a hostile server, with the client that `sealedpush work` has.
struct Victim: Sendable {
    let deed: HostileDeed
    private let transport: APNSTransport
    private let reasons: ClosingReasons

    init(_ deed: HostileDeed, _ configuration: APNSConfiguration, on eventLoop: any EventLoop) throws {
        self.deed = deed
        var configuration = configuration
        // So that a round need not wait for half a minute.
        if deed.waitsForReset { configuration.deadlines.request = .seconds(2) }
        if deed == .silence {
            configuration.deadlines.pingWhileBusy = .seconds(1)
            configuration.deadlines.ping = .seconds(1)
        }
        let reasons = ClosingReasons()
        self.reasons = reasons
        transport = try APNSTransport(
            configuration, logger: Logger(label: "victim") { _ in reasons }, metrics: NOOPMetricsHandler.instance,
            eventLoop: eventLoop, clock: TransportClock())
    }

    /// Sends a push: how it ended, and why its connection did; `still open` where that is so ten seconds later.
    func suffer(_ request: PushRequest) async -> String {
        var end: String
        do {
            switch try await transport.answer(to: request) {
            case .accepted: end = "accepted"
            case .refused(let refusal): end = "refused: \(refusal.status)"
            }
        } catch {
            end = "\(error)"
            if case .connectionLost = error { end = "connectionLost" }
        }
        for _ in 0..<100 where reasons.first == nil { try? await Task.sleep(for: .milliseconds(100)) }
        let reason = reasons.first ?? "still open"
        await transport.shutDown()
        return "\(end); \(reason)"
    }
}

/// Why a transport's connections were closed, from its log.
private struct ClosingReasons: LogHandler {
    private let reasons: Locked<[String]> = Locked([])
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    var first: String? { reasons.withLock { $0.first } }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        if let reason = event.metadata?["reason"], "\(event.message)".hasSuffix("closed") {
            reasons.withLock { $0.append("\(reason)") }
        }
    }
}
