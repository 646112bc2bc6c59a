/// What a courier has done so far.
public struct CourierReport: Hashable, Sendable {
    /// Pushes that APNs has taken.
    public internal(set) var acceptedCount = 0
    /// How often a push was put off, by reason: Apple's words, or `unreachable`, `connection-lost`, `timed-out`.
    public internal(set) var retries: [String: Int] = [:]
    /// Refusals that say a device is gone, by Apple's reason. What waited for it is dropped, unless the app has registered the
    /// token since.
    public internal(set) var dropped: [String: Int] = [:]
    /// Refusals that made dead letters, by Apple's reason: of one push, or of all that wait for a device.
    public internal(set) var dead: [String: Int] = [:]
    /// Why the latest request that got no answer failed, in the transport's words; public names only.
    public internal(set) var latestFailure: String?
    /// Pushes that are on their way at this moment.
    public internal(set) var inFlightCount = 0

    /// Requests that got an answer, or failed to.
    public var attemptCount: Int {
        acceptedCount + [retries, dropped, dead].reduce(0) { $0 + $1.values.reduce(0, +) }
    }
}

/// Why a courier has stopped before its time. Whatever it had not delivered still waits.
public enum CourierError: Error, Equatable, Sendable {
    /// APNs refuses the provider's key, certificate or topic: no push can be delivered until an operator has corrected it.
    case providerRefused(status: Int, reason: String?)
    /// One token or topic after another was refused for this reason, and none was taken: most likely the environment, the key or
    /// the app is wrong. Those that were refused first are disabled; `Outbox.retry(reason:)` takes that back.
    case allRefused(reason: String)
    /// This machine's clock is wrong: APNs calls a fresh provider token expired.
    case wrongClock
    /// The transport has been shut down.
    case transportShutDown
    case outbox(OutboxError)
}

extension CourierError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .providerRefused(let status, "InvalidProviderToken"):
            "APNs refuses this provider (\(status) InvalidProviderToken): the key, its ID and the team don't belong together, the key was revoked, or this machine's clock is ahead"
        case .providerRefused(let status, let reason):
            "APNs refuses this provider (\(status) \(reason ?? "without a reason")): correct the key, the team or the topic"
        case .allRefused(let reason):
            "APNs refuses one device after another (\(reason)): is this the environment, production or sandbox, and the app that the tokens are of? What was disabled comes back with `retry`"
        case .wrongClock: "this machine's clock is wrong: APNs calls a fresh provider token expired"
        case .transportShutDown: "the transport has been shut down"
        case .outbox(let error): error.description
        }
    }
}
