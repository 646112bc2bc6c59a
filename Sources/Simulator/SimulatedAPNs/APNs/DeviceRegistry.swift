internal import PushCore

/// The devices that a local APNs knows, which of them are online, and the notifications waiting for them. Thread-safe.
///
/// Source for the store: Apple, "Viewing the status of push notifications": the newest for each device and app.
final class DeviceRegistry: Sendable {
    private let configuration: LocalAPNsConfiguration
    private let state = Locked(State())
    /// Called under the lock with each new registration and each change of a token's state.
    private let record: @Sendable (LocalDeviceRecord) -> Void

    private struct State {
        var devices: [Device] = []
        /// The devices by token, current or earlier.
        var byToken: [String: Int] = [:]
        var byName: [String: Int] = [:]
        var nextNumber: UInt64 = 1
        var acknowledgedCount = 0
        var expiredCount = 0

        mutating func put(_ record: LocalDeviceRecord) {
            let name = Self.key(record.name, record.bundleID)
            guard let index = byName[name] else {
                byName[name] = devices.count
                byToken[record.token] = devices.count
                devices.append(Device(token: record.token, records: [record.token: record]))
                return
            }
            if byToken.updateValue(index, forKey: record.token) == nil { devices[index].token = record.token }
            devices[index].records[record.token] = record
        }

        static func key(_ name: String, _ bundleID: String) -> String { "\(bundleID)\n\(name)" }
    }

    init(
        _ configuration: LocalAPNsConfiguration, known: [LocalDeviceRecord],
        record: @escaping @Sendable (LocalDeviceRecord) -> Void
    ) {
        self.configuration = configuration
        self.record = record
        state.withLock { state in for device in known { state.put(device) } }
    }

    /// Returns the device's token for an app. It stays the same unless it was marked bad or has expired.
    func register(name: String, bundleID: String) -> String {
        state.withLock { state in
            let known = state.byName[State.key(name, bundleID)].map { state.devices[$0] }
            let last = known.flatMap { $0.records[$0.token] }
            if let last, last.state == .active { return last.token }
            let made = LocalDeviceRecord(
                name: name, bundleID: bundleID,
                token: last?.state == .unregistered ? last?.token ?? "" : Hex.encode(SecureRandom.bytes(count: 32)),
                registered: configuration.now())
            state.put(made)
            record(made)
            return made.token
        }
    }

    /// Sets the state of a token, even one that its device has since replaced. Returns false if no device has or had the
    /// token, or if a replaced token would become active.
    func setState(_ tokenState: LocalDeviceRecord.State, token: String, since: Int64?) -> Bool {
        state.withLock { state in
            guard let index = state.byToken[token], var changed = state.devices[index].records[token],
                state.devices[index].token == token || tokenState != .active
            else { return false }
            changed.state = tokenState
            changed.since = tokenState == .active ? nil : since ?? configuration.now()
            state.put(changed)
            record(changed)
            return true
        }
    }

    /// Performs checks 15 to 18 of a ``ProviderRequest``. Returns the device's index.
    func find(_ token: String, bundleID: String) throws(LocalAPNsRefusal) -> Int {
        try state.withLock { state throws(LocalAPNsRefusal) -> Int in
            let token = token.lowercased()
            guard let index = state.byToken[token], let record = state.devices[index].records[token],
                record.state != .bad
            else { throw LocalAPNsRefusal(.badDeviceToken) }
            guard record.bundleID == bundleID else { throw LocalAPNsRefusal(.deviceTokenNotForTopic) }
            switch record.state {
            case .active, .bad: break
            case .unregistered: throw LocalAPNsRefusal(.unregistered, timestamp: record.since)
            case .expired: throw LocalAPNsRefusal(.expiredToken, timestamp: record.since)
            }
            guard state.devices[index].unacknowledged.count < configuration.unacknowledgedLimit else {
                throw LocalAPNsRefusal(.tooManyRequests)
            }
            return index
        }
    }

    /// Sends a notification to the device, or stores it if the device is offline.
    func deliver(_ notification: APNsNotification, to index: Int, _ decision: FaultDecision) -> DeliveryOutcome {
        guard decision.isDelivered else { return .dropped }
        return state.withLock { state in
            send(notification, to: index, count: decision.deliveryCount, &state)
        }
    }

    private func send(
        _ notification: APNsNotification, to index: Int, count: Int, _ state: inout State
    ) -> DeliveryOutcome {
        guard let link = state.devices[index].link else {
            guard notification.isStored(at: configuration.now() / 1_000) else {
                state.expiredCount += 1
                return .discarded
            }
            return state.devices[index].store(notification) ? .replaced : .stored
        }
        for _ in 0..<count {
            let number = state.nextNumber
            state.nextNumber += 1
            state.devices[index].unacknowledged.append((number, notification))
            link.send(number: number, token: state.devices[index].token, notification)
        }
        return .sent
    }
}

