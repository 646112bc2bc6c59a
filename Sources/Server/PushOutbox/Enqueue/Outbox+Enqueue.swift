public import PushSender
public import SealedPush

extension Outbox {
    /// Seals a message for devices and stores what is sealed: one step, durable on return.
    ///
    /// If the process dies meanwhile, what was not stored yet was never enqueued; with a key, the same call made again goes on
    /// from there, and enqueues nothing twice. A device and a user are one transaction. Everyone is two for each thousand
    /// devices, so that neither memory nor the database's lock is held for long, and is shared between all calls under one key
    /// at the same time, in this process and others: each takes the next thousand. About 10 ms, and for each device 120 µs of
    /// a core where the sealer has not seen it before.
    ///
    /// - Parameters:
    ///   - sealer: for the app, and under the key, that the devices trust.
    ///   - expiration: for `apns-expiration`: until when the push is of use. Nil takes the content's own. What is stale is
    ///     dropped, not sent; after 30 days, everything is.
    ///   - includingUnverified: whether devices count whose recipient nobody vouches for.
    ///   - key: what makes a repeated call harmless, for 30 days. Strongly advised for everyone.
    ///   - workerCount: for everyone, how many thousands this call works on at once. While one is stored, another is sealed.
    ///   - progress: called after each transaction, from one at a time.
    /// - Throws: `seal`, `unknownDevice`, `unknownUser`, `keyUsedForOthers`, `keyNeeded`, `otherKey`, or what the database
    ///   says.
    @discardableResult public func enqueue(
        _ content: Content, to audience: Audience, from sealer: Sealer, priority: PushPriority = .immediate,
        expiration: Timestamp? = nil, includingUnverified: Bool = false, key: IdempotencyKey? = nil,
        workerCount: Int = 1, progress: (@Sendable (EnqueueReport) -> Void)? = nil
    ) async throws(OutboxError) -> EnqueueReport {
        try await requireKey()
        var content = content
        content.id = content.id ?? .random()
        let order = EnqueueOrder(
            content: content, topic: sealer.topic, audience: audience, priority: priority, expiration: expiration,
            includesUnverified: includingUnverified,
            // How far a message for everyone has come is noted under a key in any case.
            key: key ?? (audience == .everyone ? .random() : nil), sealedBy: SealedBy(sealer), outboxKey: self.key)
        let run = EnqueueRun(of: order, into: store, with: sealer, clock: clock, progress: progress)
        return try await run.run(workerCount: workerCount)
    }
}

/// Whom a message goes to.
public enum Audience: Hashable, Sendable {
    case device(DeviceName)
    /// All devices of one user, in one transaction.
    case user(UserName)
    /// All devices of the sealer's app.
    case everyone

    /// For telling whether a request is repeated for the same ones.
    var text: String {
        switch self {
        case .device(let name): "device \(name)"
        case .user(let name): "user \(name)"
        case .everyone: "everyone"
        }
    }
}

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
    /// Its row was not written by who has the outbox's key: remove the device, and let it enroll again.
    case forged
}
