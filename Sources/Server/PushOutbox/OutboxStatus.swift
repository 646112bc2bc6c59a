public import PushSender
public import SealedPush

/// The contents of an outbox at one moment.
public struct OutboxStatus: Hashable, Sendable {
    /// The number of registered devices.
    public package(set) var deviceCount = 0
    /// The number of devices that can be sent to: those with an address that the carrier hasn't refused.
    public package(set) var reachableDeviceCount = 0
    /// For reachable devices, the time at which the first valid record expires, and how many expire within 30 days.
    package var firstRecordExpiry: Timestamp?
    package var expiringRecordCount = 0
    /// The number of pushes that are waiting or in transit.
    public package(set) var waitingCount = 0
    /// The number of waiting pushes older than a minute, an hour, a day, and a week.
    public package(set) var waitingByAge: [Duration: Int] = [:]
    /// The number of waiting pushes by sender key. After a key is stolen, purge the pushes sealed with it.
    public package(set) var waitingBySender: [SealedBy: Int] = [:]
    /// The number of dead letters by sender key. They can be retried.
    public package(set) var deadLettersBySender: [SealedBy: Int] = [:]
    /// The number of devices by the state of their oldest push.
    public package(set) var queues = Queues()
    /// The number of leased devices by host name; empty for a file, which has only one host.
    public package(set) var leasedByHost: [String: Int] = [:]
    /// The number of devices with waiting pushes, by carrier. A courier delivers to one carrier.
    public package(set) var waitingDevices: [Carrier: Int] = [:]
    /// The time at which the next push is due if none is due now; `nil` if no pushes are waiting.
    public package(set) var nextDue: Timestamp?
    /// The number of dead letters by the carrier's reason.
    public package(set) var deadLetters: [String: Int] = [:]
    /// The outcomes of pushes in the last 30 days, one for each that has ended: `accepted`, `expired`, `purged`, `discarded`,
    /// `dropped:REASON`, `refused:REASON`. A retry takes the outcome of a refused push back.
    public package(set) var outcomes: [String: Int] = [:]
    /// The size of the file in bytes, without its log.
    public package(set) var fileByteCount = 0

    package init() {}

    package mutating func count(_ devices: some OutboxRow) throws(OutboxError) {
        deviceCount = try devices.count("devices")
        reachableDeviceCount = try devices.count("reachable")
        firstRecordExpiry = try devices.optionalInt("expiry").flatMap(Timestamp.init(secondsSince1970:))
        expiringRecordCount = try devices.count("expiring")
    }

    /// Converts the names to keys, and omits invalid names, which mean that the database was tampered with.
    package static func parsed<Key>(_ counts: [String: Int], _ key: (String) -> Key?) -> [Key: Int] {
        Dictionary(counts.compactMap { name, count in key(name).map { ($0, count) } }, uniquingKeysWith: +)
    }

    package static let ages: [Duration] = [.seconds(60), .seconds(3_600), .seconds(86_400), .seconds(7 * 86_400)]

    /// The devices with waiting pushes, by state.
    public struct Queues: Hashable, Sendable {
        /// The number of devices whose push can be sent now.
        public package(set) var due = 0
        /// The number of devices whose push is in transit or held, until its lease ends, by a process that died.
        public package(set) var leased = 0
        /// The number of devices whose push was deferred after a failure.
        public package(set) var deferred = 0

        package init(_ row: some OutboxRow) throws(OutboxError) {
            due = try row.count("due")
            leased = try row.count("leased")
            deferred = try row.count("deferred")
        }

        init() {}
    }
}
