package import PushSender

/// An entry as a database stores it, with its device's address and app.
package struct EntryRow: Sendable, Equatable {
    package var priority: Int
    package var expiration: Int64?
    package var apnsID: String
    package var collapseID: String
    package var body: [UInt8]
    package var topic: String?
    package var address: [UInt8]?
    package var isProven = false
    /// The device's name.
    package var device: String?
    /// The key that sealed it, or `nil` if unknown.
    package var sender: String?
    /// The codes of the entry and of its address, made with an ``OutboxKey``.
    package var code: [UInt8]?
    package var addressCode: [UInt8]?
    /// Milliseconds since 1970, or `nil` if it wasn't read.
    package var enqueued: Int64?
}

extension EntryRow {
    /// Creates the row of a push that was just sealed, with its code if there is a key. Stores bind the row's columns as
    /// they are: a column that differs from what the code covers makes the push `forged`.
    init(
        _ payload: SealedPayload, priority: PushPriority, expiration: Timestamp?, device: String, sealedBy: SealedBy,
        key: OutboxKey?
    ) {
        self.init(
            priority: payload.priority(priority).rawValue, expiration: expiration?.secondsSince1970,
            apnsID: payload.apnsID, collapseID: payload.collapseID, body: payload.json,
            topic: payload.topic.description, device: device, sender: sealedBy.description)
        code = key?.code(self)
    }

    package init(_ row: some OutboxRow) throws(OutboxError) {
        self.init(
            priority: try row.count("priority"), expiration: try row.optionalInt("expiration"),
            apnsID: try row.text("apns_id"), collapseID: try row.text("collapse_id"), body: try row.bytes("body"),
            topic: try row.optionalText("topic"), address: try row.optionalBytes("token"),
            isProven: try row.optionalBool("is_proven") ?? false, device: try row.optionalText("name"),
            sender: try row.optionalText("sender"), code: try row.optionalBytes("code"),
            addressCode: try row.optionalBytes("address_code"), enqueued: try row.optionalInt("enqueued"))
    }

    /// Returns the request, or `nil` if the row was tampered with and isn't a valid push.
    package func request(of carrier: Carrier) -> PushRequest? {
        // The identifiers become request headers, and one control character in them would end the connection and every push
        // in transit on it. The first is a lowercase UUID, as for a message.
        guard let address = address.flatMap({ Address($0, of: carrier) }),
            let topic = topic.flatMap(Topic.init(parsing:)), device.flatMap(DeviceName.init(parsing:)) != nil,
            let priority = PushPriority(rawValue: priority), MessageID(parsing: apnsID) != nil,
            Self.isCollapseID(collapseID), body.count <= SizePlan.maximumPayloadByteCount
        else { return nil }
        var request = PushRequest(
            address: address, body: body, topic: topic, apnsID: apnsID, collapseID: collapseID, priority: priority,
            expiration: expiration.map { Timestamp(clamping: $0) })
        guard priority == .considerate || !request.isBackground else { return nil }
        request.isProven = isProven
        return request
    }

    /// Whether the text has 1 to 64 visible ASCII characters.
    private static func isCollapseID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }
}
