internal import PushCore

// The members' names, forms, and rules. A new member needs a name, a line to read it, a line to write it, and, if its type
// has values that receivers don't accept, a line to check it.

extension Content {
    /// The names that this version knows.
    static let knownKeys: Set<String> = [
        "id", "topic", "sent", "expires", "collapse-id", "alert", "badge", "badge-add", "sound", "thread-id",
        "category", "interruption-level", "relevance-score", "filter-criteria", "target-content-id", "data",
        "attachments", "overflow", "chart", "person", "group", "receipt", "template", "withdraw", "disclosure",
    ]

    /// Reads content JSON that is to be sealed. `id`, `topic`, and `sent` may be missing; all other members must follow
    /// Specification 4.6 and ContentParts 14 to 17.
    ///
    /// Accepts at most 4,096 bytes and at most 16 levels. Takes time in proportion to the bytes.
    public init(parsing bytes: [UInt8]) throws(ContentError) {
        try self.init(parsing: bytes, maximumByteCount: Self.maximumByteCount)
    }

    /// Reads the same JSON with a different limit, for content that will be cut later.
    package init(parsing bytes: [UInt8], maximumByteCount: Int) throws(ContentError) {
        try self.init(bytes, maximumByteCount: maximumByteCount, isLenient: false)
    }

    /// Reads content JSON as a device does: drops only the members that break a rule of ContentParts 14 to 17.
    package init(opening bytes: [UInt8], maximumByteCount: Int = maximumByteCount) throws(ContentError) {
        try self.init(bytes, maximumByteCount: maximumByteCount, isLenient: true)
    }

    private init(_ bytes: [UInt8], maximumByteCount: Int, isLenient: Bool) throws(ContentError) {
        guard bytes.count <= maximumByteCount else { throw .tooLong(maximumByteCount: maximumByteCount) }
        try self.init(Self.members(bytes, isLenient: isLenient), isLenient: isLenient)
    }

    static func members(_ bytes: [UInt8], isLenient: Bool) throws(ContentError) -> JSONMembers {
        do throws(JSONFault) { return try JSONReader.members(bytes, isForSealing: !isLenient) } catch {
            throw .notJSON(error)
        }
    }

    /// Reads content that is to be sealed from JSON that was already parsed, no deeper than ``JSONReader/maximumDepth``.
    package init(members: consuming JSONMembers) throws(ContentError) { try self.init(members, isLenient: false) }

    private init(_ members: consuming JSONMembers, isLenient: Bool) throws(ContentError) {
        var object = MemberReader(members)
        other = [:]
        withdrawal = try Self.part("withdraw", of: &object, isLenient) { (value, path) throws(ContentError) in
            try Withdrawal(value, at: path, isLenient: isLenient)
        }
        if withdrawal == nil {
            var parts = try object.object("alert")
            alert = try Alert(reading: &parts, isLenient: isLenient)
            guard alert.isVisible else { throw .noVisibleText }
        } else {
            guard object.take("alert") == nil || isLenient else { throw .besideWithdrawal("alert") }
            alert = Alert()
        }
        // Most content is only text.
        guard !object.rest.isEmpty else { return }
        id = try object.optional("id") { $0.string.flatMap(MessageID.init(parsing:)) }
        topic = try object.optional("topic") { $0.string.flatMap(Topic.init(parsing:)) }
        sent = try object.optional("sent") { $0.integer.flatMap(Timestamp.init(secondsSince1970:)) }
        expires = try object.optional("expires") { $0.integer.flatMap(Timestamp.init(secondsSince1970:)) }
        collapseID = try object.optional("collapse-id") { $0.string.flatMap { Self.isCollapseID($0) ? $0 : nil } }
        badge = try object.optional("badge") { $0.integer.flatMap { Self.badges.contains($0) ? Int($0) : nil } }
        sound = try object.take("sound").map { (value) throws(ContentError) in try Sound(value, at: "sound") }
        threadID = try object.optional("thread-id", \.string)
        category = try object.optional("category", \.string)
        interruptionLevel = try object.optional("interruption-level") { value in
            value.string.flatMap(InterruptionLevel.init(untrusted:))
        }
        relevanceScore = try object.optional("relevance-score") { value in
            value.double.flatMap { (0...1).contains($0) ? $0 : nil }
        }
        filterCriteria = try object.optional("filter-criteria", \.string)
        targetContentID = try object.optional("target-content-id", \.string)
        data = try object.optional("data") { $0 == .null ? nil : $0 }
        if let value = object.take("attachments") {
            attachments = isLenient ? Self.readableAttachments(in: value) : try Self.attachments(in: value)
        }
        overflow = try Self.part("overflow", of: &object, isLenient, Overflow.init(_:at:))
        chart = try Self.part("chart", of: &object, isLenient, PushChart.init(_:at:))
        badgeIncrement = try Self.part("badge-add", of: &object, isLenient) { (value, path) throws(ContentError) in
            guard let count = value.integer, Self.badgeIncrements.contains(count) else {
                throw .unusable(value, at: path)
            }
            return Int(count)
        }
        person = try Self.part("person", of: &object, isLenient) { (value, path) throws(ContentError) in
            try Person(value, at: path, isLenient: isLenient)
        }
        group = try Self.part("group", of: &object, isLenient) { (value, path) throws(ContentError) in
            try Group(value, at: path, isLenient: isLenient)
        }
        receipt = try Self.part("receipt", of: &object, isLenient, ReceiptRequest.init(_:at:))
        if let value = object.take("template") {
            isTemplate = value == .bool(true)
            guard isTemplate || isLenient else { throw .unusable(value, at: "template") }
        }
        if let value = object.take("disclosure") {
            disclosure = try Disclosure(value, at: "disclosure", isLenient: isLenient)
        }
        other = object.rest.dictionary
    }

