internal import PushCore
internal import SealedPush

/// The devices that a local APNs knows, who of them is there, and what waits for them. Safe from several threads.
///
/// Source for the store: Apple, "Viewing the status of push notifications": one notification a device and app, the newest.
final class DeviceRegistry: Sendable {
    let configuration: LocalAPNsConfiguration
    let state = Locked(State())
    /// Called under the lock with each new registration and each change of a token's state.
    private let record: @Sendable (DeviceRecord) -> Void

    struct State {
        var devices: [SimulatedApp] = []
        /// The current token of a device, and those that it had before.
        var byToken: [String: Int] = [:]
        /// What became of the tokens that devices had before: never active again.
        var replaced: [String: DeviceRecord] = [:]
        var byName: [String: Int] = [:]
        var nextNumber: UInt64 = 1
        var acknowledgedCount = 0
        var expiredCount = 0
    }

    init(
        _ configuration: LocalAPNsConfiguration, known: [DeviceRecord],
        record: @escaping @Sendable (DeviceRecord) -> Void
    ) {
        self.configuration = configuration
        self.record = record
        state.withLock { state in for device in known { Self.put(device, into: &state) } }
    }

    private static func put(_ record: DeviceRecord, into state: inout State) {
        let name = SimulatedApp.key(record.name, record.bundleID)
        if state.replaced[record.token] != nil {
            state.replaced[record.token] = record
        } else if let index = state.byName[name] {
            let known = state.devices[index].record
            if known.token != record.token {
                state.byToken[record.token] = index
                state.replaced[known.token] = known
            }
            state.devices[index].record = record
        } else {
            state.byName[name] = state.devices.count
            state.byToken[record.token] = state.devices.count
            state.devices.append(SimulatedApp(record: record))
        }
    }

    /// Returns the device's token for an app: the same as before, unless that was made bad or has expired.
    func register(name: String, bundleID: String) -> String {
        state.withLock { state in
            let known = state.byName[SimulatedApp.key(name, bundleID)].map { state.devices[$0].record }
            if let known, known.state == .active { return known.token }
            let keepsToken = known?.state == .unregistered
            let token = keepsToken ? known?.token : nil
            let made = DeviceRecord(
                name: name, bundleID: bundleID, token: token ?? Hex.encode(SecureRandom.bytes(count: 32)),
                registered: configuration.now())
            Self.put(made, into: &state)
            record(made)
            return made.token
        }
    }

    /// Says what is wrong with a token from now on, also with one that its device has another for by now. False where no
    /// device has or had it, and where a replaced one should be active.
    func setState(_ tokenState: DeviceRecord.State, token: String, since: Int64?) -> Bool {
        state.withLock { state in
            guard let index = state.byToken[token] else { return false }
            let replaced = state.replaced[token]
            guard replaced == nil || tokenState != .active else { return false }
            var changed = replaced ?? state.devices[index].record
            changed.state = tokenState
            changed.since = tokenState == .active ? nil : since ?? configuration.now()
            Self.put(changed, into: &state)
            record(changed)
            return true
        }
    }

    /// Checks 16 to 19 of ``RequestChecks``. Returns the device's place.
    func find(_ path: Substring, bundleID: String, at now: Int64) throws(APNsRefusal) -> Int {
        let token = String(path)
        return try state.withLock { state throws(APNsRefusal) -> Int in
            let exact = state.byToken[token]
            let token = exact == nil ? token.lowercased() : token
            guard let index = exact ?? state.byToken[token] else { throw APNsRefusal(.badDeviceToken) }
            let current = state.devices[index].record
            let record = current.token == token ? current : state.replaced[token]
            guard let record, record.state != .bad else { throw APNsRefusal(.badDeviceToken) }
            guard record.bundleID == bundleID else { throw APNsRefusal(.deviceTokenNotForTopic) }
            switch record.state {
            case .active, .bad: break
            case .unregistered: throw APNsRefusal(.unregistered, timestamp: record.since)
            case .expired: throw APNsRefusal(.expiredToken, timestamp: record.since)
            }
            guard state.devices[index].admits(at: now, configuration) else { throw APNsRefusal(.tooManyRequests) }
            return index
        }
    }

    /// Sends a notification to the device, or stores it while that is away.
    func deliver(_ notification: APNsNotification, to index: Int, _ decision: FaultDecision) -> DeliveryOutcome {
        guard decision.isDelivered else { return .dropped }
        return state.withLock { state in
            Self.send(notification, to: index, count: decision.deliveryCount, &state, configuration)
        }
    }

    static func send(
        _ notification: APNsNotification, to index: Int, count: Int, _ state: inout State,
        _ configuration: LocalAPNsConfiguration
    ) -> DeliveryOutcome {
        guard let link = state.devices[index].link else {
            guard let until = notification.storedUntil(storageTime: configuration.storageTime),
                until > configuration.now() / 1_000
            else {
                state.expiredCount += 1
                return .discarded
            }
            let replaced = state.devices[index].store(notification)
            return replaced ? .replaced : .stored
        }
        for _ in 0..<count {
            let number = state.nextNumber
            state.nextNumber += 1
            state.devices[index].unacknowledged.append((number, notification))
            link.send(number: number, token: state.devices[index].record.token, notification)
        }
        return .sent
    }
}

