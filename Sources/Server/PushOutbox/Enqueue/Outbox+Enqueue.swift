public import PushSender
public import SealedPush

extension Outbox {
    /// Seals a message for devices and stores the sealed payloads in one step, durable on return.
    ///
    /// If the process dies partway through, pushes that weren't stored yet aren't enqueued. With a key, the same call
    /// continues from there and doesn't enqueue any push twice. A device or a user takes one transaction. A broadcast takes
    /// two for each thousand devices, so that it uses little memory and holds the database's lock only briefly. Concurrent
    /// calls with the same key, in any process, share the work: each takes the next thousand. Takes about 10 ms, plus 120
    /// µs of a core for each device that the sealer hasn't seen before.
    ///
    /// - Parameters:
    ///   - content: The content; without an ID, it gets a random one.
    ///   - audience: The recipients.
    ///   - sealer: The sealer for the app, with the sender key that the devices trust.
    ///   - priority: The value for `apns-priority`.
    ///   - expiration: The value for `apns-expiration`, the time until which the push is useful. `nil` uses the content's
    ///     own. Stale pushes, and all pushes after 30 days, are dropped instead of sent.
    ///   - includingUnverified: Whether to include devices whose recipient is unverified.
    ///   - key: An idempotency key, which makes a repeated call harmless for 30 days. Strongly advised for broadcasts.
    ///   - progress: Called after each transaction.
    /// - Throws: `seal`, `unknownDevice`, `unknownUser`, `keyUsedForOthers`, `keyNeeded`, `otherKey`, or the database's
    ///   error.
    @discardableResult public func enqueue(
        _ content: Content, to audience: Audience, from sealer: Sealer, priority: PushPriority = .immediate,
        expiration: Timestamp? = nil, includingUnverified: Bool = false, key: IdempotencyKey? = nil,
        progress: (@Sendable (EnqueueReport) -> Void)? = nil
    ) async throws(OutboxError) -> EnqueueReport {
        try await requireKey()
        let fingerprint = key.map { sealer.fingerprint(of: content, under: $0) }
        var content = content
        content.id = content.id ?? .random()
        var order = EnqueueOrder(
            content: content, topic: sealer.topic, audience: audience, priority: priority, expiration: expiration,
            includesUnverified: includingUnverified,
            // The progress of a broadcast is always recorded under a key.
            key: key ?? (audience == .everyone ? .random() : nil), sealedBy: SealedBy(sealer), outboxKey: self.key,
            fingerprint: fingerprint)
        if audience == .everyone {
            // Checked before the key is recorded as used for this content.
            do throws(SealError) { _ = try sealer.prepare(content) } catch { throw .seal(error) }
        }
        var report = EnqueueReport(id: order.message)
        var hasStored = false
        var lossCount = 0
        while lossCount < Self.maximumLossCount {
            let batch = try await store.candidates(for: order)
            if !hasStored { report.alreadyEnqueuedCount = batch.alreadyEnqueuedCount }
            order.message = batch.message ?? order.message
            report.id = order.message
            guard !batch.isDone else { return report }
            var skipped = EnqueueBatch.Skipped()
            let now = Timestamp(clamping: clock.now() / 1_000)
            let sealed = try await batch.sealed(order, with: sealer, at: now, skipped: &skipped)
            guard try await store.enqueue(sealed, of: batch, order) else {
                // Another caller has stored this batch, or a device has changed: read it again if it's still there.
                lossCount += 1
                continue
            }
            (hasStored, lossCount) = (true, 0)
            report.enqueuedCount += sealed.count
            report.skipped.merge(skipped.counts, uniquingKeysWith: +)
            report.notHybrid = Array((report.notHybrid + skipped.notHybrid).prefix(EnqueueReport.maximumNameCount))
            progress?(report)
            if batch.range == nil { return report }
        }
        // A batch that is lost this often can't have been stored by other callers: its rows must be invalid.
        throw .damaged
    }

    private static let maximumLossCount = 1_000
}

/// The recipients of a message.
public enum Audience: Hashable, Sendable {
    /// One device.
    case device(DeviceName)
    /// All devices of one user, in one transaction.
    case user(UserName)
    /// All devices of the sealer's app.
    case everyone
}