    /// Returns nil if there is no such member. If it can't be read, returns nil when lenient and throws otherwise.
    private static func part<Value>(
        _ name: String, of object: inout MemberReader, _ isLenient: Bool,
        _ read: (JSONValue, String) throws(ContentError) -> Value
    ) throws(ContentError) -> Value? {
        guard let value = object.take(name) else { return nil }
        do { return try read(value, name) } catch {
            guard isLenient else { throw error }
            return nil
        }
    }

    /// Reads attachments, each of which must be valid.
    static func attachments(in value: JSONValue) throws(ContentError) -> [Attachment] {
        guard case .array(let values) = value, values.count <= Attachment.maximumCount else {
            throw .unusable(value, at: "attachments")
        }
        var attachments: [Attachment] = []
        for (index, value) in values.enumerated() {
            let attachment = try Attachment(value, at: "attachments[\(index)]")
            guard !attachments.contains(where: { $0.id.hasBytes(of: attachment.id) }) else {
                throw .invalid("attachments[\(index)].id")
            }
            attachments.append(attachment)
        }
        return attachments
    }

    /// ContentParts 14.3.
    private static func readableAttachments(in value: JSONValue) -> [Attachment] {
        guard case .array(let values) = value else { return [] }
        var ids: Set<[UInt8]> = []
        return values.prefix(Attachment.maximumCount).compactMap { try? Attachment($0, at: "attachments") }
            .filter { ids.insert(Array($0.id.utf8)).inserted }
    }

    /// Compact JSON, the same for equal content: the known keys in a fixed order, then the others by name.
    public var json: [UInt8] {
        let (bytes, place) = jsonWithoutReceipt
        guard let receipt else { return bytes }
        return bytes[..<place] + receipt.jsonMember + bytes[place...]
    }

    /// The JSON without the receipt, the only part that differs between a message's devices, and the receipt's place.
    package var jsonWithoutReceipt: (bytes: [UInt8], receiptPlace: Int) {
        var receiptPlace = 0
        var writer = JSONWriter()
        writer.object { object in
            object.messageID("id", id)
            object.string("topic", topic?.description)
            object.integer("sent", sent?.secondsSince1970)
            object.integer("expires", expires?.secondsSince1970)
            object.string("collapse-id", collapseID)
            if withdrawal == nil || alert != Alert() {
                object.object("alert") { member in
                    member.string("title", alert.title)
                    member.string("subtitle", alert.subtitle)
                    member.string("body", alert.body)
                    for (name, value) in alert.translationMembers { member.value(named: name, value) }
                }
            }
            object.integer("badge", badge.map(Int64.init))
            object.integer("badge-add", badgeIncrement.map(Int64.init))
            object.value("sound", sound?.json)
            object.string("thread-id", threadID)
            object.string("category", category)
            object.string("interruption-level", interruptionLevel?.rawValue)
            object.value("relevance-score", relevanceScore.map(JSONValue.number))
            object.string("filter-criteria", filterCriteria)
            object.string("target-content-id", targetContentID)
            object.value("data", data)
            if !attachments.isEmpty { object.value("attachments", .array(attachments.map(\.json))) }
            object.value("chart", chart?.json)
            object.value("overflow", overflow?.json)
            object.value("person", person?.json)
            object.value("group", group?.json)
            object.value("withdraw", withdrawal?.json)
            receiptPlace = object.byteCount
            if isTemplate { object.value("template", true) }
            if disclosure != .full { object.string("disclosure", disclosure.rawValue) }
            for (name, value) in other.sorted(by: { $0.key < $1.key }) { object.value(named: name, value) }
        }
        return (writer.bytes, receiptPlace)
    }

