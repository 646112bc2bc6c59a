internal import HTTPTypes
internal import Hummingbird
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// Why a request failed, as in RFC 9457: a status, a stable code, a sentence, and a hint. It contains no part of a message.
struct Problem: Error {
    let status: HTTPResponse.Status
    let code: String
    let detail: String
    var hint: String?
    /// Additional members.
    var more: [String: JSONValue] = [:]
    let fields: HTTPFields
    /// The value of `Retry-After`, in seconds.
    let retryAfter: Int?

    init(
        _ status: HTTPResponse.Status, _ code: String, _ detail: String, hint: String? = nil, retryAfter: Int? = nil,
        fields: HTTPFields = [:]
    ) {
        self.status = status
        self.code = code
        self.detail = detail
        self.hint = hint
        self.retryAfter = retryAfter
        self.fields = fields
    }

    static func malformed(_ detail: String) -> Problem { Problem(OrderError.malformed(detail)) }

    /// - Parameter allowed: The methods of the path, as in `Allow`.
    static func wrongMethod(_ allowed: String) -> Problem {
        Problem(
            .methodNotAllowed, "wrong-method", "this path doesn't support this method", hint: "Use \(allowed).",
            fields: [.allow: allowed])
    }

    static let unknownMethod = Problem(.notImplemented, "unknown-method", "no path supports this method")

    static let encoded = Problem(
        .unsupportedMediaType, "encoded", "the request's body is compressed or otherwise encoded",
        hint: "Send it unencoded, without Content-Encoding.", fields: [.acceptEncoding: "identity"])

    static let tooLarge = Problem(OrderError.tooLarge)

    static func unauthorized(_ hint: String) -> Problem {
        Problem(.unauthorized, "unauthorized", "the request has no valid token", hint: hint)
    }

    static func unavailable(_ detail: String, retryAfter: Int = 10) -> Problem {
        Problem(
            .serviceUnavailable, "unavailable", detail,
            hint: "The request had no effect. Try again after the time in Retry-After.", retryAfter: retryAfter)
    }

    static let noSender = Problem(
        .serviceUnavailable, "no-sender", "the sender's keys are revoked or missing, and there is no other sender",
        hint: "The request had no effect. Try again after the service's operator installs another key.", retryAfter: 60)

    static let doubtfulSender = Problem(
        .serviceUnavailable, "keys-unread", "the sender's keys could not be reread, and may have been revoked",
        hint: "Requests are still answered. See the service's log for the cause.", retryAfter: 10)

    static let filesUnread = Problem(
        .serviceUnavailable, "files-unread",
        "the service's tokens, sender set, or certificate could not be reread in time",
        hint: "Requests are still answered. See the service's log for the file.", retryAfter: 10)

    static let noSocket = Problem(
        .serviceUnavailable, "no-socket", "the socket that the service listens at was removed or replaced",
        hint: "Restart the service, and keep other programs out of the socket's folder.")

    /// `requestID` is the request's ID in the operator's log, or `nil` for a line of a batch; `line` is the line's number.
    func json(requestID: String? = nil, line: Int? = nil) -> JSONValue {
        var more = more
        if let requestID { more["request"] = .string(requestID) }
        if let line { more["line"] = .count(line) }
        return .problem(
            status: status.code, title: status.reasonPhrase, code: code, detail: detail, hint: hint, more: more)
    }

    func response(requestID: String) -> Response {
        var response = Response.json(json(requestID: requestID), status: status, type: "application/problem+json")
        response.headers.append(contentsOf: fields)
        if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        if status == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }
}

// MARK: - Errors of the libraries

extension Problem {
    init(_ error: any Error) {
        switch error {
        case let error as Problem: self = error
        case let error as OutboxError: self.init(error)
        case let error as OrderError: self.init(error)
        case let error as SealError: self.init(OrderError(error))
        case let error as ContentError: self.init(OrderError(error))
        case let error as RecordError: self.init(OrderError(error))
        case let error as ChallengeError: self.init(error)
        case let error as HTTPError:
            self =
                error.status == .notFound
                ? Problem(.notFound, "no-such-path", "there is nothing at this path")
                : Problem(error.status, "refused", "the request was refused")
        default: self = .unavailable("the request failed")
        }
    }

    private init(_ error: OutboxError) {
        switch error {
        case .unknownDevice: self.init(.notFound, "unknown-device", error.description)
        case .unknownUser: self.init(.notFound, "unknown-user", error.description)
        case .enrolledElsewhere:
            self.init(
                .conflict, "enrolled-elsewhere", "another account has this device and has proven one of its keys",
                hint: "Unregister it there, or remove that device.")
        // The service's own names are unique for each account and enrollment key, so another program chose this one.
        case .otherUser, .otherEnrollment:
            self.init(
                .conflict, "enrolled-elsewhere", "\(error), and the entry was not made by this service",
                hint: "Remove that device from the outbox, and find out which program registered it.")
        case .tooManyDevices:
            self.init(
                .conflict, "too-many-devices", error.description,
                hint: "Unregister a device that is no longer used; the back end can remove it, too.")
        case .notEnrolled: self.init(.conflict, "not-enrolled", error.description)
        case .record(let error): self.init(OrderError(error))
        case .challenge(let error): self.init(error)
        case .seal(let error): self.init(OrderError(error))
        case .keyUsedForOthers:
            self.init(
                .conflict, "key-used", error.description,
                hint: "Give each message its own key, and repeat a message unchanged.")
        case .deviceBusy: self = .unavailable("another transaction holds the device's row", retryAfter: 2)
        case .diskFull: self = .unavailable("the disk is full")
        case .tooManyOpenFiles: self = .unavailable("too many files are open")
        case .replaced:
            self = .unavailable("the outbox's file was replaced, moved, or deleted; the service must be restarted")
        // The client can do nothing about the others, and the operator's log has the reason.
        default:
            self = .unavailable(
                error.kind == .busy ? "the outbox is busy or unreachable" : "the outbox can't be used")
        }
    }

    private init(_ error: ChallengeError) {
        self.init(error == .malformed ? .badRequest : .conflict, error.rawValue, error.description)
    }

    private init(_ error: OrderError) {
        self.init(
            HTTPResponse.Status(code: error.status.rawValue, reasonPhrase: error.status.title), error.code,
            error.detail,
            hint: error.hint)
        more = error.more
    }
}
