internal import PushCore
package import PushSender
package import SealedPush

/// Reads the members of an order's JSON object one by one. A member that no caller has read is an error, because it may be
/// misspelled. A null member counts as absent.
package struct OrderReader {
    private var rest: JSONMembers

    package init(_ members: consuming JSONMembers) { rest = members }

    /// Returns the members of one object, with enough depth for the content in it. The bytes are in contiguous storage,
    /// such as an array or a buffer. `isLine` says whether they are a line of a batch.
    package static func members(
        of bytes: some Collection<UInt8>, isLine: Bool = false
    ) throws(OrderError) -> JSONMembers {
        guard bytes.count <= maximumByteCount else { throw .tooLarge }
        do throws(JSONFault) {
            return try JSONReader.members(
                bytes.withoutByteOrderMark, maximumDepth: JSONReader.maximumDepth + 1, isForSealing: true)
        } catch { throw .malformed("this is not one JSON object: \(isLine ? error.placeInLine : error.description)") }
    }

    /// For one message and its surrounding JSON; content that will be truncated may be larger than a push.
    package static let maximumByteCount = 65_536

    package mutating func optional<Value>(
        _ name: String, _ rule: @autoclosure () -> String, _ read: (JSONValue) -> Value?
    ) throws(OrderError) -> Value? {
        guard let member = rest.take(name)?.json, member != .null else { return nil }
        guard let value = read(member) else { throw .malformed("\"\(name)\" is invalid; expected \(rule())") }
        return value
    }

    package mutating func required<Value>(
        _ name: String, _ rule: @autoclosure () -> String, _ read: (JSONValue) -> Value?
    ) throws(OrderError) -> Value {
        guard let value = try optional(name, rule(), read)
        else { throw .malformed("there is no \"\(name)\"; expected \(rule())") }
        return value
    }

    package mutating func text(_ name: String) throws(OrderError) -> String { try required(name, "a string", \.string) }

    package mutating func flag(_ name: String) throws(OrderError) -> Bool {
        try optional(name, "true or false", \.bool) ?? false
    }

    package mutating func user() throws(OrderError) -> UserName? {
        try optional("user", "1 to 128 bytes of visible text") { $0.string.flatMap(UserName.init(parsing:)) }
    }

    package mutating func device() throws(OrderError) -> DeviceName? {
        try optional("device", "the name of a device") { $0.string.flatMap(DeviceName.init(parsing:)) }
    }

    /// Returns the members of an object, which are still to be read, or `nil` if it's absent.
    package mutating func members(_ name: String, _ rule: String) throws(OrderError) -> JSONMembers? {
        guard let member = rest.take(name) else { return nil }
        if let members = member.members { return members }
        guard member.json == .null else { throw .malformed("\"\(name)\" is invalid; expected \(rule)") }
        return nil
    }

    /// The remaining members aren't quoted, because they could contain anything.
    package func end(_ known: String) throws(OrderError) {
        guard !rest.isEmpty else { return }
        throw .malformed("the request has an unknown member; the known ones are \(known)")
    }
}

/// The members that orders have in common.
extension OrderReader {
    mutating func target(
        _ known: ParsedTexts, includesUnverified: Bool
    ) throws(OrderError) -> SealOrder.Target {
        let device = try device()
        let recipient = try optional("recipient", "push1… or pushpq.…") { $0.string.flatMap(known.recipient) }
        switch (device, recipient, try enrolled(known)) {
        case (let device?, nil, nil): return .device(device)
        case (nil, let recipient?, nil):
            guard includesUnverified else { throw OrderError.unverified }
            return .recipient(recipient)
        case (nil, nil, let enrolled?): return .enrolled(enrolled)
        default:
            throw OrderError.malformed(
                "a message needs exactly one of `device`, `recipient`, and `record` with its `enrollment` and `proven`"
            )
        }
    }

    /// Returns the content, and its members with unknown names that look misspelled.
    package mutating func content() throws(OrderError) -> (Content, suspects: [String]) {
        let rule = "an object with an \"alert\""
        guard let members = try members("content", rule)
        else { throw OrderError.malformed("there is no \"content\"; expected \(rule)") }
        let content: Content
        do throws(ContentError) { content = try Content(members: members) } catch { throw OrderError(error) }
        guard !content.isExpired(at: .now()) else { throw OrderError.past("content.expires") }
        return (content, Content.suspectMembers(in: members))
    }

    package mutating func priority() throws(OrderError) -> PushPriority {
        try optional("priority", "immediate or considerate") { $0.string.flatMap(PushPriority.init(name:)) }
            ?? .immediate
    }

    package mutating func delivery() throws(OrderError) -> (PushPriority, Timestamp?) {
        let priority = try priority()
        let expiration = try optional("expiration", Content.momentRule) {
            $0.integer.flatMap(Timestamp.init(secondsSince1970:))
        }
        // Zero is Apple's value for "try once".
        if let expiration, expiration.secondsSince1970 != 0, expiration < .now() { throw .past("expiration") }
        return (priority, expiration)
    }

    private mutating func enrolled(_ known: ParsedTexts) throws(OrderError) -> EnrolledDevice? {
        let record = try optional("record", "pushrecord.…", \.string)
        let enrollment = try optional("enrollment", "pushenrollment1…") {
            $0.string.flatMap { text in
                try? known.value(text) { (text) throws(KeyTextError) in try EnrollmentPublicKey(parsing: text) }
            }
        }
        let proven = try optional("proven", "a list of push1… or pushpq.…") { value -> [DevicePublicKey]? in
            guard case .array(let texts) = value, texts.count <= 16 else { return nil }
            let recipients = texts.compactMap { $0.string.flatMap(known.recipient)?.key }
            return recipients.count == texts.count ? recipients : nil
        }
        guard record != nil || enrollment != nil || proven != nil else { return nil }
        guard let record, let enrollment, let proven
        else { throw OrderError.malformed("`record`, `enrollment`, and `proven` must be provided together") }
        do throws(RecordError) {
            let record = try known.value(record) { (text) throws(RecordError) in try DeviceRecord(parsing: text) }
            return try EnrolledDevice(loading: enrollment, record: record, proven: proven)
        } catch { throw OrderError(error) }
    }
}
