internal import PushCrypto
internal import SealedPush
internal import _PushBase

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
        var heldBack: Set<Int> = []
        var acknowledgedCount = 0
        var expiredCount = 0
    }

    init(
        _ configuration: LocalAPNsConfiguration, known: [DeviceRecord],
        record: @escaping @Sendable (DeviceRecord) -> Void
    ) {
        self.configuration = configuration
        self.record = record
        state.withLock { state in
            for device in known { Self.put(device, into: &state) }
        }
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

    /// Checks 16 to 19 of ``RequestChecks``. Returns the device's place; nil for one that nobody knows but may be.
    func find(_ path: Substring, bundleID: String, at now: Int64) throws(APNsRefusal) -> Int? {
        let token = String(path)
        return try state.withLock { state throws(APNsRefusal) -> Int? in
            let exact = state.byToken[token]
            let token = exact == nil ? token.lowercased() : token
            guard let index = exact ?? state.byToken[token] else {
                guard configuration.acceptsAnyDevice, DeviceRecord.isToken(token) else {
                    throw APNsRefusal(.badDeviceToken)
                }
                return nil
            }
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
            if decision.isHeldBack, state.devices[index].link != nil {
                state.devices[index].heldBack.append((notification, decision.deliveryCount, configuration.now()))
                state.heldBack.insert(index)
                return .heldBack
            }
            let outcome = Self.send(notification, to: index, count: decision.deliveryCount, &state, configuration)
            Self.release(index, &state, configuration)
            return outcome
        }
    }

    /// What the reorder fault has kept back for so many milliseconds goes out, with what was kept back after it.
    func releaseHeldBack(olderThan age: Int64) {
        state.withLock { state in
            guard !state.heldBack.isEmpty else { return }
            let latest = configuration.now() - age
            for index in state.heldBack where state.devices[index].heldBack.first.map({ $0.since <= latest }) ?? true {
                Self.release(index, &state, configuration)
            }
        }
    }

    private static func release(_ index: Int, _ state: inout State, _ configuration: LocalAPNsConfiguration) {
        state.heldBack.remove(index)
        guard !state.devices[index].heldBack.isEmpty else { return }
        let heldBack = state.devices[index].heldBack
        state.devices[index].heldBack = []
        for (notification, count, _) in heldBack {
            _ = send(notification, to: index, count: count, &state, configuration)
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
    /// By a fault: comes later.
    case heldBack = "held-back"
    /// To a token that no device has, where any is accepted.
    case nowhere
}

/// A connection to one or more devices.
protocol DeviceLink: AnyObject, Sendable {
    func send(number: UInt64, token: String, _ notification: APNsNotification)
}
