internal import CoreMetrics
internal import Hummingbird
package import Logging
internal import PushCore
package import PushOutbox
package import SealedPush

/// One service with two listeners over HTTP/1.1. On one, a back end in any language sends messages and sees their outcomes.
/// On the other, phones enroll and submit receipts. The listener alone determines which requests are allowed. Phones'
/// paths: EnrollmentHTTP. All paths: Docs/openapi.yaml. Why it is built on Hummingbird: Docs/Decisions/0039-one-service.md.
package final class PushServer: Sendable {
    let batches: TaskSemaphore
    let phoneGate: PhoneGate
    private let outbox: Outbox
    private let upkeepInterval: Duration
    private let state: Locked<ServerState>
    private let certificate: Locked<ListenerCertificate?>
    private let metrics: PrometheusMetrics
    private let readiness: Readiness
    private let service: RunningService

    /// The things that can't be reread because of a hung file system.
    package enum Unread: Sendable {
        case keys
        case files
    }

    /// Claims the sockets' paths.
    ///
    /// - Parameters:
    ///   - place: The back end's listener.
    ///   - phones: The phones' listener, or `nil` if there is none.
    ///   - certificate: The certificate for all addresses; sockets need none.
    ///   - isTrial: Whether other machines may connect without TLS.
    ///   - unread: Returns what has been reread for too long, so that the service isn't ready.
    /// - Throws: `needsTLS`, `needsTokens`, `badCertificate`; `notBound` if a socket's path can't be claimed.
    package init(
        at place: ServerPlace, phones: ServerPlace? = nil, certificate: ListenerCertificate? = nil,
        isTrial: Bool = false, outbox: Outbox, state: ServerState, metrics: PrometheusMetrics = PrometheusMetrics(),
        readiness: Readiness = Readiness(),
        limits: ServerLimits = ServerLimits(), unread: @escaping @Sendable () -> Unread? = { nil }, logger: Logger
    ) throws(ServingError) {
        guard certificate != nil || isTrial || [place, phones ?? place].allSatisfy(\.isLocal) else { throw .needsTLS }
        if case .address = place, state.tokens == nil { throw .needsTokens }
        let (shared, certificates) = (Locked(state), Locked(certificate))
        (self.state, self.certificate, self.metrics, self.readiness) = (shared, certificates, metrics, readiness)
        (self.outbox, upkeepInterval) = (outbox, limits.upkeepInterval)
        let current: @Sendable () -> ServerState = { shared.withLock { $0 } }
        batches = TaskSemaphore(limits.batchCount)
        phoneGate = PhoneGate(outbox, limits, state: current)
        let routes = ServerRoutes(outbox: outbox, metrics: metrics, limits: limits, gate: phoneGate, state: current)
        let tls = certificate?.configuration { certificates.withLock { $0 } }
        var doors = [
            Door(
                callers: .backEnd, place: place, router: routes.forBackEnd(batches, readiness, at: place),
                tls: place.isSocket ? nil : tls, firstHeadTime: limits.idleTime,
                // A sixteenth more for the framing of chunks and TLS.
                maximumByteCount: ServerLimits.batchByteCount / 16 * 17)
        ]
        if let phones {
            doors.append(
                Door(
                    callers: .phones, place: phones, router: routes.forPhones(), tls: phones.isSocket ? nil : tls,
                    firstHeadTime: limits.firstHeadTime, maximumByteCount: 2 * ServerLimits.bodyByteCount))
        }
        service = try RunningService(doors, limits, logger)
        readiness.watch { [weak service = self.service] in
            if service?.hasItsSockets == false { return Problem.noSocket }
            return unread().map { $0 == .keys ? Problem.doubtfulSender : Problem.filesUnread }
        }
        recordExpiry()
    }

    /// Whether callers still find the sockets that it listens on.
    package var hasItsSockets: Bool { service.hasItsSockets }

    /// Records the expiration of the sender set and the certificate as metrics.
    private func recordExpiry() {
        let ends = [
            "sender_set": state.withLock { $0.senderSet?.expires.secondsSince1970 },
            "certificate": certificate.withLock { $0?.expiry },
        ]
        for case (let name, let end?) in ends {
            Gauge(label: "push_\(name)_expiry_seconds", factory: metrics).record(end)
        }
    }

    /// Replaces the sender's keys, starting with the next message, even within a batch.
    package func use(keys: SenderKeys) {
        state.withLock { $0.keys = keys }
        readiness.set(nil)
    }

    /// Replaces the back end's tokens, starting with the next request.
    package func use(tokens: BearerTokens?) { state.withLock { $0.tokens = tokens } }

    /// Replaces the tokens for notifications, starting with the next request.
    package func use(notifyTokens: NotifyTokens?) { state.withLock { $0.notifyTokens = notifyTokens } }

    /// Replaces the sender set that phones get.
    package func use(senderSet: SenderSet?) {
        state.withLock { $0.senderSet = senderSet }
        recordExpiry()
    }

    /// Replaces the certificate, starting with the next connection.
    package func use(certificate: ListenerCertificate?) {
        self.certificate.withLock { $0 = certificate }
        recordExpiry()
    }

    /// Stops sealing and invalidates every login until there is another sender, because the keys are revoked or missing.
    /// Logins and challenges end with the keys: an attacker who has stolen the key can create both.
    package func withdrawSender() {
        state.withLock { $0.keys = nil }
        readiness.set(.noSender)
    }

    /// Whether there is a key to seal with.
    package var isSealing: Bool { state.withLock { $0.keys != nil } }

    /// Continues as before, but reports that it isn't ready: the sender's keys could not be read and may have been revoked.
    package func doubtSender() { readiness.add(.doubtfulSender) }

    /// Serves until ``stop()``; requests in progress are answered first. `onRunning` is called once the server listens,
    /// with the back end's port and the phones' port, if any. Throws `notBound`.
    package func run(
        onRunning: @escaping @Sendable (_ port: Int?, _ phonesPort: Int?) -> Void = { _, _ in }
    ) async throws(ServingError) {
        let upkeep = Task { [outbox, upkeepInterval] in await Self.purge(outbox, every: upkeepInterval) }
        defer { upkeep.cancel() }
        try await service.run { ports in onRunning(ports[0], ports.count > 1 ? ports[1] : nil) }
    }

    /// Purges expired records until the task is canceled, as a courier does, because there may be no courier. Waits first,
    /// because the clock of a machine that has just started may be wrong.
    private static func purge(_ outbox: Outbox, every interval: Duration) async {
        while true {
            do { try await Task.sleep(for: interval) } catch { return }
            _ = try? await outbox.purge(.records)
        }
    }

    /// Accepts no more requests; ``run(onRunning:)`` returns when the last one is answered.
    package func stop() async { await service.stop() }
}

