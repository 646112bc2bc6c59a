internal import PushCore
public import PushSender
public import SealedPush

/// What `sealed_push.enqueue` takes: a push that is enqueued in the application's own transaction in PostgreSQL.
///
/// Run ``statement`` with ``parameters`` between the application's own `BEGIN` and `COMMIT`, with any client. Holds no
/// secret. Source: Docs/PostgreSQL.md.
public struct EnqueueArguments: Hashable, Sendable {
    /// For ``statement``, in its order, as PostgreSQL reads them from text.
    public let parameters: [String?]
    /// By the function's names, `key` and `code` only where there are any.
    package let json: JSONValue

    /// - Parameters:
    ///   - sealer: what has sealed it.
    ///   - device: the device's name in the outbox.
    ///   - expiration: in place of the content's own.
    ///   - key: an idempotency key, 1 to 256 bytes of UTF-8: with it, the same is not enqueued twice.
    ///   - outboxKey: where the outbox has one. Costs one hash.
    public init(
        _ payload: SealedPayload, from sealer: Sealer, for device: DeviceName, priority: PushPriority = .immediate,
        expiration: Timestamp? = nil, key: String? = nil, outboxKey: OutboxKey? = nil
    ) {
        let entry = EntryRow(
            payload, priority: priority, expiration: expiration ?? payload.expires, device: device.description,
            sealedBy: SealedBy(sealer))
        let (recipient, body) = (payload.recipient.description, String(decoding: payload.json, as: UTF8.self))
        let sender = SealedBy(sealer).description
        let code = outboxKey.map { "\\x\(Hex.encode($0.code(entry)))" }
        parameters = [
            device.description, recipient, body, entry.apnsID, entry.collapseID, String(entry.priority),
            entry.expiration.map { String($0) }, sender, key, code,
        ]
        var members: [String: JSONValue] = [
            "device": .string(device.description), "recipient": .string(recipient), "payload": .string(body),
            "apns_id": .string(entry.apnsID), "collapse_id": .string(entry.collapseID),
            "priority": .integer(Int64(entry.priority)), "expiration": entry.expiration.map { .integer($0) } ?? .null,
            "sender": .string(sender),
        ]
        members["key"] = key.map { .string($0) }
        members["code"] = code.map { .string($0) }
        json = .object(members)
    }

    /// Its answer is one row of one word: `enqueued`, or why not.
    public static let statement = """
        SELECT sealed_push.enqueue(device => $1, recipient => $2, payload => $3, apns_id => $4, collapse_id => $5, \
        priority => $6, expiration => $7, sender => $8, key => $9, code => $10)
        """
}
