internal import Hummingbird
internal import PushCore
internal import PushOutbox
internal import SealedPush

extension Router<ServerContext> {
    /// Creates the basis of each listener: it counts requests, turns errors into problems, and answers `/healthz`.
    convenience init(reportingTo metrics: PrometheusMetrics, behind gate: SocketGate? = nil) {
        self.init(context: ServerContext.self, options: .autoGenerateHeadEndpoints)
        add(middleware: Reporting(metrics: metrics))
        if let gate { add(middleware: gate) }
        get("/healthz") { _, _ in Response.json(["status": "running"]) }
    }

    /// Answers 405, with `Allow`, if a path exists but not with this method. Call this after adding all routes.
    func refusingOtherMethods() -> Self {
        for (path, routes) in Dictionary(grouping: routes, by: { $0.path.description }) {
            var own = Set(routes.map { $0.method.rawValue })
            if own.contains("GET") { own.insert("HEAD") }
            let allowed = own.sorted().joined(separator: ", ")
            let refuse: @Sendable (Request, ServerContext) async throws -> Response = { _, _ in
                throw Problem.wrongMethod(allowed)
            }
            for name in Self.methods where !own.contains(name) {
                if let method = HTTPRequest.Method(name) { on(RouterPath(path), method: method, use: refuse) }
            }
        }
        return self
    }

    static var methods: [String] {
        ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "QUERY"]
    }

    /// Adds `/readyz`, which says whether the outbox is writable and the sender usable. It needs no token, so it writes at
    /// most once a second. Returns the group for other paths that need no token.
    @discardableResult func addReadiness(
        of outbox: Outbox, _ readiness: Readiness, _ limits: ServerLimits, at place: ServerPlace
    ) -> RouterGroup<ServerContext> {
        let isWritable = Cache<Bool, Void>(clock: limits.clock) { _ in try await outbox.requireWritable() }
        let group = group().add(middleware: HostGate(place: place))
        group.get("/readyz") { _, _ in
            if let obstacle = readiness.obstacle { throw obstacle }
            let (answers, answer) = AsyncThrowingStream<Void, any Error>.makeStream()
            Task { do { answer.yield(try await isWritable.value(true)) } catch { answer.finish(throwing: error) } }
            Task {
                try await Task.sleep(for: limits.readinessPatience)
                answer.finish()
            }
            for try await _ in answers { return Response.json(["status": "ready"]) }
            throw Problem.unavailable("the outbox does not respond")
        }
        return group
    }
}
