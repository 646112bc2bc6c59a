internal import Hummingbird
internal import PushCore
internal import PushOutbox
package import PushSender
internal import SealedPush

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

/// One message to be sealed.
struct SealOrder: Sendable {
    let content: Content
    let target: Target
    /// The reserve, or `nil` if it wasn't given.
    let reserve: Int?
    let priority: PushPriority
    let expiration: Timestamp?
    let includesUnverified: Bool
    let suspects: [String]

    enum Target: Sendable {
        case device(DeviceName)
        /// A device from a back end's own database.
        case enrolled(EnrolledDevice)
        case recipient(KnownRecipient)
    }

    /// `known` contains the texts that earlier orders parsed. `isUnverifiedAllowed` allows unverified keys for all orders.
    init(_ members: consuming JSONMembers, known: ParsedTexts, isUnverifiedAllowed: Bool = false) throws {
        var reader = MemberReader(members)
        includesUnverified = try reader.flag("unverified") || isUnverifiedAllowed
        target = try reader.target(known, includesUnverified: includesUnverified)
        reserve = try reader.optional("reserve", "0 to \(Sealer.maximumReserve)") { value in
            value.integer.flatMap { (0...Int64(Sealer.maximumReserve)).contains($0) ? Int($0) : nil }
        }
        (priority, expiration) = try reader.delivery()
        (content, suspects) = try reader.content()
        try reader.end(
            "device, recipient, record, enrollment, proven, content, reserve, priority, expiration, and unverified")
    }

    /// Writes `Sealed` of Docs/openapi.yaml, with its members sorted by name. If it throws, nothing was written. `target`
    /// contains the device's keys, if the order names a device; `line` is the line in a batch, or `nil` if there's none.
    func seal(
        by sealer: Sealer, for target: Target? = nil, reserve: Int = 0, to writer: inout JSONWriter, line: AnswerLine?
    ) throws {
        let recipient: KnownRecipient
        var keeps: Int?
        switch target ?? self.target {
        case .device:
            throw Problem.malformed(
                "only a service can find devices by name", hint: "Give the record with its enrollment and proven keys.")
        case .enrolled(let enrolled):
            guard enrolled.record.topic == sealer.topic else { throw RecordError.otherTopic }
            let verified = try enrolled.recipient(at: .now())
            (recipient, keeps) = (KnownRecipient(key: verified.recipient), verified.keeps)
        case .recipient(let given): recipient = given
        }
        if let keeps, let expiration { try Sealer.check(expiration, keeping: keeps, at: .now()) }
        let payload = try sealer.seal(content, to: recipient.key, keeping: keeps, reserve: self.reserve ?? reserve)
        // Source: Specification 2.6.
        writer.object { sealed in
            sealed.object("headers") { headers in
                headers.string("apns-collapse-id", payload.collapseID)
                headers.string("apns-expiration", (expiration ?? payload.expires).map { String($0.secondsSince1970) })
                headers.string("apns-id", payload.apnsID)
                headers.string("apns-priority", String(payload.priority(priority).rawValue))
                headers.string("apns-push-type", payload.isBackground ? "background" : "alert")
                headers.string("apns-topic", payload.topic.description)
            }
            sealed.messageID("id", payload.messageID)
            sealed.integer("line", line.map { Int64($0.number) })
            sealed.string("payload", utf8: payload.json)
            sealed.integer("payloadBytes", Int64(payload.json.count))
            sealed.string("recipient", recipient.text)
            sealed.string("sender", sealer.senderText ?? SealedBy.anonymous.description)
            sealed.integer("status", line.map { Int64($0.status) })
            sealed.value("warnings", .warnings(suspects))
        }
    }

    static let unverified = Problem(
        .conflict, "unverified", "this key is unverified",
        hint: "Give the device's record with its enrollment and proven keys, or set \"unverified\": true.")
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

/// Seals many messages without a service, one line each in and out, in the format of `/v1/seal`.
package struct SealBatch: Sendable {
    private let sealer: Sealer
    private let reserve: Int
    private let isUnverifiedAllowed: Bool
    private let known = ParsedTexts()

    /// `reserve` is the default for lines without a reserve: 0 to ``Sealer/maximumReserve``. `isUnverifiedAllowed` allows
    /// unverified keys on every line.
    package init(from sealer: Sealer, reserve: Int, isUnverifiedAllowed: Bool) {
        self.sealer = sealer
        self.reserve = reserve
        self.isUnverifiedAllowed = isUnverifiedAllowed
    }

    /// Writes the response to a line, numbered from 1, on a separate line. Returns false if the line wasn't sealed.
    package func answer(_ line: [UInt8], _ number: Int, to answers: inout JSONWriter) -> Bool {
        defer { answers.endLine() }
        do {
            let order = try SealOrder(
                try Request.members(line, isLine: true), known: known, isUnverifiedAllowed: isUnverifiedAllowed)
            try order.seal(by: sealer, reserve: reserve, to: &answers, line: (number, 200))
            return true
        } catch {
            answers.value(Problem(error).json(line: number))
            return false
        }
    }

    package static let maximumLineByteCount = ServerLimits.bodyByteCount
}
