internal import CoreMetrics
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import PushCore
internal import PushOutbox
internal import SealedPush

/// The context of a request while it is routed and handled.
struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The login's user, or `nil` for the back end.
    var user: UserName?
    var query: [String: String] = [:]

    /// The request's ID in the log and in the response.
    let requestID: String

    init(source: Source) {
        coreContext = .init(source: source)
        // A logger whose log keeps no metadata doesn't have the ID.
        requestID = source.logger[metadataKey: "hb.request.id"]?.description ?? RequestID().description
    }

    /// Returns a part of the path, decoded.
    func part(_ name: String) -> String? { parameters.get(name)?.removingPercentEncoding }
}

/// The next handler of a middleware.
typealias Next = (Request, ServerContext) async throws -> Response

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

extension Response {
    static func json(
        _ value: JSONValue, status: HTTPResponse.Status = .ok, type: String = "application/json"
    ) -> Response {
        var writer = JSONWriter(reservingByteCount: 1_024)
        writer.value(value)
        return .json(writer.bytes, status: status, type: type)
    }

    static func json(_ bytes: [UInt8], status: HTTPResponse.Status, type: String = "application/json") -> Response {
        Response(status: status, headers: [.contentType: type], body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

extension Request {
    /// Returns a header's value, or `nil` if there is none. The text is repaired before it arrives here: bytes that aren't
    /// UTF-8 are all one character, so that different bytes could become one name.
    ///
    /// - Throws: `malformed` if the header is given more than once, or isn't ASCII.
    func text(of name: HTTPField.Name) throws(Problem) -> String? {
        let values = headers[values: name]
        guard values.count <= 1, values.first?.utf8.allSatisfy({ $0 < 0x80 }) ?? true
        else { throw .malformed("the \(name) header must be given once and consist of ASCII characters") }
        return values.first
    }

    /// Other bytes of a path or query must be percent-encoded, where bytes that aren't UTF-8 are refused. See ``text(of:)``.
    fileprivate func requireASCIITarget() throws(Problem) {
        guard uri.description.utf8.allSatisfy({ $0 < 0x80 })
        else { throw .malformed("the path or query is not correctly percent-encoded") }
    }

    /// Returns the members of the body's JSON object.
    func members(upTo limit: Int = ServerLimits.bodyByteCount) async throws -> JSONMembers {
        guard mediaType == "application/json" else { throw Self.wrongType("application/json") }
        return try Self.members(try await wholeBody(upTo: limit).readableBytesView)
    }

    /// Returns the query's parameters. Unknown and repeated ones are refused. A `+` is a space, as in form data.
    func query(_ known: [String]) throws(Problem) -> [String: String] {
        var query: [String: String] = [:]
        for part in (uri.query ?? "").split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.replacing("+", with: " ").removingPercentEncoding
            }
            guard let name = pair[0], let value = pair.count > 1 ? pair[1] : ""
            else { throw .malformed("the query is not correctly percent-encoded") }
            guard known.contains(where: name.hasBytes), query.updateValue(value, forKey: name) == nil else {
                throw .malformed(
                    known.isEmpty
                        ? "this path takes no query"
                        : "the query may have, at most once each: \(known.joined(separator: ", "))")
            }
        }
        return query
    }

    func wholeBody(upTo limit: Int) async throws -> ByteBuffer {
        guard try text(of: .contentEncoding).map({ $0.lowercased() == "identity" }) ?? true
        else { throw Problem.encoded }
        do { return try await body.collect(upTo: limit) } catch let error as HTTPParserError { throw error } catch {
            throw error is NIOTooManyBytesError ? Problem.tooLarge : .malformed("the request's body was cut off")
        }
    }

    /// Returns the members of one object, with enough depth for the content in it. The bytes are in contiguous storage,
    /// such as an array or a buffer. `isLine` says whether they are a line of a batch.
    static func members(_ bytes: some Collection<UInt8>, isLine: Bool = false) throws(Problem) -> JSONMembers {
        guard bytes.count <= ServerLimits.bodyByteCount else { throw .tooLarge }
        do throws(JSONFault) {
            return try JSONReader.members(
                bytes.withoutByteOrderMark, maximumDepth: JSONReader.maximumDepth + 1, isForSealing: true)
        } catch { throw .malformed("this is not one JSON object: \(isLine ? error.placeInLine : error.description)") }
    }

    /// The media type without its parameters; nil if there is none, or if the header has more than 256 bytes.
    var mediaType: String? {
        guard let value = try? text(of: .contentType), value.utf8.count <= 256 else { return nil }
        return value.prefix { !"; \t".contains($0) }.lowercased()
    }

    static func wrongType(_ wanted: String) -> Problem {
        Problem(
            .unsupportedMediaType, "wrong-media-type", "the request's body has the wrong media type",
            hint: "Send the header Content-Type: \(wanted).")
    }
}

package struct ServerLimits: Sendable {
    /// The number of requests that an account can send at once, plus one more per second.
    package var accountBurst = 60
    /// The clock for rate limits and cached counts.
    package var clock: @Sendable () -> ContinuousClock.Instant = { .now }
    /// The number of phone requests processed at once; further ones wait their turn.
    package var admittedCount = 16
    /// The longest time that phone requests wait: half as long as a phone waits for a response.
    package var admissionPatience = Duration.seconds(5)
    /// The number of devices per account, so that a stolen login can't fill the outbox.
    package var deviceCount = 100
    /// The number of batches processed at once, up to 16 MiB each; further ones wait.
    package var batchCount = 8
    /// The longest time that batches wait: short enough that the request's own deadline leaves time for the body.
    package var batchPatience = Duration.seconds(10)
    /// The number of connections at each listener. Fewer if the process may open only a few files.
    package var connectionCount = 4_096
    /// The time allowed from a phone's connection to the head of its first request.
    package var firstHeadTime = Duration.seconds(5)
    /// The time allowed for sending a whole request, and for receiving the whole response.
    package var requestTime = Duration.seconds(30)
    /// The time allowed before a back end's first request, and between two requests.
    package var idleTime = Duration.seconds(30)
    /// The longest time that `/readyz` waits for the outbox: less than a database call may take.
    package var readinessPatience = Duration.seconds(2)

    package init() {}

    /// For one message and its surrounding JSON; content that will be truncated may be larger than a push.
    static let bodyByteCount = 65_536
    /// For a batch.
    static let batchByteCount = 16 << 20
    static let batchLineCount = 1_000
}
