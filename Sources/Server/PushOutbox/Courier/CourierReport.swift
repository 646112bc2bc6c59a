internal import PushSender

/// The work that a courier has done so far.
public struct CourierReport: Hashable, Sendable {
    /// The number of pushes that the service has accepted.
    public internal(set) var acceptedCount = 0
    /// How long the accepted pushes had waited since they were enqueued.
    public internal(set) var waits = WaitingTimes()
    /// How often a push was deferred, by reason: the service's own, or `unreachable`, `connection-lost`, `timed-out`.
    public internal(set) var deferred: [String: Int] = [:]
    /// Refusals because a device is gone, by the service's reason. The device's waiting pushes and dead letters are dropped,
    /// unless the app has registered the address since.
    public internal(set) var dropped: [String: Int] = [:]
    /// Refusals that created dead letters, by the service's reason: for one push, or for every push of a device.
    public internal(set) var refused: [String: Int] = [:]
    /// Why the most recent request without a response failed, in the transport's words; public names only.
    public internal(set) var latestFailure: String?
    /// The number of pushes in transit at this moment.
    public internal(set) var inFlightCount = 0

    /// - Parameter waited: The waiting time in milliseconds.
    mutating func add(_ settlement: Settlement, name: String, waited: Int64?) {
        switch settlement {
        case .accepted:
            acceptedCount += 1
            if let waited { waits.add(.milliseconds(max(0, waited))) }
        // A request that this host ended says nothing about the service.
        case .later, .returned: if name != PushTransportError.canceled.name { deferred[name, default: 0] += 1 }
        case .addressGone: dropped[name, default: 0] += 1
        case .refused, .addressRefused: refused[name, default: 0] += 1
        }
    }

    /// The number of requests that got a response or failed.
    public var attemptCount: Int {
        acceptedCount + [deferred, dropped, refused].reduce(0) { $0 + $1.values.reduce(0, +) }
    }
}
