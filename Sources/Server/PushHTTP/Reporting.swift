internal import CoreMetrics
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOHTTP1
internal import PushOutbox

/// The outermost middleware: turns errors into problems, gives each response its ID, counts, and logs. Logs only the
/// method, the route's pattern, and the status; nothing from a path, a body, or a caller.
struct Reporting: RouterMiddleware {
    let metrics: any MetricsFactory

    func handle(_ request: Request, context: ServerContext, next: Next) async throws -> Response {
        let start = ContinuousClock.now
        var response: Response
        do {
            try request.requireASCIITarget()
            response = try await next(request, context)
        } catch let error as HTTPParserError {
            // Hummingbird answers 400 and closes the connection.
            throw error
        } catch {
            let isKnown = Router.methods.contains(request.method.rawValue)
            let problem = isKnown ? Problem(error) : .unknownMethod
            if isKnown { Self.log(error, problem, context) }
            response = problem.response(requestID: context.requestID)
        }
        if let name = HTTPField.Name("X-Request-ID") { response.headers[name] = context.requestID }
        response.headers[.cacheControl] = "no-store"
        if request.method == .head { response = response.createHeadResponse() }
        let labels = [
            // A caller may make up methods, but a metric must have few labels.
            ("route", context.endpointPath ?? "none"),
            ("method", context.endpointPath == nil ? "other" : request.method.rawValue),
            ("status", String(response.status.code)),
        ]
        let elapsed = ContinuousClock.now - start
        Counter(label: "push_server_requests", dimensions: labels, factory: metrics).increment()
        CoreMetrics.Timer(label: "push_server_request_duration", dimensions: [labels[0]], factory: metrics)
            .recordNanoseconds(Int64(elapsed / .nanoseconds(1)))
        context.logger.debug("\(labels[1].1) \(labels[0].1) \(response.status.code)")
        return response
    }

    /// Logs a request, or a line of a batch, that failed here through no fault of the caller.
    static func log(_ error: any Error, _ problem: Problem, _ context: ServerContext) {
        guard problem.status.code >= 500 else { return }
        context.logger.error("\(context.requestID): \(words(for: error, problem))")
    }

    /// An error's description may contain a name, so only its type is logged. The outbox's errors and ours are public.
    static func words(for error: any Error, _ problem: Problem) -> String {
        switch error {
        case let error as OutboxError: error.description
        case is Problem: problem.detail
        default: "\(problem.detail): \(type(of: error))"
        }
    }
}
