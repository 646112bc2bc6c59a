/// What is known of one app on one device, and kept in the server's folder.
package struct DeviceRecord: Codable, Hashable, Sendable {
    package var name: String
    package var bundleID: String
    /// 64 hexadecimal digits in small letters.
    package var token: String
    /// Milliseconds since 1970.
    package var registered: Int64
    package var state = State.active
    /// Since when it is not active any more, in milliseconds since 1970.
    package var since: Int64?

    package enum State: String, Codable, Sendable, CaseIterable {
        case active
        /// 410 `Unregistered`, until the device registers again.
        case unregistered
        /// 410 `ExpiredToken`; the device gets another when it registers again.
        case expired
        /// 400 `BadDeviceToken`, likewise.
        case bad
    }

    static func isToken(_ text: String) -> Bool {
        text.utf8.count == 64
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x66).contains($0) || (0x41...0x46).contains($0)
            }
    }
}

/// One app on one device while the server runs.
struct SimulatedApp {
    var record: DeviceRecord
    /// Nil while it is away.
    var link: (any DeviceLink)?
    /// The one notification that APNs stores.
    var stored: APNsNotification?
    /// What it had not acknowledged when it went away, oldest first.
    var kept: [APNsNotification] = []
    var unacknowledged: [(number: UInt64, notification: APNsNotification)] = []
    /// By the reorder fault.
    var heldBack: [(notification: APNsNotification, count: Int, since: Int64)] = []
    private var second: Int64 = 0
    private var countInSecond = 0

    init(record: DeviceRecord) { self.record = record }

    static func key(_ name: String, _ bundleID: String) -> String { "\(bundleID)\n\(name)" }

    /// Whether it may get one more request now.
    mutating func admits(at now: Int64, _ configuration: LocalAPNsConfiguration) -> Bool {
        guard unacknowledged.count < configuration.unacknowledgedLimit else { return false }
        guard configuration.requestsPerDevicePerSecond > 0 else { return true }
        if now / 1_000 != second {
            second = now / 1_000
            countInSecond = 0
        }
        countInSecond += 1
        return countInSecond <= configuration.requestsPerDevicePerSecond
    }

    /// Whether another had to go for it.
    mutating func store(_ notification: APNsNotification) -> Bool {
        if let collapseID = notification.collapseID { kept.removeAll { $0.collapseID == collapseID } }
        defer { stored = notification }
        return stored != nil
    }

    mutating func goAway(keepsAll: Bool) {
        link = nil
        var left = kept + unacknowledged.map(\.notification) + heldBack.map(\.notification)
        // 0: one attempt, and that was made.
        left.removeAll { $0.expiration == 0 }
        kept = keepsAll ? left : left.suffix(1)
        unacknowledged = []
        heldBack = []
    }

    var waitingInOrder: [APNsNotification] {
        kept + unacknowledged.map(\.notification) + heldBack.map(\.notification) + (stored.map { [$0] } ?? [])
    }

    mutating func takeWaiting() -> [APNsNotification] {
        // A link that replaces another takes over what that was sent and did not acknowledge.
        let waiting = waitingInOrder
        kept = []
        unacknowledged = []
        heldBack = []
        stored = nil
        return waiting
    }
}
