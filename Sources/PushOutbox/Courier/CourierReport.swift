/// What a courier has done so far.
public struct CourierReport: Hashable, Sendable {
    /// Pushes that the service has taken.
    public internal(set) var acceptedCount = 0
    /// How often a push was put off, by reason: the service's words, or `unreachable`, `connection-lost`, `timed-out`.
    public internal(set) var retries: [String: Int] = [:]
    /// Refusals that say a device is gone, by the service's reason. What waited for it is dropped, unless the app has
    /// registered the address since.
    public internal(set) var dropped: [String: Int] = [:]
    /// Refusals that made dead letters, by the service's reason: of one push, or of all that wait for a device.
    public internal(set) var dead: [String: Int] = [:]
    /// Why the latest request that got no answer failed, in the transport's words; public names only.
    public internal(set) var latestFailure: String?
    /// Pushes that are on their way at this moment.
    public internal(set) var inFlightCount = 0

    mutating func add(_ settlement: Settlement, name: String) {
        switch settlement {
        case .accepted: acceptedCount += 1
        case .later, .returned: retries[name, default: 0] += 1
        case .addressGone: dropped[name, default: 0] += 1
        case .dead, .addressRefused: dead[name, default: 0] += 1
        }
    }

    /// Requests that got an answer, or failed to.
    public var attemptCount: Int {
        acceptedCount + [retries, dropped, dead].reduce(0) { $0 + $1.values.reduce(0, +) }
    }
}

/// Why a courier has stopped before its time. Whatever it had not delivered still waits.
public enum CourierError: Error, Equatable, Sendable {
    /// The service refuses the sender, its key or the app, and the transport says why: no push can be delivered until an
    /// operator has corrected it.
    case senderRefused(reason: String, problem: String?)
    /// One push after another was refused for a reason that may concern all, and none was taken. The addresses that were
    /// refused first are disabled; `Outbox.retry(reason:)` takes that back.
    case allRefused(reason: String, problem: String)
    /// This machine's clock is wrong: the service calls fresh credentials expired.
    case wrongClock
    /// The transport has been shut down.
    case transportShutDown
    case outbox(OutboxError)
}

extension CourierError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .senderRefused(let reason, let problem): problem ?? "the service refuses this sender (\(reason))"
        case .allRefused(_, let problem): "\(problem) What was disabled comes back with `retry`"
        case .wrongClock: "this machine's clock is wrong: the service calls fresh credentials expired"
        case .transportShutDown: "the transport has been shut down"
        case .outbox(let error): error.description
        }
    }
}
