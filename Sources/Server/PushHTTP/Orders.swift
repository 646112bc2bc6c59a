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
        var reader = MemberReader(members)
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

extension MemberReader {
    mutating func target(_ known: ParsedTexts, includesUnverified: Bool) throws -> SealOrder.Target {
        let device = try device()
        let recipient = try optional("recipient", "push1… or pushpq1…") { $0.string.flatMap(known.recipient) }
        switch (device, recipient, try enrolled(known)) {
        case (let device?, nil, nil): return .device(device)
        case (nil, let recipient?, nil):
            guard includesUnverified else { throw SealOrder.unverified }
            return .recipient(recipient)
        case (nil, nil, let enrolled?): return .enrolled(enrolled)
        default:
            throw Problem.malformed(
                "a message needs exactly one of `device`, `recipient`, and `record` with its `enrollment` and `proven`"
            )
        }
    }

    mutating func content() throws -> (Content, suspects: [String]) {
        let rule = "an object with an \"alert\""
        guard let members = try members("content", rule)
        else { throw Problem.malformed("there is no \"content\"; expected \(rule)") }
        let content = try Content(members: members)
        guard !content.isExpired(at: .now()) else { throw Problem.past("content.expires") }
        return (content, Content.suspectMembers(in: members))
    }

    mutating func delivery() throws(Problem) -> (PushPriority, Timestamp?) {
        let priority = try optional("priority", "immediate or considerate") { value in
            value.string.flatMap { text in PushPriority.allCases.first { text.hasBytes(of: "\($0)") } }
        }
        let expiration = try optional("expiration", Content.momentRule) {
            $0.integer.flatMap(Timestamp.init(secondsSince1970:))
        }
        // Zero is Apple's value for "try once".
        if let expiration, expiration.secondsSince1970 != 0, expiration < .now() { throw .past("expiration") }
        return (priority ?? .immediate, expiration)
    }

    mutating func enrolled(_ known: ParsedTexts) throws -> EnrolledDevice? {
        let record = try optional("record", "pushrecord.…", \.string)
        let enrollment = try optional("enrollment", "pushenrollment1…") {
            $0.string.flatMap { text in try? known.value(text) { try EnrollmentPublicKey(parsing: $0) } }
        }
        let proven = try optional("proven", "a list of push1… or pushpq1…") { value -> [DevicePublicKey]? in
            guard case .array(let texts) = value, texts.count <= 16 else { return nil }
            let recipients = texts.compactMap { $0.string.flatMap(known.recipient)?.key }
            return recipients.count == texts.count ? recipients : nil
        }
        guard record != nil || enrollment != nil || proven != nil else { return nil }
        guard let record, let enrollment, let proven
        else { throw Problem.malformed("`record`, `enrollment`, and `proven` must be provided together") }
        return try EnrolledDevice(
            loading: enrollment, record: known.value(record) { try DeviceRecord(parsing: $0) }, proven: proven)
    }
}
