internal import Hummingbird
internal import PushCore
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// Notifications from programs that already run, such as cron jobs: a text for all devices of the user in the path.
struct NotifyRoutes: Sendable {
    let outbox: Outbox
    let state: @Sendable () -> ServerState

    /// Stores a text, durable once the response arrives. `curl -d` sends a text as it is, but calls it a form.
    func text(_ request: Request, _ context: ServerContext) async throws -> Response {
        let key = try request.idempotencyKey().map { key in context.notifier.map { key.own(of: $0) } ?? key }
        let notice: Notice
        switch request.mediaType {
        case "text/plain", "application/x-www-form-urlencoded":
            notice = try Notice(try await request.bodyText(), request)
        case "application/json": notice = try Notice(try await request.members())
        default: throw Request.wrongType("text/plain or application/json")
        }
        return try await store(OutgoingMessage(notice.content, priority: notice.priority, key: key), context)
    }

    private func store(_ message: OutgoingMessage, _ context: ServerContext) async throws -> Response {
        let (user, sealer) = (try context.namedUser(), try state().sender().sealer)
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
}

extension IdempotencyKey {
    /// Returns the key that this one is for the holder of a token. Otherwise, the holder could use up a key that the back end
    /// is about to use, and its message would be refused.
    fileprivate func own(of notifier: String) -> IdempotencyKey {
        let bytes = Array("sealedpush/v1 notifier\0\(notifier)\0".utf8) + digest
        guard let key = IdempotencyKey(Hex.encode(BLAKE2b.hash(bytes, byteCount: 32)))
        else { preconditionFailure("64 digits are a key") }
        return key
    }
}
