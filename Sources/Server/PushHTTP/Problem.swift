internal import HTTPTypes
internal import Hummingbird
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// Why a request was not carried out, as RFC 9457 has it: a status, a stable code, a sentence, and what to do. Never holds
/// anything of a message.
struct Problem: Error {
    let status: HTTPResponse.Status
    let code: String
    let detail: String
    var hint: String?
    /// Members beside those.
    var more: [String: JSONValue] = [:]
    /// Header fields beside those of each problem.
    let fields: HTTPFields
    /// In seconds.
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

    static func malformed(_ detail: String, hint: String? = nil) -> Problem {
        Problem(.badRequest, "malformed", detail, hint: hint)
    }

    /// - Parameter allowed: the methods that the path has, as `Allow` names them.
    static func wrongMethod(_ allowed: String) -> Problem {
        Problem(
            .methodNotAllowed, "wrong-method", "this path does not have this method", hint: "It has \(allowed).",
            fields: [.allow: allowed])
    }

    static let unknownMethod = Problem(.notImplemented, "unknown-method", "no path here has this method")

    static let encoded = Problem(
        .unsupportedMediaType, "encoded", "the request's body is compressed, or encoded otherwise",
        hint: "Send it as it is, without Content-Encoding.", fields: [.acceptEncoding: "identity"])

    /// It would be taken, and never tried.
    static func past(_ name: String) -> Problem {
        Problem(
            .unprocessableContent, "past", "\"\(name)\" is in the past",
            hint: "Give \(Content.momentRule); or leave it out.")
    }

    static let tooLarge = Problem(.contentTooLarge, "body-too-large", "the message, or the whole body, is too large")

    static func unauthorized(_ hint: String) -> Problem {
        Problem(.unauthorized, "unauthorized", "the request shows no token that is valid here", hint: hint)
    }

    static func unavailable(_ detail: String, retryAfter: Int = 10) -> Problem {
        Problem(
            .serviceUnavailable, "unavailable", detail,
            hint: "Nothing was done. Ask again after the time in Retry-After.", retryAfter: retryAfter)
    }

    static let noSender = Problem(
        .serviceUnavailable, "no-sender", "the sender's keys are revoked or gone, and there is no other",
        hint: "Nothing was done. Ask again when the service's operator has put another key in place.", retryAfter: 60)

    static let doubtfulSender = Problem(
        .serviceUnavailable, "keys-unread", "the sender's keys could not be read again, and may be revoked meanwhile",
        hint: "Requests are answered as before. The service's log says what is the matter.", retryAfter: 10)

    /// - Parameters:
    ///   - requestID: what the operator's log calls the request; nil for a line of a batch.
    ///   - line: the line's number.
    func json(requestID: String? = nil, line: Int? = nil) -> JSONValue {
        var members: [String: JSONValue] = [
            // From the repository's root; what is called what there stays so.
            "type": .string("/Docs/Codes.md#\(code)"), "title": .string(status.reasonPhrase),
            "status": .integer(Int64(status.code)), "code": .string(code), "detail": .string(detail),
        ]
        if let requestID { members["request"] = .string(requestID) }
        if let line { members["line"] = .count(line) }
        if let hint { members["hint"] = .string(hint) }
        return .object(members.merging(more) { first, _ in first })
    }

    func response(requestID: String) -> Response {
        var response = Response.json(json(requestID: requestID), status: status, type: "application/problem+json")
        response.headers.append(contentsOf: fields)
        if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        if status == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }
}

// MARK: - What the libraries say

extension Problem {
    init(_ error: any Error) {
        switch error {
        case let error as Problem: self = error
        case let error as OutboxError: self.init(error)
        case let error as SealError: self.init(error)
        case let error as ContentError: self.init(.unprocessableContent, "invalid-content", error.description)
        case let error as RecordError: self.init(error)
        case let error as ChallengeError: self.init(error)
        case let error as HTTPError:
            self =
                error.status == .notFound
                ? Problem(.notFound, "no-such-path", "there is nothing under this path")
                : Problem(error.status, "refused", "the request was refused")
        default: self = .unavailable("the request failed")
        }
    }

    private init(_ error: OutboxError) {
        switch error {
        case .unknownDevice: self.init(.notFound, "unknown-device", error.description)
        case .unknownUser: self.init(.notFound, "unknown-user", error.description)
        case .otherUser, .enrolledElsewhere, .otherEnrollment:
            self.init(
                .conflict, "enrolled-elsewhere", "another account has this device, and has proven a key of it",
                hint: "Let the app unregister there, or remove that device.")
        case .tooManyDevices:
            self.init(
                .conflict, "too-many-devices", error.description,
                hint: "Let one leave that is no longer used; the back end can remove it, too.")
        case .notEnrolled: self.init(.conflict, "not-enrolled", error.description)
        case .record(let error): self.init(error)
        case .challenge(let error): self.init(error)
        case .seal(let error): self.init(error)
        case .keyUsedForOthers:
            self.init(
                .conflict, "key-used", error.description,
                hint: "Give each message a key of its own, and repeat it as it was.")
        case .busy, .unreachable: self = .unavailable("the outbox is busy, or away")
        case .diskFull: self = .unavailable("the disk is full")
        case .damaged, .foreign, .otherSchema, .cannotOpen, .exposed, .readOnly, .database, .connection, .notPermitted,
            .server, .keyText, .keyNeeded, .otherKey, .forged:
            self = .unavailable("the outbox can't be used")
        }
    }

    private init(_ error: RecordError) {
        let status: HTTPResponse.Status =
            switch error {
            case .malformed, .wrongChecksum, .wrongType, .badSignature: .badRequest
            case .foreignSigner, .otherTopic, .rolledBack, .conflicting, .unproven: .conflict
            case .expired, .notYetValid, .unsupported: .unprocessableContent
            }
        self.init(status, error.rawValue, error.description)
    }

    private init(_ error: ChallengeError) {
        self.init(error == .malformed ? .badRequest : .conflict, error.rawValue, error.description)
    }

    private init(_ error: SealError) {
        switch error {
        case .tooLarge(let over):
            self.init(
                .unprocessableContent, "too-large", error.description,
                hint: "Shorten the text, or move what is long into an attachment.")
            more = ["bytesOver": .integer(Int64(over))]
        case .content(let error): self.init(error)
        case .otherTopic: self.init(.unprocessableContent, "other-topic", error.description)
        case .anonymousWithdrawal: self.init(.unprocessableContent, "invalid-content", error.description)
        case .anonymousToHybrid: self.init(.unprocessableContent, "unsupported", error.description)
        case .notHybrid: self.init(.conflict, "not-hybrid", error.description, hint: "Let its app make hybrid keys.")
        case .expiresTooLate(let days):
            self.init(
                .unprocessableContent, "expires-too-late", error.description,
                hint: "Let the content expire within \(days) days, or leave that out.")
        }
    }
}
