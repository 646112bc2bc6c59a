internal import HTTPTypes
internal import Hummingbird
package import Logging
internal import NIOSSL
package import PushOutbox
package import PushSender
package import SealedPush
internal import _PushBase

/// Where a server listens.
package enum ServerPlace: Hashable, Sendable {
    /// A socket in a folder of this machine, which only this user can open.
    case socket(String)
    /// An address and a port; 0 for any that is free.
    case address(String, port: Int)

    /// Whether it can be reached from this machine alone.
    var isLocal: Bool {
        switch self {
        case .socket: true
        case .address(let host, _): ["127.0.0.1", "::1", "localhost"].contains(host)
        }
    }
}

/// A certificate chain and its key, both in PEM.
package struct ServerCertificate: Sendable {
    let configuration: TLSConfiguration

    /// - Throws: `badCertificate` where they can't be read, or do not go together.
    package init(chain: [UInt8], key: [UInt8]) throws(ServingError) {
        do {
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMBytes(chain).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(bytes: key, format: .pem)))
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            _ = try NIOSSLContext(configuration: configuration)
            self.configuration = configuration
        } catch { throw .badCertificate }
    }
}

package enum ServingError: Error, Equatable, CustomStringConvertible {
    /// Beyond this machine, nothing is said without TLS.
    case needsTLS
    /// Every user of a machine reaches its ports.
    case needsTokens
    case badCertificate
    /// The system's words.
    case notBound(String)

    package var description: String {
        switch self {
        case .needsTLS: "what is reached from other machines needs a certificate"
        case .needsTokens: "every user of this machine reaches its ports, so they need tokens; a socket needs none"
        case .badCertificate: "the certificate or its key can't be read, or they do not go together"
        case .notBound(let words): "can't listen there: \(words)"
        }
    }
}

/// One service for phones and for a back end in any language: enrolment, messages, and what became of them, over HTTP/1.1.
///
/// Phones' paths: Specification 18. All paths: Docs/openapi.yaml. Why it is built on Hummingbird:
/// Docs/Decisions/0039-one-service.md.
package final class PushServer: Sendable {
    /// Batches that are worked on, and those that wait.
    let batches: Places
    /// Phones' requests that are worked on, and those that wait.
    let admission: Admission
    private let state: Locked<ServerState>
    private let metrics: PrometheusMetrics
    private let service: RunningService

    /// A socket's place is taken from here on.
    ///
    /// - Throws: `needsTLS`, `needsTokens`, `badCertificate`; `notBound` where a socket's place is not to be had.
    package init(
        at place: ServerPlace, certificate: ServerCertificate? = nil, outbox: Outbox, state: ServerState,
        metrics: PrometheusMetrics = PrometheusMetrics(), limits: ServerLimits = ServerLimits(), logger: Logger
    ) throws(ServingError) {
        guard place.isLocal || certificate != nil else { throw .needsTLS }
        if case .address = place, state.tokens == nil { throw .needsTokens }
        let shared = Locked(state)
        self.state = shared
        self.metrics = metrics
        batches = Places(limits.batchCount)
        admission = Admission(limits)
        let router = ServerRoutes(
            outbox: outbox, state: { shared.withLock { $0 } }, metrics: metrics, limits: limits, batches: batches,
            admission: admission
        ).router
        service = try RunningService(router, at: place, certificate, limits, logger)
    }

    /// Uses another sender's key from the next message on, also of those in a batch.
    ///
    /// - Parameters: as ``ServerState/init(sender:sealer:senderSet:tokens:)`` has them.
    package func use(sender: SenderKey, sealer: Sealer) {
        let keys = ServerState.Keys(sender: sender, sealer: sealer)
        state.withLock { $0.keys = keys }
        metrics.obstacle.withLock { $0 = nil }
    }

    /// Uses other tokens from the next request on.
    package func use(tokens: BearerTokens?) { state.withLock { $0.tokens = tokens } }

    /// Hands out another sender set.
    package func use(senderSet: SenderSet?) { state.withLock { $0.senderSet = senderSet } }

    /// Seals nothing more, and knows no login, until there is another sender: its keys are revoked, or gone.
    ///
    /// Logins and challenges go with them: whoever has stolen the key can make both.
    package func withdrawSender() {
        state.withLock { $0.keys = nil }
        metrics.obstacle.withLock { $0 = Problem.noSender }
    }

    /// Goes on as before, and is not ready: its sender's keys could not be looked at, and may be revoked for all it knows.
    package func doubtSender() { metrics.obstacle.withLock { $0 = $0 ?? Problem.doubtfulSender } }

    /// Serves until ``stop()``; requests that have begun are answered first.
    ///
    /// - Parameter onRunning: called when it listens, with the port that it has.
    /// - Throws: `notBound`.
    package func run(onRunning: @escaping @Sendable (Int?) -> Void = { _ in }) async throws(ServingError) {
        try await service.run(onRunning)
    }

    /// Takes no more requests; ``run(onRunning:)`` returns when the last one is answered.
    package func stop() async { await service.stop() }
}

