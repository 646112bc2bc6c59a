internal import PushCore
internal import PushOutbox
import PushSender

/// One message to be stored and delivered.
struct MessageOrder: Sendable {
    let content: Content
    let audience: Audience
    let priority: PushPriority
    let expiration: Timestamp?
    let includesUnverified: Bool
    let key: IdempotencyKey?
    /// The content's members with unknown names that look misspelled.
    let suspects: [String]

    /// - Parameter header: The `Idempotency-Key` header, which is equivalent to the `key` member.
    init(_ members: consuming JSONMembers, header: IdempotencyKey? = nil) throws {
        var reader = OrderReader(members)
        let user = try reader.user()
        let device = try reader.device()
        switch (user, device, try reader.flag("all")) {
        case (let user?, nil, false): audience = .user(user)
        case (nil, let device?, false): audience = .device(device)
        case (nil, nil, true): audience = .everyone
        default: throw Problem.malformed("a message needs exactly one of `user`, `device`, and `all`")
        }
        let member = try reader.optional("key", IdempotencyKey.rule) { $0.string.flatMap { IdempotencyKey($0) } }
        guard member == nil || header == nil || member == header
        else { throw Problem.malformed("\"key\" and the Idempotency-Key header differ") }
        key = member ?? header
        includesUnverified = try reader.flag("unverified")
        (priority, expiration) = try reader.delivery()
        (content, suspects) = try reader.content()
        try reader.end("user, device, all, content, key, priority, expiration, and unverified")
    }
}
