internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import PushCore
package import PushOutbox
package import SealedPush

/// The phones' paths without a listener, for tests that carry the requests themselves: same gate, same routes, no network.
package struct UnconnectedPhones: Sendable {
    private let responder: any HTTPResponder<ServerContext>
    private let state: Locked<ServerState>
    private let gate: PhoneGate

    package init(_ outbox: Outbox, state: ServerState, limits: ServerLimits = ServerLimits()) {
        let shared = Locked(state)
        let current: @Sendable () -> ServerState = { shared.withLock { $0 } }
        gate = PhoneGate(outbox, limits, state: current)
        let routes = ServerRoutes(
            outbox: outbox, metrics: PrometheusMetrics(), limits: limits, gate: gate, state: current)
        responder = routes.forPhones().buildResponder()
        self.state = shared
    }

    /// Replaces the keys and the sender set, starting with the next request.
    package func use(_ next: ServerState) { state.withLock { $0 = next } }

    /// Ends the logins of a user that were issued until now.
    package func endLogins(of user: UserName) async throws { try await gate.endLogins(of: user) }

    /// Returns a login for a user.
    package func logIn(_ user: UserName, until end: Timestamp, issued: Int64) throws -> String {
        try state.withLock { $0 }.sender().login(of: user, until: end, issued: issued)
    }

    /// Answers one request.
    package func answer(
        _ method: String, _ path: String, headers: [(name: String, value: String)], body: [UInt8]
    ) async throws -> (status: Int, body: [UInt8]) {
        guard let method = HTTPRequest.Method(method) else { return (400, []) }
        var fields = HTTPFields()
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        let request = Request(
            head: HTTPRequest(method: method, scheme: "https", authority: "push", path: path, headerFields: fields),
            body: RequestBody(buffer: ByteBuffer(bytes: body)))
        let logger = Logger(label: "phones") { _ in SwiftLogNoOpLogHandler() }
        let response = try await responder.respond(to: request, context: ServerContext(logger: logger))
        let collected = Locked<[UInt8]>([])
        try await response.body.write(Collector(collected: collected))
        return (response.status.code, collected.withLock { $0 })
    }

    private struct Collector: ResponseBodyWriter {
        let collected: Locked<[UInt8]>

        func write(_ buffer: ByteBuffer) async throws { collected.withLock { $0 += buffer.readableBytesView } }
        func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }
}

extension ServerContext {
    fileprivate init(logger: Logger) {
        coreContext = .init(source: Unconnected(logger: logger))
        requestID = RequestID().description
    }

    private struct Unconnected: RequestContextSource {
        let logger: Logger
    }
}