/// A connection to one or more devices.
protocol DeviceLink: AnyObject, Sendable { func send(number: UInt64, token: String, _ notification: APNsNotification) }

/// The devices' actions: connect, disconnect, and acknowledge.
extension DeviceRegistry {
    /// Marks the devices with these tokens as online, and sends each its waiting notifications, oldest first.
    func connect(_ tokens: [String], link: any DeviceLink) {
        state.withLock { state in
            for index in tokens.compactMap({ state.byToken[$0] }) {
                // A new link takes over what was sent through the previous one but not acknowledged.
                let waiting = state.devices[index].waiting
                state.devices[index].take(link)
                for notification in waiting {
                    if notification.isStored(at: configuration.now() / 1_000) {
                        _ = send(notification, to: index, count: 1, &state)
                    } else {
                        state.expiredCount += 1
                    }
                }
            }
        }
    }

    /// Marks the devices as offline. Notifications that they haven't acknowledged are kept for them.
    func disconnect(_ tokens: [String], link: any DeviceLink) {
        state.withLock { state in
            for index in tokens.compactMap({ state.byToken[$0] }) where state.devices[index].link === link {
                state.devices[index].goAway()
            }
        }
    }

    /// Returns the device's name, or nil if the notification was not sent to it over this link.
    @discardableResult func acknowledge(_ number: UInt64, token: String, link: any DeviceLink) -> String? {
        state.withLock { state in
            // Usually the oldest.
            guard let index = state.byToken[token], state.devices[index].link === link,
                let place = state.devices[index].unacknowledged.firstIndex(where: { $0.number == number })
            else { return nil }
            state.devices[index].unacknowledged.remove(at: place)
            state.acknowledgedCount += 1
            return state.devices[index].records[token]?.name
        }
    }

    /// All waiting or unacknowledged notifications, to save for the next start.
    var waiting: [WaitingNotification] {
        state.withLock { state in
            state.devices.flatMap { device in
                device.waiting.map { WaitingNotification(token: device.token, notification: $0) }
            }
        }
    }

    func restore(_ waiting: [WaitingNotification]) {
        state.withLock { state in
            for entry in waiting {
                guard let index = state.byToken[entry.token] else { continue }
                state.devices[index].kept.append(entry.notification)
            }
        }
    }

    var counts: DeviceCounts {
        state.withLock { state in
            var counts = DeviceCounts(
                devices: state.devices.count, acknowledged: state.acknowledgedCount, expired: state.expiredCount)
            for device in state.devices {
                if device.link != nil { counts.online += 1 }
                counts.waiting += device.kept.count + (device.stored == nil ? 0 : 1)
                counts.unacknowledged += device.unacknowledged.count
            }
            return counts
        }
    }

    /// Returns the name of the device that has or had a token, or nil if there is none.
    func name(of token: String) -> String? {
        let token = token.lowercased()
        return state.withLock { state in state.byToken[token].flatMap { state.devices[$0].records[token]?.name } }
    }
}

/// A notification that waits for a device while no server is running.
struct WaitingNotification: Codable {
    let token: String
    let notification: APNsNotification
}

/// One app on one device while the server is running.
private struct Device {
    /// The current token.
    var token: String
    /// The records of the current token and of earlier ones, by token.
    var records: [String: LocalDeviceRecord]
    /// The connection; nil while the device is offline.
    private(set) var link: (any DeviceLink)?
    /// The one notification that APNs stores.
    private(set) var stored: APNsNotification?
    /// The notifications that it hadn't acknowledged when it went offline, oldest first.
    var kept: [APNsNotification] = []
    var unacknowledged: [(number: UInt64, notification: APNsNotification)] = []

    var waiting: [APNsNotification] { kept + unacknowledged.map(\.notification) + (stored.map { [$0] } ?? []) }

    /// Stores a notification. Returns whether the notification replaced another.
    mutating func store(_ notification: APNsNotification) -> Bool {
        if let collapseID = notification.collapseID { kept.removeAll { $0.collapseID == collapseID } }
        defer { stored = notification }
        return stored != nil
    }

    /// Marks the device as online. All waiting notifications must now be sent over this link.
    mutating func take(_ link: any DeviceLink) { (self.link, stored, kept, unacknowledged) = (link, nil, [], []) }

    mutating func goAway() {
        link = nil
        // 0 means one attempt, which has been made.
        kept = (kept + unacknowledged.map(\.notification)).filter { $0.expiration != 0 }
        unacknowledged = []
    }
}
