package import PushSender
package import SealedPush

/// The parameters of an enqueue call, the same for all its batches.
package struct EnqueueOrder: Sendable {
    package let content: Content
    package let topic: Topic
    package let audience: Audience
    package let priority: PushPriority
    package let expiration: Timestamp?
    package let includesUnverified: Bool
    /// The idempotency key; never `nil` for a broadcast.
    package let key: IdempotencyKey?
    package let sealedBy: SealedBy
    package let outboxKey: OutboxKey?
    /// The message's ID in the outbox. Devices use the content's own ID, which isn't stored in any database.
    package var message = MessageID.random()
    /// A policy in place of the sealer's own.
    package var fit: FitPolicy?
    /// The fingerprint that detects different content under the same key; `nil` without a key, or if it may differ.
    package var fingerprint: [UInt8]?

    /// - Throws: `keyUsedForOthers` unless an earlier request with the key was the same.
    package func requireSame(audience: String, fingerprint other: [UInt8]?) throws(OutboxError) {
        // Compared by bytes: names that only look the same are different.
        let isOther = fingerprint.flatMap { new in other.map { Sealer.differ(new, $0) } } ?? false
        guard audience.utf8.elementsEqual(audienceText.utf8), !isOther else { throw .keyUsedForOthers }
    }

    /// The audience as text, for telling whether a repeated request has the same one.
    package var audienceText: String { audience.text(topic) }

    /// The earlier of the caller's and the content's expiration in milliseconds, or `nil` if neither is set.
    func end(of payload: SealedPayload) -> Int64? {
        // Zero is Apple's value for "try once": it doesn't limit how long the push may wait here.
        let given = expiration.flatMap { $0.secondsSince1970 == 0 ? nil : $0 }
        return [given, payload.expires].compactMap { $0.map { ($0.secondsSince1970 + 1) * 1_000 } }.min()
    }

    /// The maximum retention in milliseconds: 30 days. Source: Specification 6, the oldest content that devices show.
    package static let lifetime = TimeRules.maximumAge * 1_000
}
