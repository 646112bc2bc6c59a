internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import PushOutbox
package import PushSender
package import SealedPush

/// What a back end sends: messages to be kept and delivered, or to be sealed for it to deliver. One in a request, or up to
/// 1,000, a line each, of which each gets an answer of its own.
struct MessageRoutes: Sendable {
    let outbox: Outbox
    let state: @Sendable () -> ServerState

    /// Durable when it is answered.
    func enqueue(_ request: Request, _ context: ServerContext) async throws -> Response {
        // In their order, so that of two messages for one device the first goes first.
        try await answer(request, status: .accepted, isParallel: false) { members in
            let order = try MessageOrder(members)
            let report = try await outbox.enqueue(
                order.content, to: order.audience, from: state().sealer, priority: order.priority,
                expiration: order.expiration, includingUnverified: order.includesUnverified, key: order.key)
            return [
                "enqueued": .integer(Int64(report.enqueuedCount)),
                "alreadyEnqueued": .integer(Int64(report.alreadyEnqueuedCount)),
                "skipped": .object(
                    Dictionary(
                        uniqueKeysWithValues: report.skipped.map { ($0.key.rawValue, .integer(Int64($0.value))) })),
            ]
        }
    }

    /// Nothing is kept.
    func seal(_ request: Request, _ context: ServerContext) async throws -> Response {
        try await answer(request, status: .ok, isParallel: true) { members in
            let order = try SealOrder(members)
            let recipient: Recipient
            switch order.target {
            case .device(let name):
                guard let device = try await outbox.device(name) else { throw OutboxError.unknownDevice }
                switch device.keys {
                case .enrolled(let enrolled): recipient = try enrolled.recipient(at: .now()).recipient
                case .unverified(let given):
                    guard order.includesUnverified else { throw SealOrder.unverified }
                    recipient = given
                }
            case .enrolled(let enrolled):
                guard enrolled.record.topic == state().sealer.topic else { throw RecordError.otherTopic }
                recipient = try enrolled.recipient(at: .now()).recipient
            case .recipient(let given): recipient = given
            }
            let payload = try state().sealer.seal(order.content, toUnverified: recipient, reserve: order.reserve)
            return payload.request(order.priority, expiration: order.expiration)
        }
    }

    // MARK: One, or many

    private func answer(
        _ request: Request, status: HTTPResponse.Status, isParallel: Bool,
        _ work: @escaping @Sendable ([String: JSONValue]) async throws -> [String: JSONValue]
    ) async throws -> Response {
        guard request.mediaType == Self.lines else {
            guard request.mediaType == "application/json" else {
                throw Request.wrongType("application/json, or \(Self.lines) for up to 1000 messages, a line each")
            }
            return .json(.object(try await work(try await request.members())), status: status)
        }
        let body = try await request.body.collect(upTo: ServerLimits.batchByteCount)
        let lines = body.readableBytesView.split(separator: 0x0a).filter { !$0.allSatisfy { $0 == 0x0d || $0 == 0x20 } }
        guard lines.count <= ServerLimits.batchLineCount else {
            throw Problem(
                .contentTooLarge, "too-many-lines", "a batch has at most \(ServerLimits.batchLineCount) lines")
        }
        let one: @Sendable (ByteBufferView) async -> JSONValue = { line in
            do {
                guard line.count <= ServerLimits.bodyByteCount else {
                    throw Problem(.contentTooLarge, "body-too-large", "the line is too long")
                }
                let answer = try await work(try Request.members(Array(line)))
                return .object(answer.merging(["status": .integer(Int64(status.code))]) { $1 })
            } catch { return Problem(error).json(requestID: "") }
        }
        var answers: [JSONValue] = []
        if isParallel {
            let share = max(32, (lines.count + 3) / 4)
            answers = await withTaskGroup(of: (Int, [JSONValue]).self) { group in
                for start in stride(from: 0, to: lines.count, by: share) {
                    let part = lines[start..<min(start + share, lines.count)]
                    group.addTask {
                        var answers: [JSONValue] = []
                        for line in part { answers.append(await one(line)) }
                        return (start, answers)
                    }
                }
                var parts: [(Int, [JSONValue])] = []
                for await part in group { parts.append(part) }
                return parts.sorted { $0.0 < $1.0 }.flatMap(\.1)
            }
        } else {
            for line in lines { answers.append(await one(line)) }
        }
        var buffer = ByteBuffer()
        for answer in answers {
            var writer = JSONWriter(reservingByteCount: 4_096)
            writer.value(answer)
            buffer.writeBytes(writer.bytes)
            buffer.writeInteger(UInt8(ascii: "\n"))
        }
        return Response(status: .ok, headers: [.contentType: Self.lines], body: .init(byteBuffer: buffer))
    }

    private static let lines = "application/x-ndjson"
}

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
    let reserve: Int
    let priority: PushPriority
    let expiration: Timestamp?
    let includesUnverified: Bool

    enum Target: Sendable {
        case device(DeviceName)
        /// Of a database that is the only store.
        case enrolled(EnrolledDevice)
        case recipient(Recipient)
    }

    init(_ members: [String: JSONValue]) throws {
        var reader = OrderReader(members)
        includesUnverified = try reader.flag("unverified")
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
        let reserve = try reader.optional("reserve", "0 to \(Sealer.maximumReserve)") { value in
            value.integer.flatMap { (0...Int64(Sealer.maximumReserve)).contains($0) ? Int($0) : nil }
        }
        self.reserve = reserve ?? 0
        (priority, expiration) = try reader.delivery()
        content = try reader.content()
        try reader.end(
            "device, recipient, record, enrolment, proven, content, reserve, priority, expiration and unverified")
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
    package func request(_ priority: PushPriority, expiration: Timestamp?) -> [String: JSONValue] {
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
