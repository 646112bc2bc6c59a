internal import PushCore
public import SealedPush

/// One sealed push on its way to one device: what a transport sends, the same on each retry.
///
/// There is no way to make one of anything unsealed. Printing one shows its public names only. Source: Specification 2.6
/// and 2.11.
public struct PushRequest: Hashable, Sendable {
    /// Where to.
    public let address: Address
    /// The request's body: at most 4,096 bytes.
    public let body: [UInt8]
    /// For `apns-topic`.
    public let topic: Topic
    /// For `apns-id`: a UUID in small letters.
    public let apnsID: String
    /// For `apns-collapse-id`: at most 64 bytes.
    public let collapseID: String
    /// For `apns-priority`.
    public let priority: PushPriority
    /// For `apns-expiration`: until when the service keeps it for a device that is away; nil leaves that to the service.
    public let expiration: Timestamp?
    /// A hint from whoever keeps a registry: the service has accepted a push for this address and topic before, so this one need not
    /// prove itself. It is not sent, and changes only which connection is used.
    public var isProven = false

    /// - Parameter expiration: nil takes the content's own, where it has one.
    public init(
        _ payload: SealedPayload, to address: Address, priority: PushPriority = .immediate,
        expiration: Timestamp? = nil
    ) {
        self.init(
            address: address, body: payload.json, topic: payload.topic, apnsID: payload.apnsID,
            collapseID: payload.collapseID, priority: priority, expiration: expiration ?? payload.expires)
    }

    /// One that was sealed and stored before.
    package init(
        address: Address, body: [UInt8], topic: Topic, apnsID: String, collapseID: String, priority: PushPriority,
        expiration: Timestamp?
    ) {
        self.address = address
        self.body = body
        self.topic = topic
        self.apnsID = apnsID
        self.collapseID = collapseID
        self.priority = priority
        self.expiration = expiration
    }
}

extension PushRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Neither the whole address nor the body.
    public var description: String { "push \(apnsID) to \(address.logged)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// `apns-priority`.
public enum PushPriority: Int, Hashable, Sendable, CaseIterable {
    /// At once.
    case immediate = 10
    /// When it suits the device's battery.
    case considerate = 5
}

/// The app's own name for one request to send, so that asking again does not send again: 1 to 256 bytes of UTF-8.
///
/// Only a hash is kept where it is stored. A name that can be guessed can be confirmed from its hash, so make it of IDs
/// and not of words: `invitation-8812`, not what the message says.
public struct IdempotencyKey: Hashable, Sendable {
    /// BLAKE2b-256 of the text, under a label of its own.
    package let digest: [UInt8]

    /// Nil unless the text has 1 to 256 bytes.
    public init?(_ text: String) {
        guard (1...256).contains(text.utf8.count) else { return nil }
        digest = BLAKE2b.hash(Array("sealedpush/v1 request".utf8) + [0] + text.utf8, byteCount: 32)
    }

    /// One that nobody else has.
    package static func random() -> IdempotencyKey { IdempotencyKey(digest: SecureRandom.bytes(count: 32)) }

    private init(digest: [UInt8]) { self.digest = digest }
}