/// What became of an accepted notification.
package enum DeliveryOutcome: String, Sendable {
    case sent
    /// Waits for the device.
    case stored
    /// Waits for the device, and another is gone for it.
    case replaced
    /// The device is away, and it was not to be stored, or not as long.
    case discarded
    /// By a fault.
    case dropped
}

/// A connection to one or more devices.
protocol DeviceLink: AnyObject, Sendable { func send(number: UInt64, token: String, _ notification: APNsNotification) }

/// What devices do: come, go, acknowledge.
extension DeviceRegistry {
    /// The devices with these tokens are there now: what waited for them goes out, higher priority first, then older first.
    ///
    /// - Returns: tokens that nobody has, or not any more: those devices have to register again.
    func connect(_ tokens: [String], link: any DeviceLink) -> [String] {
        state.withLock { state in
            var unknown: [String] = []
            var waiting: [(index: Int, notification: APNsNotification)] = []
            for token in tokens {
                guard let index = state.byToken[token], state.devices[index].record.token == token else {
                    unknown.append(token)
                    continue
                }
                state.devices[index].link = link
                waiting += state.devices[index].takeWaiting().map { (index, $0) }
            }
            let now = configuration.now() / 1_000
            let order = waiting.enumerated().sorted { first, second in
                let priorities = (first.element.notification.priority, second.element.notification.priority)
                return priorities.0 == priorities.1 ? first.offset < second.offset : priorities.0 > priorities.1
            }
            for (_, (index, notification)) in order {
                guard (notification.storedUntil(storageTime: configuration.storageTime) ?? 0) > now else {
                    state.expiredCount += 1
                    continue
                }
                _ = Self.send(notification, to: index, count: 1, &state, configuration)
            }
            return unknown
        }
    }

    /// The devices have gone. What they had not acknowledged is kept for them.
    func disconnect(_ tokens: [String], link: any DeviceLink) {
        state.withLock { state in
            for index in tokens.compactMap({ state.byToken[$0] }) where state.devices[index].link === link {
                state.devices[index].goAway()
            }
        }
    }

    func acknowledge(_ number: UInt64, token: String, link: any DeviceLink) {
        state.withLock { state in
            guard let index = state.byToken[token], state.devices[index].link === link else { return }
            // Mostly the oldest.
            guard let place = state.devices[index].unacknowledged.firstIndex(where: { $0.number == number }) else {
                return
            }
            state.devices[index].unacknowledged.remove(at: place)
            state.acknowledgedCount += 1
        }
    }

    /// Everything that waits or is unacknowledged, by token: for the next start.
    func waiting() -> [(token: String, notification: APNsNotification)] {
        state.withLock { state in
            state.devices.flatMap { device in device.waitingInOrder.map { (device.record.token, $0) } }
        }
    }

    func restore(_ waiting: [(token: String, notification: APNsNotification)]) {
        state.withLock { state in
            for (token, notification) in waiting {
                guard let index = state.byToken[token] else { continue }
                state.devices[index].kept.append(notification)
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

    /// The name of the device that has or had a token; nil where none has.
    func name(of token: some StringProtocol) -> String? {
        state.withLock { state in state.byToken[token.lowercased()].map { state.devices[$0].record.name } }
    }

    /// At most `limit` of them, in the order in which they registered.
    func records(limit: Int) -> [DeviceRecord] { state.withLock { $0.devices.prefix(limit).map(\.record) } }
}

/// What a local APNs has to do with devices at the moment, and has done.
package struct DeviceCounts: Codable, Sendable {
    package var devices = 0
    package var online = 0
    /// Stored, or kept since a device went away.
    package var waiting = 0
    package var unacknowledged = 0
    package var acknowledged = 0
    /// Gone because their time was over, or never stored.
    package var expired = 0
}

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

    static func isName(_ name: String, topic: String) -> Bool {
        (1...255).contains(name.utf8.count) && (1...155).contains(topic.utf8.count)
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

    mutating func goAway() {
        link = nil
        var left = kept + unacknowledged.map(\.notification)
        // 0: one attempt, and that was made.
        left.removeAll { $0.expiration == 0 }
        kept = left
        unacknowledged = []
    }

    var waitingInOrder: [APNsNotification] { kept + unacknowledged.map(\.notification) + (stored.map { [$0] } ?? []) }

    mutating func takeWaiting() -> [APNsNotification] {
        // A link that replaces another takes over what that was sent and did not acknowledge.
        let waiting = waitingInOrder
        kept = []
        unacknowledged = []
        stored = nil
        return waiting
    }
}
