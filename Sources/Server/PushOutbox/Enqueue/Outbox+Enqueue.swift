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
    ///   - progress: called after each transaction.
    /// - Throws: `seal`, `unknownDevice`, `unknownUser`, `keyUsedForOthers`, `keyNeeded`, `otherKey`, or what the database
    ///   says.
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
            // How far a message for everyone has come is noted under a key in any case.
            key: key ?? (audience == .everyone ? .random() : nil), sealedBy: SealedBy(sealer), outboxKey: self.key,
            fingerprint: fingerprint)
        if audience == .everyone {
            // Before its key is noted as used for this content.
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
                // Somebody else has stored this batch, or a device has changed since: it is read anew, if it is left.
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
        // Nobody else can have stored what is lost time and again: its rows are not as they must be.
        throw .damaged
    }

    private static let maximumLossCount = 1_000
}

/// Whom a message goes to.
public enum Audience: Hashable, Sendable {
    case device(DeviceName)
    /// All devices of one user, in one transaction.
    case user(UserName)
    /// All devices of the sealer's app.
    case everyone
}

/// What enqueueing has done.
public struct EnqueueReport: Hashable, Sendable {
    /// By which ``Outbox/report(on:)`` knows the message; the same for each call with one idempotency key.
    public internal(set) var id: MessageID
    /// Pushes that wait now because of this call.
    public internal(set) var enqueuedCount = 0
    /// Pushes that an earlier call with the same idempotency key had enqueued.
    public internal(set) var alreadyEnqueuedCount = 0
    /// Devices that got nothing, by reason.
    public internal(set) var skipped: [SkipReason: Int] = [:]
    /// Those that were skipped as ``SkipReason/notHybrid``, by name; the first 100.
    public internal(set) var notHybrid: [DeviceName] = []

    package static let maximumNameCount = 100
}

/// A device's number, 0 for all, and its name; what became of a message there, and how often.
package typealias MessageOutcome = (device: Int64, name: String?, outcome: String, count: Int)

/// What became of a message.
public struct MessageReport: Hashable, Sendable {
    /// Devices that it was enqueued for.
    public private(set) var enqueuedCount = 0
    /// How many of them ended how: `waiting`, `accepted`, `expired`, `purged`, `discarded`, `dropped:REASON`, `dead:REASON`.
    public private(set) var outcomes: [String: Int] = [:]
    /// The same by device, for those that are still registered; nil for a message to everyone.
    public private(set) var devices: [DeviceName: String]? = [:]

    /// Nil if the message is unknown.
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
    /// Its key is hybrid, and the content, which goes to everyone, is too large for it.
    case tooLarge = "too-large"
    /// Its key is not hybrid, and the sealer requires hybrid keys.
    case notHybrid = "not-hybrid"
    /// The content, which goes to everyone, expires after the device may have erased its key.
    case expiresTooLate = "expires-too-late"
    /// Its row was not written by who has the outbox's key: remove the device, and let it enroll again.
    case forged
}

/// By whose key a push was sealed that waits in an outbox.
public enum SealedBy: Hashable, Sendable {
    case sender(SenderPublicKey)
    /// By nobody's: devices show such a push only where the app allows that.
    case anonymous

    package init(_ sealer: Sealer) { self = sealer.sender.map { .sender($0) } ?? .anonymous }
}

extension SealedBy: CustomStringConvertible {
    /// `pushsender1…` or `anonymous`.
    public var description: String {
        switch self {
        case .sender(let sender): sender.description
        case .anonymous: "anonymous"
        }
    }

    /// Reads ``description``; nil for anything else.
    public init?(parsing text: String) {
        if text == "anonymous" {
            self = .anonymous
        } else {
            guard let sender = try? SenderPublicKey(parsing: text) else { return nil }
            self = .sender(sender)
        }
    }
}