/// All paths, by listener.
struct ServerRoutes: Sendable {
    let outbox: Outbox
    let metrics: PrometheusMetrics
    let limits: ServerLimits
    let gate: PhoneGate
    let state: @Sendable () -> ServerState

    func forBackEnd(
        _ batches: TaskSemaphore, _ readiness: Readiness, at place: ServerPlace
    ) -> Router<ServerContext> {
        let router = Router(reportingTo: metrics, behind: place.isSocket ? SocketGate(state: state) : nil)
        router.addReadiness(of: outbox, readiness, limits, at: place)
        let group = router.group("/v1").add(middleware: BackEndGate(state: state))
        let messages = MessageRoutes(outbox: outbox, batches: batches, patience: limits.batchPatience, state: state)
        let lists = ListRoutes(outbox: outbox, clock: limits.clock)
        let accounts = AccountRoutes(outbox: outbox, gate: gate, state: state)
        group.post("/logins", use: accounts.logIn)
        group.delete("/logins/:user", use: accounts.endLogins)
        group.delete("/users/:user", use: accounts.erase)
        group.post("/messages", use: messages.enqueue)
        group.post("/test", use: accounts.test)
        group.get("/messages/:message", use: messages.report)
        group.post("/seal", use: messages.seal)
        group.get("/devices", use: lists.devices)
        group.delete("/devices/:device", use: lists.removeDevice)
        group.get("/outbox", use: lists.status)
        group.get("/receipts", use: lists.receipts)
        let notify = NotifyRoutes(outbox: outbox, state: state)
        let notifiers = router.group("/v1").add(middleware: NotifyGate(limits, state: state))
        notifiers.post("/notify/:user", use: notify.text)
        notifiers.post("/notify/:user/alertmanager", use: notify.alertmanager)
        notifiers.post("/notify/:user/apprise", use: notify.apprise)
        return router.refusingOtherMethods()
    }

    func forPhones() -> Router<ServerContext> {
        let router = Router(reportingTo: metrics)
        let phones = PhoneRoutes(
            outbox: outbox, deviceCount: limits.deviceCount, gate: gate,
            tests: RateLimiter(burst: 5, every: .seconds(720), clock: limits.clock), state: state)
        router.post("/v1/receipts", use: ReceiptRoutes(outbox, state: state).take)
        router.post("/v1/leavings", use: phones.leave)
        let group = router.group("/v1").add(middleware: gate)
        group.put("/phones/:enrollment", use: phones.register)
        group.delete("/phones/:enrollment", use: phones.unregister)
        group.post("/phones/:enrollment/answers", use: phones.answer)
        group.post("/phones/:enrollment/test", use: phones.test)
        group.get("/sender-set", use: phones.senderSet)
        return router.refusingOtherMethods()
    }
}