/// All paths.
struct ServerRoutes: Sendable {
    let outbox: Outbox
    let state: @Sendable () -> ServerState
    let metrics: PrometheusMetrics
    let limits: ServerLimits
    let batches: Places
    let admission: Admission

    typealias Handler = @Sendable (Request, ServerContext) async throws -> Response

    var router: Router<ServerContext> {
        let router = Router(context: ServerContext.self)
        router.add(middleware: Reporting(metrics: metrics))
        Self.add(to: router, "/healthz", [.get: { _, _ in .json(["status": "running"]) }])
        Self.add(to: router, "/readyz", [.get: Readiness(outbox, metrics, clock: limits.clock).answer])

        let phones = PhoneRoutes(outbox, deviceCount: limits.deviceCount, state: state)
        let rates = RateLimit(burst: limits.accountBurst, clock: limits.clock)
        let gate = { (audience: Gate.Audience) in Gate(audience: audience, state: state, rates: rates) }
        let group = router.group("/v1/phones").add(middleware: gate(.phones)).add(middleware: admission)
        Self.add(to: group, "/:enrolment", [.put: phones.register, .delete: phones.unregister])
        Self.add(to: group, "/:enrolment/answers", [.post: phones.answer])
        let both = router.group("/v1/sender-set").add(middleware: gate(.both))
        Self.add(to: both, "", [.get: phones.senderSet])

        let backEnd = router.group("/v1").add(middleware: gate(.backEnd))
        let messages = MessageRoutes(outbox: outbox, batches: batches, limits: limits, state: state)
        Self.add(to: backEnd, "/logins", [.post: phones.logIn])
        Self.add(to: backEnd, "/messages", [.post: messages.enqueue])
        Self.add(to: backEnd, "/seal", [.post: messages.seal])
        let lists = ListRoutes(outbox: outbox)
        Self.add(to: backEnd, "/devices", [.get: lists.devices])
        Self.add(to: backEnd, "/devices/:device", [.delete: lists.removeDevice])
        Self.add(to: backEnd, "/outbox", [.get: lists.status])
        Self.add(to: backEnd, "/receipts", [.get: lists.receipts])
        return router
    }

    /// A path's methods; each other one is answered with those that there are.
    static func add(
        to routes: some RouterMethods<ServerContext>, _ path: RouterPath, _ handlers: [HTTPRequest.Method: Handler]
    ) {
        for method in methods {
            let allowed = methods.filter { handlers[$0] != nil }
            routes.on(path, method: method) { request, context in
                guard let handler = handlers[method] else {
                    var problem = Problem(.methodNotAllowed, "wrong-method", "this path has other methods")
                    problem.allowed = allowed
                    throw problem
                }
                return try await handler(request, context)
            }
        }
    }

    static let methods: [HTTPRequest.Method] = [.get, .put, .post, .delete, .patch, .head, .options, .trace]
}
