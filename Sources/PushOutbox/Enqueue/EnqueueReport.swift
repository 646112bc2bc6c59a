/// What enqueueing has done.
public struct EnqueueReport: Hashable, Sendable {
    /// Pushes that wait now because of this call.
    public internal(set) var enqueuedCount = 0
    /// Pushes that an earlier call with the same idempotency key had enqueued.
    public internal(set) var alreadyEnqueuedCount = 0
    /// Devices that got nothing, by reason.
    public internal(set) var skipped: [SkipReason: Int] = [:]
}

/// Why a device gets nothing. The codes are stable.
public enum SkipReason: String, Hashable, Sendable, CaseIterable {
    /// It has no address, or its carrier refuses the one it has.
    case noToken = "no-token"
    /// None of its recipients has answered a challenge yet.
    case unproven
    /// Nobody vouches for its recipient, and the caller did not include such devices.
    case unverified
    case recordExpired = "record-expired"
    case recordNotYetValid = "record-not-yet-valid"
    /// It runs another app than the sealer's.
    case otherTopic = "other-topic"
}
