internal import Hummingbird
internal import PushOutbox
package import PushSender
internal import SealedPush

/// One message to be kept and delivered.
struct MessageOrder: Sendable {
    let content: Content
    let audience: Audience
    let priority: PushPriority
    let expiration: Timestamp?
    let includesUnverified: Bool
    let key: IdempotencyKey?

    init(_ members: [String: JSONValue]) throws {
        var reader = OrderReader(members)
        let user = try reader.optional("user", "1 to 128 bytes of visible text") {
            $0.string.flatMap(UserName.init(parsing:))
        }
        let device = try reader.optional("device", "the name of a device") {
            $0.string.flatMap(DeviceName.init(parsing:))
        }
        let all = try reader.optional("all", "true") { $0.bool == true ? true : nil }
        switch (user, device, all) {
        case (let user?, nil, nil): audience = .user(user)
        case (nil, let device?, nil): audience = .device(device)
        case (nil, nil, true?): audience = .everyone
        default: throw Problem.malformed("a message is for a user, a device or all: say one of the three")
        }
        key = try reader.optional("key", "1 to 256 bytes of text") { $0.string.flatMap { IdempotencyKey($0) } }
        includesUnverified = try reader.flag("unverified")
        (priority, expiration) = try reader.delivery()
        content = try reader.content()
        try reader.end("user, device, all, content, key, priority, expiration and unverified")
    }
}

/// One message to be sealed.
struct SealOrder: Sendable {
    let content: Content
    let target: Target
    /// Nil where nothing was said.
    let reserve: Int?
    let priority: PushPriority
    let expiration: Timestamp?
    let includesUnverified: Bool

    enum Target: Sendable {
        case device(DeviceName)
        /// Of a database that is the only store.
        case enrolled(EnrolledDevice)
        case recipient(Recipient)
    }

    /// - Parameter isUnverifiedAllowed: whether that was said for all of them.
    init(_ members: [String: JSONValue], isUnverifiedAllowed: Bool = false) throws {
        var reader = OrderReader(members)
        includesUnverified = try reader.flag("unverified") || isUnverifiedAllowed
        let device = try reader.optional("device", "the name of a device") {
            $0.string.flatMap(DeviceName.init(parsing:))
        }
        let recipient = try reader.optional("recipient", "push1…") { $0.string.flatMap { try? Recipient(parsing: $0) } }
        let enrolled = try reader.enrolled()
        switch (device, recipient, enrolled) {
        case (let device?, nil, nil): target = .device(device)
        case (nil, let recipient?, nil):
            guard includesUnverified else { throw Self.unverified }
            target = .recipient(recipient)
        case (nil, nil, let enrolled?): target = .enrolled(enrolled)
        default:
            throw Problem.malformed(
                "a message is sealed for a device, for a recipient, or for a record with its enrolment and proven: say one"
            )
        }
        reserve = try reader.optional("reserve", "0 to \(Sealer.maximumReserve)") { value in
            value.integer.flatMap { (0...Int64(Sealer.maximumReserve)).contains($0) ? Int($0) : nil }
        }
        (priority, expiration) = try reader.delivery()
        content = try reader.content()
        try reader.end(
            "device, recipient, record, enrolment, proven, content, reserve, priority, expiration and unverified")
    }

    /// - Parameter target: where the order names a device, what is known of it.
    func sealed(
        by sealer: Sealer, for target: Target? = nil, reserve: Int = 0
    ) throws -> [String: JSONValue] {
        let recipient: Recipient
        switch target ?? self.target {
        case .device:
            throw Problem.malformed(
                "only a service knows devices by name", hint: "Give the record with its enrolment and proven keys.")
        case .enrolled(let enrolled):
            guard enrolled.record.topic == sealer.topic else { throw RecordError.otherTopic }
            recipient = try enrolled.recipient(at: .now()).recipient
        case .recipient(let given): recipient = given
        }
        let payload = try sealer.seal(content, toUnverified: recipient, reserve: self.reserve ?? reserve)
        return payload.request(priority, expiration: expiration)
    }

    static let unverified = Problem(
        .conflict, "unverified", "nobody vouches for this key",
        hint: "Hand over the device's record with its enrolment and proven keys, or say \"unverified\": true.")
}

/// An order's members, one by one; one that nobody has asked for is an error, as it may be a misspelt one.
private struct OrderReader {
    private var rest: [String: JSONValue]

    init(_ members: [String: JSONValue]) { rest = members }

