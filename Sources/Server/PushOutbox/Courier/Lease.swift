internal import PushCore
package import PushSender
package import SealedPush

/// The right to send one entry until some moment, and what is sent.
package struct Lease: Sendable {
    /// The row of the device, for which nobody else sends meanwhile.
    package let device: Int64
    package let entry: Int64
    /// Tells this lease from any other of the device.
    package let number: Int64
    /// How often the entry was taken, this time included.
    package let attempts: Int
    package let request: PushRequest
    /// The entry as it was read.
    package let entryRow: EntryRow

    package init(device: Int64, entry: Int64, number: Int64, attempts: Int, request: PushRequest, entryRow: EntryRow) {
        self.device = device
        self.entry = entry
        self.number = number
        self.attempts = attempts
        self.request = request
        self.entryRow = entryRow
    }

    /// No delay grows beyond this many attempts.
    package static let countedAttempts = 1_000_000
    /// Longer than any lease or back-off, in milliseconds. What is due further ahead was noted before a clock was set
    /// back.
    package static let longestDelay: Int64 = Tally.millisecondsPerDay
}

/// What becomes of a lease.
package enum Settlement: Sendable, Equatable {
    /// The service has it.
    case accepted
    /// Sent again after this long.
    case later(Duration)
    /// Not sent at all; counts as no attempt.
    case returned
    /// Kept as a dead letter.
    case dead(reason: String)
    /// The address is gone since a moment: it is removed, and what waits for it, unless it was registered again since
    /// then. If so, the entry is sent again after a while.
    case addressGone(reason: String, since: Timestamp, otherwise: Duration)
    /// The address is refused: it is disabled, and what waits for it becomes dead letters.
    case addressRefused(reason: String)
}

/// What a courier asks for: so many leases, of these lanes, for so long.
package struct LeaseOrder: Sendable {
    package let carrier: Carrier
    package let count: Int
    /// How many of them go to the considerate lane first, where something waits there: so it never starves.
    package let considerateCount: Int
    package let duration: Duration
    /// The first lease's number; the others follow.
    package let firstNumber: Int64
    /// Whether what is past its time is removed. Otherwise it becomes a dead letter, which the next purge removes.
    package var removesStale = true
}

/// How many pushes ended how, by day: the outcomes' names.
package enum Tally {
    package static let accepted = "accepted"
    package static let expired = "expired"
    package static let purged = "purged"
    /// With the device, its address, or its account.
    package static let discarded = "discarded"
    /// What messages are counted by, beside these.
    package static let (enqueued, waiting) = ("enqueued", "waiting")
    package static func dropped(_ reason: String) -> String { "dropped:\(reason)" }
    /// What is stale may have become a dead letter for want of a certain time.
    package static func dead(_ reason: String) -> String { reason == expired ? expired : "dead:\(reason)" }

    package static let millisecondsPerDay: Int64 = 86_400_000
}

/// An entry as a database holds it, with its device's address and app.
package struct EntryRow: Sendable {
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
    /// By whose key it was sealed; nil where that is not known.
    package var sender: String?
    /// By an ``OutboxKey``: of the entry, and of the address.
    package var code: [UInt8]?
    package var addressCode: [UInt8]?
    /// Milliseconds since 1970; nil where nobody asked.
    package var enqueued: Int64?
}

extension EntryRow {
    /// A push that was just sealed.
    init(_ payload: SealedPayload, priority: PushPriority, expiration: Timestamp?, device: String, sealedBy: SealedBy) {
        self.init(
            priority: (payload.isBackground ? .considerate : priority).rawValue,
            expiration: expiration?.secondsSince1970, apnsID: payload.apnsID,
            collapseID: payload.collapseID, body: payload.json, topic: payload.topic.description, device: device,
            sender: sealedBy.description)
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

    /// Nil for what is no push: somebody has been in the database.
    package func request(of carrier: Carrier) -> PushRequest? {
        // The identifiers become headers of a request, in which one control character ends the connection, and with it
        // all that is on its way there. The first is a UUID in small letters, as a message's own.
        guard let address = address.flatMap({ Address($0, of: carrier) }),
            let topic = topic.flatMap(Topic.init(parsing:)),
            // What Apple allows, whatever a statement of the application's own has said.
            let priority = PushPriority(rawValue: PayloadForm.isBackground(body) ? 5 : priority),
            MessageID(parsing: apnsID) != nil,
            Self.isCollapseID(collapseID), body.count <= SizePlan.maximumPayloadByteCount
        else { return nil }
        var request = PushRequest(
            address: address, body: body, topic: topic, apnsID: apnsID, collapseID: collapseID, priority: priority,
            expiration: expiration.map { Timestamp(clamping: $0) })
        request.isProven = isProven
        return request
    }

    /// 1 to 64 visible characters of ASCII.
    private static func isCollapseID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }
}
