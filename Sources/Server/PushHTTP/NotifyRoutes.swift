internal import Hummingbird
internal import PushCore
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// Notifications from programs that already run, such as cron jobs and monitoring, for all devices of the user in the path.
/// Each is durable once the response arrives.
struct NotifyRoutes: Sendable {
    let outbox: Outbox
    let state: @Sendable () -> ServerState

    /// Stores a text. `curl -d` sends a text as it is, but calls it a form.
    func text(_ request: Request, _ context: ServerContext) async throws -> Response {
        let key = try request.idempotencyKey()
        let notice: Notice
        switch request.mediaType {
        case "text/plain", "application/x-www-form-urlencoded":
            notice = try Notice(try await request.bodyText(), request)
        case "application/json": notice = try Notice(try await request.members())
        default: throw Request.wrongType("text/plain or application/json")
        }
        return try await store(notice, key, context)
    }

    /// Stores a webhook of Apprise.
    func apprise(_ request: Request, _ context: ServerContext) async throws -> Response {
        let key = try request.idempotencyKey()
        return try await store(Notice(apprise: try await request.foreignMembers()), key, context)
    }

    /// Stores a webhook of Alertmanager or Grafana.
    func alertmanager(_ request: Request, _ context: ServerContext) async throws -> Response {
        let group = try AlertGroup(try await request.foreignMembers())
        let key = IdempotencyKey.digest(of: try ["alertmanager", context.namedUser().description] + group.identity)
        return try await store(Notice(group), key, context, identifies: true)
    }

    /// - Parameter identifies: Whether the key alone identifies the notice.
    private func store(
        _ notice: Notice, _ key: IdempotencyKey?, _ context: ServerContext, identifies: Bool = false
    ) async throws -> Response {
        let (user, sealer) = (try context.namedUser(), try state().sender().sealer)
        var message = OutgoingMessage(notice.content, priority: notice.priority, key: key)
        message.fit = notice.fit
        message.mayDifferUnderKey = identifies
        // A token's keys are its own. Otherwise, its holder could use up a key that the back end is about to use, and the back
        // end's message would be refused.
        if let key, let notifier = context.notifier {
            message.key = .digest(of: ["notifier", notifier, Hex.encode(key.digest)])
        }
        let report = try await outbox.enqueue(message, to: .user(user), from: sealer)
        return .json(.object(report.json), status: .accepted)
    }
}

extension Request {
    /// Returns the body as text, without a byte order mark and the line ends after it.
    fileprivate func bodyText() async throws -> String {
        let bytes = try await wholeBody(upTo: ServerLimits.bodyByteCount).readableBytesView.withoutByteOrderMark
        guard var text = String(strictUTF8: bytes) else { throw Problem.malformed("the text is not UTF-8") }
        while text.last?.isNewline ?? false { text.removeLast() }
        return text
    }

    /// Returns the members of a JSON object whose form another program decides, so that most may be unknown.
    fileprivate func foreignMembers() async throws -> JSONMembers {
        guard mediaType == "application/json" else { throw Self.wrongType("application/json") }
        let bytes = try await wholeBody(upTo: ServerLimits.webhookByteCount).readableBytesView
        do throws(JSONFault) { return try JSONReader.members(bytes.withoutByteOrderMark) } catch {
            throw Problem.malformed("this is not one JSON object: \(error)")
        }
    }
}

extension IdempotencyKey {
    /// Returns the key for a list of texts, of any length.
    fileprivate static func digest(of texts: [String]) -> IdempotencyKey {
        let list = JSONValue.array([.string("sealedpush/v1 notify")] + texts.map(JSONValue.string))
        guard let key = IdempotencyKey(Hex.encode(BLAKE2b.hash(list.bytes, byteCount: 32)))
        else { preconditionFailure("64 digits are a key") }
        return key
    }
}