    mutating func optional<Value>(
        _ name: String, _ rule: String, _ read: (JSONValue) -> Value?
    ) throws(Problem) -> Value? {
        guard let member = rest.removeValue(forKey: name) else { return nil }
        guard let value = read(member) else { throw .malformed("\"\(name)\" is not what it must be: \(rule)") }
        return value
    }

    mutating func flag(_ name: String) throws(Problem) -> Bool { try optional(name, "true or false", \.bool) ?? false }

    mutating func content() throws -> Content {
        guard case .object(let members)? = rest.removeValue(forKey: "content") else {
            throw Problem.malformed("there is no \"content\", which is an object with an \"alert\" in it")
        }
        return try Content(members: members)
    }

    mutating func delivery() throws(Problem) -> (PushPriority, Timestamp?) {
        let priority = try optional("priority", "immediate or considerate") { value -> PushPriority? in
            switch value.string {
            case "immediate"?: .immediate
            case "considerate"?: .considerate
            default: nil
            }
        }
        let expiration = try optional("expiration", "whole seconds since 1970") {
            $0.integer.flatMap(Timestamp.init(secondsSince1970:))
        }
        return (priority ?? .immediate, expiration)
    }

    mutating func enrolled() throws -> EnrolledDevice? {
        let record = try optional("record", "pushrecord.…", \.string)
        let enrolment = try optional("enrolment", "pushenrolment1…") {
            $0.string.flatMap { try? Enrolment(parsing: $0) }
        }
        let proven = try optional("proven", "a list of push1…") { value -> [Recipient]? in
            guard case .array(let texts) = value, texts.count <= 16 else { return nil }
            let recipients = texts.compactMap { $0.string.flatMap { try? Recipient(parsing: $0) } }
            return recipients.count == texts.count ? recipients : nil
        }
        guard record != nil || enrolment != nil || proven != nil else { return nil }
        guard let record, let enrolment, let proven else {
            throw Problem.malformed("record, enrolment and proven belong together")
        }
        return try EnrolledDevice(loading: enrolment, record: DeviceRecord(parsing: record), proven: proven)
    }

    /// What is left is not repeated: it may be anything.
    func end(_ known: String) throws(Problem) {
        guard !rest.isEmpty else { return }
        throw .malformed("there is a member that this request does not have; it has \(known)")
    }
}

extension SealedPayload {
    /// Specification 2.6: what a request to Apple is made of.
    fileprivate func request(_ priority: PushPriority, expiration: Timestamp?) -> [String: JSONValue] {
        var headers: [String: JSONValue] = [
            "apns-push-type": "alert", "apns-priority": .string(String(priority.rawValue)),
            "apns-topic": .string(topic.description), "apns-id": .string(apnsID),
            "apns-collapse-id": .string(collapseID),
        ]
        if let moment = expiration ?? expires { headers["apns-expiration"] = .string(String(moment.secondsSince1970)) }
        return [
            "payload": .string(String(decoding: json, as: UTF8.self)), "payloadBytes": .integer(Int64(json.count)),
            "headers": .object(headers), "id": .string(messageID.description),
            "recipient": .string(recipient.description),
        ]
    }
}

/// Many messages to be sealed, without a service: a line each in and out, as `/v1/seal` takes and answers them.
package struct SealBatch: Sendable {
    private let sealer: Sealer
    private let reserve: Int
    private let isUnverifiedAllowed: Bool

    /// - Parameters:
    ///   - reserve: where a line does not say: 0 to ``Sealer/maximumReserve``.
    ///   - isUnverifiedAllowed: whether keys count that nobody vouches for, whatever a line says.
    package init(from sealer: Sealer, reserve: Int, isUnverifiedAllowed: Bool) {
        self.sealer = sealer
        self.reserve = reserve
        self.isUnverifiedAllowed = isUnverifiedAllowed
    }

    /// The answer to a line, as JSON without a line's end, and whether it was sealed.
    package func answer(_ line: [UInt8]) -> (json: [UInt8], isSealed: Bool) {
        var writer = JSONWriter(reservingByteCount: 5_120)
        do {
            guard line.count <= Self.maximumLineByteCount else {
                throw Problem(.contentTooLarge, "body-too-large", "the line is too long")
            }
            let order = try SealOrder(try Request.members(line), isUnverifiedAllowed: isUnverifiedAllowed)
            let sealed = try order.sealed(by: sealer, reserve: reserve)
            writer.value(.object(sealed.merging(["status": 200]) { $1 }))
            return (writer.bytes, true)
        } catch {
            writer.value(Problem(error).json())
            return (writer.bytes, false)
        }
    }

    package static let maximumLineByteCount = ServerLimits.bodyByteCount
}
