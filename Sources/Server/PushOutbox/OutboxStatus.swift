public import PushSender
public import SealedPush

/// What an outbox holds, at one moment.
public struct OutboxStatus: Hashable, Sendable {
    /// Registered devices.
    public package(set) var deviceCount = 0
    /// Those of them that can be sent to: with an address that its carrier has not refused.
    public package(set) var reachableDeviceCount = 0
    /// Of those, when the first record ends that holds now, and how many end within 30 days.
    package var firstRecordExpiry: Timestamp?
    package var expiringRecordCount = 0
    /// Pushes that wait or are on their way.
    public package(set) var waitingCount = 0
    /// Of the waiting ones, how many are older than a minute, an hour, a day and a week.
    public package(set) var waitingByAge: [Duration: Int] = [:]
    /// Of the waiting ones, how many were sealed by whose key: after a theft, those of the stolen one are to be thrown away.
    public package(set) var waitingBySender: [SealedBy: Int] = [:]
    /// The same of the dead letters, which may be sent again.
    public package(set) var deadLettersBySender: [SealedBy: Int] = [:]
    /// Devices by what their oldest push waits for.
    public package(set) var queues = Queues()
    /// Of the leased ones, how many each host holds, by its own name; empty for a file, which has one host.
    public package(set) var leasedByHost: [String: Int] = [:]
    /// Devices for which something waits, by carrier: a courier delivers to one.
    public package(set) var waitingDevices: [Carrier: Int] = [:]
    /// When the next one may be sent, where none may now; nil where nothing waits.
    public package(set) var nextDue: Timestamp?
    /// Dead letters, by the carrier's reason.
    public package(set) var deadLetters: [String: Int] = [:]
    /// What became of pushes in the last 30 days: `accepted`, `expired`, `dropped:REASON`, `dead:REASON`.
    public package(set) var outcomes: [String: Int] = [:]
    /// The size of the file without its log, in bytes.
    public package(set) var fileByteCount = 0

    package init() {}

    package mutating func count(_ devices: some OutboxRow) throws(OutboxError) {
        deviceCount = try devices.count("devices")
        reachableDeviceCount = try devices.count("reachable")
        firstRecordExpiry = try devices.optionalInt("expiry").flatMap(Timestamp.init(secondsSince1970:))
        expiringRecordCount = try devices.count("expiring")
    }

    /// Leaves out what is no name of its kind: somebody has been in the database.
    package static func parsed<Key>(_ counts: [String: Int], _ key: (String) -> Key?) -> [Key: Int] {
        Dictionary(counts.compactMap { name, count in key(name).map { ($0, count) } }, uniquingKeysWith: +)
    }

    package static let ages: [Duration] = [.seconds(60), .seconds(3_600), .seconds(86_400), .seconds(7 * 86_400)]

    public struct Queues: Hashable, Sendable {
        /// May be sent now.
        public package(set) var due = 0
        /// On their way, or held by a process that died; those come due again at their lease's end.
        public package(set) var leased = 0
        /// Put off after a failure.
        public package(set) var delayed = 0

        package init(_ row: some OutboxRow) throws(OutboxError) {
            due = try row.count("due")
            leased = try row.count("leased")
            delayed = try row.count("delayed")
        }

        init() {}
    }
}

/// A push that can't be delivered as it is, still sealed. Public IDs only.
public struct DeadLetter: Hashable, Sendable {
    public let apnsID: String
    public let device: DeviceName?
    /// The carrier's reason.
    public let reason: String
    /// How often it was sent; 0 where it only waited behind another one.
    public let attempts: Int
    public let enqueued: Timestamp
    public let died: Timestamp

    package init(_ row: some OutboxRow) throws(OutboxError) {
        apnsID = try row.text("apns_id")
        device = try row.optionalText("name").flatMap(DeviceName.init(parsing:))
        reason = try row.text("reason")
        attempts = try row.count("attempts")
        enqueued = try row.time("enqueued")
        died = try row.time("died")
    }
}
