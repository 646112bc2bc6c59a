package import PushSender
package import SealedPush

/// Why an order wasn't carried out: a class, a stable code, a sentence, and a hint. It contains no part of a message.
package struct OrderError: Error, Sendable, Equatable {
    /// The class, by HTTP's number for it.
    package enum Status: Int, Sendable, CaseIterable {
        case badRequest = 400
        case conflict = 409
        case contentTooLarge = 413
        case unprocessableContent = 422

        /// HTTP's phrase.
        package var title: String {
            switch self {
            case .badRequest: "Bad Request"
            case .conflict: "Conflict"
            case .contentTooLarge: "Content Too Large"
            case .unprocessableContent: "Unprocessable Content"
            }
        }
    }

    package let status: Status
    /// A code of Docs/Codes.md.
    package let code: String
    package let detail: String
    package let hint: String?
    /// Additional members of the JSON form.
    package let more: [String: JSONValue]

    package init(
        _ status: Status, _ code: String, _ detail: String, hint: String? = nil, more: [String: JSONValue] = [:]
    ) {
        self.status = status
        self.code = code
        self.detail = detail
        self.hint = hint
        self.more = more
    }

    package static func malformed(_ detail: String, hint: String? = nil) -> OrderError {
        OrderError(.badRequest, "malformed", detail, hint: hint)
    }

    /// Such a message would be accepted but never sent.
    static func past(_ name: String) -> OrderError {
        OrderError(
            .unprocessableContent, "past", "\"\(name)\" is in the past",
            hint: "Use \(Content.momentRule), or leave it out.")
    }

    package static let tooLarge = OrderError(
        .contentTooLarge, "body-too-large", "the message or the whole body is too large")

    package static let unverified = OrderError(
        .conflict, "unverified", "this key is unverified",
        hint: "Give the device's record with its enrollment and proven keys, or set \"unverified\": true.")

    /// Returns the error's JSON form for a line of a batch, as in RFC 9457.
    package func json(line: Int) -> JSONValue {
        .problem(
            status: status.rawValue, title: status.title, code: code, detail: detail, hint: hint,
            more: more.merging(["line": .count(line)]) { $1 })
    }
}

// MARK: - Errors of the libraries

extension OrderError {
    package init(_ error: ContentError) { self.init(.unprocessableContent, "invalid-content", error.description) }

    package init(_ error: RecordError) {
        let status: Status =
            switch error {
            case .malformed, .malformedState, .wrongChecksum, .wrongType, .badSignature: .badRequest
            case .foreignSigner, .otherTopic, .otherService, .rolledBack, .conflicting, .unproven: .conflict
            case .expired, .notYetValid, .unsupported: .unprocessableContent
            }
        self.init(status, error.rawValue, error.description)
    }

    package init(_ error: SealError) {
        switch error {
        case .tooLarge(let over):
            self.init(
                .unprocessableContent, "too-large", error.description,
                hint: "Shorten the text, or move long parts into an attachment.",
                more: ["bytesOver": .integer(Int64(over))])
        case .content(let error): self.init(error)
        case .otherTopic: self.init(.unprocessableContent, "other-topic", error.description)
        case .anonymousWithdrawal: self.init(.unprocessableContent, "invalid-content", error.description)
        case .anonymousToHybrid: self.init(.unprocessableContent, "unsupported", error.description)
        case .notHybrid: self.init(.conflict, "not-hybrid", error.description, hint: "Let the app create hybrid keys.")
        case .expiresTooLate(let days):
            self.init(
                .unprocessableContent, "expires-too-late", error.description,
                hint: "Let it expire within \(days) days, or omit the expiration; sent must not be older than that.")
        }
    }
}

extension JSONValue {
    /// Returns a problem as in RFC 9457.
    package static func problem(
        status: Int, title: String, code: String, detail: String, hint: String?, more: [String: JSONValue]
    ) -> JSONValue {
        var members: [String: JSONValue] = [
            // Relative to the repository's root; the anchors are stable.
            "type": .string("/Docs/Codes.md#\(code)"), "title": .string(title), "status": .count(status),
            "code": .string(code), "detail": .string(detail),
        ]
        if let hint { members["hint"] = .string(hint) }
        return .object(members.merging(more) { first, _ in first })
    }
}