/// The result of enqueueing a message.
public struct EnqueueReport: Hashable, Sendable {
    /// The message's ID for ``Outbox/report(on:)``; the same for every call with the same idempotency key.
    public internal(set) var id: MessageID
    /// The number of pushes that this call added to the queue.
    public internal(set) var enqueuedCount = 0
    /// The number of pushes that an earlier call with the same idempotency key enqueued.
    public internal(set) var alreadyEnqueuedCount = 0
    /// The number of devices that got no push, by reason.
    public internal(set) var skipped: [SkipReason: Int] = [:]
    /// The names of the devices skipped as ``SkipReason/notHybrid``; the first 100.
    public internal(set) var notHybrid: [DeviceName] = []

    package static let maximumNameCount = 100
}

/// A device's number (0 for all devices) and name, the message's outcome there, and the outcome's count.
package typealias MessageOutcome = (device: Int64, name: String?, outcome: String, count: Int)

/// The outcomes of a message.
public struct MessageReport: Hashable, Sendable {
    /// The number of devices that the message was enqueued for.
    public private(set) var enqueuedCount = 0
    /// Devices by outcome: `waiting`, `accepted`, `expired`, `purged`, `discarded`, `dropped:REASON`, `dead:REASON`.
    public private(set) var outcomes: [String: Int] = [:]
    /// The outcome for each device that is still registered; `nil` for a message to everyone.
    public private(set) var devices: [DeviceName: String]? = [:]

    /// Creates a report, or returns `nil` if the message is unknown.
    init?(_ rows: [MessageOutcome]) {
        var ended: [Int64: (name: String?, outcome: String?)] = [:]
        for row in rows {
            guard row.outcome != Tally.enqueued else {
                enqueuedCount += row.count
                ended[row.device, default: (row.name, nil)].name = row.name
                continue
            }
            guard row.count > 0 else { continue }
            outcomes[row.outcome, default: 0] += row.count
            ended[row.device] = (row.name, row.outcome)
        }
        guard enqueuedCount > 0 else { return nil }
        let waitingCount = enqueuedCount - outcomes.values.reduce(0, +)
        if waitingCount > 0 { outcomes[Tally.waiting] = waitingCount }
        if ended[0] != nil { devices = nil }
        for (name, outcome) in ended.values {
            if let name = name.flatMap(DeviceName.init(parsing:)) { devices?[name] = outcome ?? Tally.waiting }
        }
    }
}

/// The reason why a device gets no push. The codes are stable.
public enum SkipReason: String, Hashable, Sendable, CaseIterable {
    /// The device has no address, or the carrier refuses it.
    case noToken = "no-token"
    /// None of the device's recipients has answered a challenge yet.
    case unproven
    /// The device's recipient is unverified, and the caller didn't include such devices.
    case unverified
    /// The device's record has expired.
    case recordExpired = "record-expired"
    /// The device's record was created more than 26 hours ahead of this clock.
    case recordNotYetValid = "record-not-yet-valid"
    /// The device runs an app other than the sealer's.
    case otherTopic = "other-topic"
    /// The device's key is hybrid, and the broadcast content is too large for it.
    case tooLarge = "too-large"
    /// The device's key isn't hybrid, and the sealer requires hybrid keys.
    case notHybrid = "not-hybrid"
    /// The broadcast content expires after the device may have erased its key.
    case expiresTooLate = "expires-too-late"
    /// The device's row was written without the outbox's key. See ``Outbox/unusableDevices()``.
    case forged
    /// The device's row isn't valid: it was written or changed in the database. See ``Outbox/unusableDevices()``.
    case damaged
}

/// The key that sealed a push in an outbox.
public enum SealedBy: Hashable, Sendable {
    /// A sender's key, which devices authenticate.
    case sender(SenderPublicKey)
    /// No sender key. Devices show such a push only if the app allows it.
    case anonymous

    package init(_ sealer: Sealer) { self = sealer.sender.map { .sender($0) } ?? .anonymous }
}

extension SealedBy: CustomStringConvertible {
    /// The sender's public key, `pushsender1…`, or `anonymous`.
    public var description: String {
        switch self {
        case .sender(let sender): sender.description
        case .anonymous: "anonymous"
        }
    }

    /// Parses ``description``; returns `nil` for any other text.
    public init?(parsing text: String) {
        if text == "anonymous" {
            self = .anonymous
        } else {
            guard let sender = try? SenderPublicKey(parsing: text) else { return nil }
            self = .sender(sender)
        }
    }
}
