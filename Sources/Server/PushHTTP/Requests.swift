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

/// What a request carries on its way to its route.
struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Whose login it is; nil for the back end.
    var user: UserName?
    /// The query's parameters, by name.
    var query: [String: String] = [:]

    /// What the log and the caller know the request by.
    let requestID: String

    init(source: Source) {
        coreContext = .init(source: source)
        // Where a log keeps no metadata, its logger has none.
        requestID = source.logger[metadataKey: "hb.request.id"]?.description ?? RequestID().description
    }

    /// A part of the path, as it was meant.
    func part(_ name: String) -> String? { parameters.get(name)?.removingPercentEncoding }
}

/// What a middleware passes a request on to.
typealias Next = (Request, ServerContext) async throws -> Response

/// The outermost: turns errors into problems, gives each answer its ID, counts and logs. What is logged is a method, the
/// route's pattern and the status; nothing of a path, a body or a caller.
struct Reporting: RouterMiddleware {
    let metrics: any MetricsFactory

    func handle(_ request: Request, context: ServerContext, next: Next) async throws -> Response {
        let start = ContinuousClock.now
        var response: Response
        do { response = try await next(request, context) } catch let error as HTTPParserError {
            // Hummingbird answers 400 and closes.
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
            // A caller may make up methods; a metric has few.
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

    /// A request, or a line of a batch, that failed here and not by the caller's fault.
    static func log(_ error: any Error, _ problem: Problem, _ context: ServerContext) {
        guard problem.status.code >= 500 else { return }
        context.logger.error("\(context.requestID): \(problem.detail): \(kind(of: error))")
    }

    /// An error's own words may hold a name, so its case alone is told; an outbox's are public.
    private static func kind(of error: any Error) -> String {
        (error as? OutboxError)?.description ?? String(describing: type(of: error))
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
    /// The members of the body's one object.
    func members(upTo limit: Int = ServerLimits.bodyByteCount) async throws -> JSONMembers {
        guard mediaType == "application/json" else { throw Self.wrongType("application/json") }
        return try Self.members(try await wholeBody(upTo: limit).readableBytesView)
    }

    /// The query's parameters, none of which may be unknown or come twice. A `+` is a space, as in what a form sends.
    func query(_ known: [String]) throws(Problem) -> [String: String] {
        var query: [String: String] = [:]
        for part in (uri.query ?? "").split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.replacing("+", with: " ").removingPercentEncoding
            }
            guard let name = pair[0], let value = pair.count > 1 ? pair[1] : ""
            else { throw .malformed("the query is not percent-encoded as it must be") }
            guard known.contains(name), query.updateValue(value, forKey: name) == nil else {
                throw .malformed(
                    known.isEmpty
                        ? "this path takes no query"
                        : "the query has once each, at most: \(known.joined(separator: ", "))")
            }
        }
        return query
    }

    func wholeBody(upTo limit: Int) async throws -> ByteBuffer {
        guard headers[.contentEncoding].map({ $0.lowercased() == "identity" }) ?? true else { throw Problem.encoded }
        do { return try await body.collect(upTo: limit) } catch let error as HTTPParserError { throw error } catch {
            throw error is NIOTooManyBytesError ? Problem.tooLarge : .malformed("the request's body was cut off")
        }
    }

    /// The members of one object, deep enough for a content in it.
    ///
    /// - Parameters:
    ///   - bytes: that lie in a row, as arrays' and buffers' do.
    ///   - isLine: whether they are a line of many.
    static func members(_ bytes: some Collection<UInt8>, isLine: Bool = false) throws(Problem) -> JSONMembers {
        guard bytes.count <= ServerLimits.bodyByteCount else { throw .tooLarge }
        do throws(JSONFault) {
            return try JSONReader.members(
                bytes.withoutByteOrderMark, maximumDepth: JSONReader.maximumDepth + 1, isForSealing: true)
        } catch { throw .malformed("this is not one JSON object: \(isLine ? error.placeInLine : error.description)") }
    }

    /// Without its parameters.
    var mediaType: String? { headers[.contentType].map { value in value.prefix { !"; \t".contains($0) }.lowercased() } }

    static func wrongType(_ wanted: String) -> Problem {
        Problem(
            .unsupportedMediaType, "wrong-media-type", "the request's body is of another kind",
            hint: "Send the header Content-Type: \(wanted).")
    }
}

/// What callers may take of a server.
package struct ServerLimits: Sendable {
    /// Requests of one account at once; one more a second.
    package var accountBurst = 60
    /// By which accounts get more, and figures grow old.
    package var clock: @Sendable () -> ContinuousClock.Instant = { .now }
    /// Requests of phones that are worked on at once; further ones wait for their turn.
    package var admittedCount = 16
    /// How long they wait at most: half as long as a phone waits for an answer.
    package var admissionPatience = Duration.seconds(5)
    /// Devices of one account: a stolen login does not fill the outbox.
    package var deviceCount = 100
    /// Batches that are worked on at once, up to 16 MiB each; further ones wait.
    package var batchCount = 8
    /// How long they wait at most: short enough that their own request's time leaves enough for the body.
    package var batchPatience = Duration.seconds(10)
    /// Connections of back ends at once, and those of phones: each kind for itself. Fewer, if the process may open few files.
    package var connectionCount = 4_096
    /// From a phone's connection to the head of its first request.
    package var firstHeadTime = Duration.seconds(5)
    /// To send all of a request, and to take all of its answer.
    package var requestTime = Duration.seconds(30)
    /// Before a back end's first request, and between any two.
    package var idleTime = Duration.seconds(30)

    package init() {}

    /// Of one message with all around it; content that is cut may be larger than a push.
    static let bodyByteCount = 65_536
    /// Of a batch.
    static let batchByteCount = 16 << 20
    static let batchLineCount = 1_000
}