    /// Checks that receivers will accept this content, and that JSON can represent it. Source: Specification 4.6.
    package func checkForSealing() throws(ContentError) {
        if let withdrawal {
            try check(withdrawal)
        } else {
            guard alert.isVisible else { throw .noVisibleText }
            let translations = alert.translationMembers
            if !translations.isEmpty {
                var parts = MemberReader(JSONMembers(Dictionary(uniqueKeysWithValues: translations)), at: "alert")
                _ = try Alert(reading: &parts, isLenient: false)
            }
        }
        if let collapseID, !Self.isCollapseID(collapseID) { throw .invalid("collapse-id") }
        if let badge, !Self.badges.contains(Int64(badge)) { throw .invalid("badge") }
        if let badgeIncrement, badge != nil || !Self.badgeIncrements.contains(Int64(badgeIncrement)) {
            throw .invalid("badge-add")
        }
        if let relevanceScore, !(0...1).contains(relevanceScore) { throw .invalid("relevance-score") }
        switch sound {
        case .named(let name)? where name.isEmpty: throw .invalid("sound")
        case .critical(let name, _)? where name.isEmpty: throw .invalid("sound.name")
        case .critical(_, let volume)? where !(0...1).contains(volume): throw .invalid("sound.volume")
        case .named?, .critical?, nil: break
        }
        if data == .null { throw .null("data") }
        if let place = data?.unsealablePlace(depth: 2) { throw .invalid("data\(place)") }
        for (name, value) in other {
            guard name.utf8.count <= JSONReader.maximumNameByteCount, !Self.knownKeys.contains(name) else {
                throw .invalid(name)
            }
            if let place = value.unsealablePlace(depth: 2) { throw .invalid("\(name)\(place)") }
        }
        // The values below have many rules. Only their readers know these, so each value is read from its JSON form again.
        if !attachments.isEmpty { _ = try Self.attachments(in: .array(attachments.map(\.json))) }
        if let overflow { _ = try Overflow(overflow.json, at: "overflow") }
        if let chart { _ = try PushChart(chart.json, at: "chart") }
        if let person { try checkPicture(Person(person.json, at: "person", isLenient: false).image, of: "person") }
        if let group {
            try checkPicture(Group(group.json, at: "group", isLenient: false).image, of: "group")
            guard person != nil else { throw .invalid("group") }
        }
    }

    /// ContentParts 19.1.
    private func checkPicture(_ image: Person.Image?, of member: String) throws(ContentError) {
        guard case .attachment(let id)? = image else { return }
        guard attachments.contains(where: { $0.id.hasBytes(of: id) && [.png, .jpeg].contains($0.type) }) else {
            throw .invalid("\(member).image")
        }
    }

    static func isCollapseID(_ text: String) -> Bool { (1...64).contains(text.utf8.count) }
    static let badges: ClosedRange<Int64> = 0...Int64(Int32.max)
    package static let badgeIncrements: ClosedRange<Int64> = 1...99
}

extension Content.Alert {
    /// Reads the alert, ignoring members with other names.
    ///
    /// - Parameter isLenient: whether a translation that breaks a rule is left out.
    init(reading parts: inout MemberReader, isLenient: Bool) throws(ContentError) {
        title = try parts.optional("title", \.string)
        subtitle = try parts.optional("subtitle", \.string)
        body = try parts.optional("body", \.string)
        guard !parts.rest.isEmpty else { return }
        titleTranslation = try Content.Translation("title-", of: &parts, isLenient: isLenient)
        subtitleTranslation = try Content.Translation("subtitle-", of: &parts, isLenient: isLenient)
        bodyTranslation = try Content.Translation("", of: &parts, isLenient: isLenient)
    }
}

extension Content.Sound {
    /// Reads a string, or `{"critical": 1, "name": …, "volume": …}`.
    init(_ value: JSONValue, at path: String) throws(ContentError) {
        func name(_ value: JSONValue) -> String? { value.string.flatMap { $0.isEmpty ? nil : $0 } }
        if let name = name(value) {
            self = .named(name)
            return
        }
        var sound = try MemberReader(value, at: path)
        let isCritical = try sound.optional("critical") { $0 == 1 ? true : $0 == 0 ? false : nil } ?? false
        let named = try sound.optional("name", name) ?? "default"
        let volume = try sound.optional("volume") { $0.double.flatMap { (0...1).contains($0) ? $0 : nil } } ?? 1
        self = isCritical ? .critical(name: named, volume: volume) : .named(named)
    }

    var json: JSONValue {
        switch self {
        case .named(let name): .string(name)
        case .critical(let name, let volume):
            .object(["critical": 1, "name": .string(name), "volume": .number(volume)])
        }
    }
}
