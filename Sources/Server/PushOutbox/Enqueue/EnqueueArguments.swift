internal import PushCore
public import PushSender
public import SealedPush

/// The arguments of `sealed_push.enqueue`, which enqueues a push in the application's own PostgreSQL transaction.
///
/// Run ``statement`` with ``parameters`` between the application's own `BEGIN` and `COMMIT`, with any client. So this type isn't
/// in `PushPostgres`, which needs libpq. Contains no secret. Source: Docs/PostgreSQL.md.
public struct EnqueueArguments: Hashable, Sendable {
    /// The parameters of ``statement``, in order, in PostgreSQL's text format.
    public let parameters: [String?]
    /// The arguments by their names in the function; `key` and `code` only if present.
    package let json: JSONValue

    /// Creates the arguments for one sealed push.
    ///
    /// - Parameters:
    ///   - payload: The sealed push.
    ///   - sealer: The sealer that sealed the payload.
    ///   - device: The device's name in the outbox.
    ///   - priority: The value for `apns-priority`; a background push has its own.
    ///   - expiration: Replaces the content's own expiration, also as the end of waiting in the queue. With 0, "try once",
    ///     only the limit of 30 days ends that. ``Outbox/enqueue(_:to:from:includingUnverified:progress:)`` instead ends it
    ///     at the earlier of both.
    ///   - key: An idempotency key, 1 to 256 bytes of UTF-8, which prevents the same push from being enqueued twice.
    ///   - outboxKey: The outbox's key, if it has one. Costs one hash.
    public init(
        _ payload: SealedPayload, from sealer: Sealer, for device: DeviceName, priority: PushPriority = .immediate,
        expiration: Timestamp? = nil, key: String? = nil, outboxKey: OutboxKey? = nil
    ) {
        let entry = EntryRow(
            payload, priority: priority, expiration: expiration ?? payload.expires, device: device.description,
            sealedBy: SealedBy(sealer), key: outboxKey)
        let (recipient, body) = (payload.recipient.description, String(decoding: entry.body, as: UTF8.self))
        let code = entry.code.map { "\\x\(Hex.encode($0))" }
        parameters = [
            device.description, recipient, body, entry.apnsID, entry.collapseID, String(entry.priority),
            entry.expiration.map { String($0) }, entry.sender, key, code,
        ]
        var members: [String: JSONValue] = [
            "device": .string(device.description), "recipient": .string(recipient), "payload": .string(body),
            "apns_id": .string(entry.apnsID), "collapse_id": .string(entry.collapseID),
            "priority": .integer(Int64(entry.priority)), "expiration": entry.expiration.map { .integer($0) } ?? .null,
            "sender": entry.sender.map { .string($0) } ?? .null,
        ]
        members["key"] = key.map { .string($0) }
        members["code"] = code.map { .string($0) }
        json = .object(members)
    }

    /// The statement to run. It returns one row with one word: `enqueued`, or the reason why the push wasn't enqueued.
    public static let statement = """
        SELECT sealed_push.enqueue(device => $1, recipient => $2, payload => $3, apns_id => $4, collapse_id => $5, \
        priority => $6, expiration => $7, sender => $8, key => $9, code => $10)
        """
}
