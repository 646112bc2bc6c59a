internal import Hummingbird
internal import PushOutbox
import PushSender

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
