internal import PushCore
public import PushSender
public import SealedPush

/// What `sealed_push.enqueue` takes: a push that is enqueued in the application's own transaction in PostgreSQL.
///
/// Run ``statement`` with ``parameters`` between the application's own `BEGIN` and `COMMIT`, with any client. Holds no
/// secret. Source: Docs/Operations.md, 9.1.
public struct EnqueueArguments: Hashable, Sendable {
    /// The device's name in the outbox.
    public let device: String
    /// The key that it was sealed to, `push1…`.
    public let recipient: String
    /// The request's body: 2 to 4,096 bytes of UTF-8.
    public let payload: String
    /// A UUID.
    public let apnsID: String
    /// 22 characters.
    public let collapseID: String
    /// 10 or 5.
    public let priority: Int
    /// Seconds since 1970; nil where neither the caller nor the content says any.
    public let expiration: Int64?
    /// `pushsender1…`, or `anonymous`.
    public let sender: String
    /// An idempotency key, 1 to 256 bytes of UTF-8: with it, the same is not enqueued twice.
    public let key: String?
    /// By an ``OutboxKey``: 32 bytes.
    public let code: [UInt8]?

    /// - Parameters:
    ///   - sealer: what has sealed it.
    ///   - expiration: in place of the content's own.
    ///   - outboxKey: where the outbox has one. Costs one hash.
    public init(
        _ payload: SealedPayload, from sealer: Sealer, for device: DeviceName, priority: PushPriority = .immediate,
        expiration: Timestamp? = nil, key: String? = nil, outboxKey: OutboxKey? = nil
    ) {
        let expiration = (expiration ?? payload.expires)?.secondsSince1970
        let sealedBy = SealedBy(sealer).description
        self.device = device.description
        recipient = payload.recipient.description
        self.payload = String(decoding: payload.json, as: UTF8.self)
        apnsID = payload.apnsID
        collapseID = payload.collapseID
        self.priority = priority.rawValue
        self.expiration = expiration
        sender = sealedBy
        self.key = key
        code = outboxKey.map {
            $0.code(
                EntryRow(
                    priority: priority.rawValue, expiration: expiration, apnsID: payload.apnsID,
                    collapseID: payload.collapseID, body: payload.json, topic: payload.topic.description,
                    device: device.description, sender: sealedBy))
        }
    }

    /// Its answer is one row of one word: `enqueued`, or why not.
    public static let statement = """
        SELECT sealed_push.enqueue(device => $1, recipient => $2, payload => $3, apns_id => $4, collapse_id => $5, \
        priority => $6, expiration => $7, sender => $8, key => $9, code => $10)
        """

    /// For ``statement``, in its order, as PostgreSQL reads them from text.
    public var parameters: [String?] {
        [
            device, recipient, payload, apnsID, collapseID, String(priority), expiration.map { String($0) }, sender,
            key, codeText,
        ]
    }

    /// By the function's names, `key` and `code` only where there are any.
    package var json: JSONValue {
        var members: [String: JSONValue] = [
            "device": .string(device), "recipient": .string(recipient), "payload": .string(payload),
            "apns_id": .string(apnsID), "collapse_id": .string(collapseID), "priority": .integer(Int64(priority)),
            "expiration": expiration.map { .integer($0) } ?? .null, "sender": .string(sender),
        ]
        members["key"] = key.map { .string($0) }
        members["code"] = codeText.map { .string($0) }
        return .object(members)
    }

    private var codeText: String? { code.map { "\\x\(Hex.encode($0))" } }
}
