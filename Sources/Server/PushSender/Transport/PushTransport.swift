internal import PushCore
public import SealedPush

/// Delivers sealed pushes to one carrier's addresses: APNs over HTTP/2 (`PushAPNS`), or another service.
///
/// It's called from many tasks at once. An implementation bounds every wait, and translates the service's responses into a
/// ``PushOutcome``. It answers a push for another carrier's address with ``PushOutcome/change(_:)``.
public protocol PushTransport: Sendable {
    /// Sends one push and waits for the response.
    ///
    /// - Throws: ``PushTransportError`` if there was no response. The push may still have been delivered.
    func deliver(_ request: PushRequest) async throws(PushTransportError) -> PushOutcome
}

/// The reason that a push got no response.
public enum PushTransportError: Error, Hashable, Sendable {
    /// The push wasn't sent, or the service reported that it didn't process it. There was no connection, no free stream in
    /// time, or no provider token, or the push had expired. The text says which.
    case unreachable(String)
    /// The connection was lost, reset, or closed before the response. The push may have been delivered. The text says how.
    case connectionLost(String)
    /// No response came within the request's deadline. The push may have been delivered.
    case timedOut
    /// The transport already holds its maximum number of pushes. The push wasn't sent.
    case overloaded
    /// The transport is shutting down. The push wasn't sent.
    case shuttingDown
    /// The service reports fresh credentials as expired, so this machine's clock is wrong.
    case wrongClock
    /// The calling task was canceled.
    case cancelled

    /// Whether the push may have reached the service.
    public var mayHaveBeenDelivered: Bool {
        switch self {
        case .connectionLost, .timedOut, .cancelled: true
        case .unreachable, .overloaded, .shuttingDown, .wrongClock: false
        }
    }

    /// The error's name for reports, without the transport's own text.
    package var name: String {
        switch self {
        case .unreachable: "unreachable"
        case .connectionLost: "connection-lost"
        case .timedOut: "timed-out"
        case .overloaded: "overloaded"
        case .shuttingDown: "shutting-down"
        case .wrongClock: "wrong-clock"
        case .cancelled: "cancelled"
        }
    }
}

/// The result of a push, as its transport understands the service's response. Each service has its own reasons, and only its
/// transport needs to know what they mean.
public enum PushOutcome: Hashable, Sendable {
    /// The service accepted the push. That doesn't mean that it reaches the device.
    ///
    /// - Parameter uniqueID: The service's ID for the push, if it returns one: `apns-unique-id`, in Apple's sandbox.
    case accepted(uniqueID: String?)
    /// The address has been invalid since that time. Drop the push, and the address unless it was registered later.
    case gone(since: Timestamp, PushReason)
    /// The service won't deliver to this address. Don't use it again until an operator has looked into it.
    case refused(PushReason)
    /// The push itself is fine. Send it again later.
    case later(PushDelay, PushReason)
    /// The push can't be delivered as it is, because the request is wrong.
    case change(PushReason)
    /// Nothing can be delivered until an operator corrects a problem. Stop, and report it.
    case stop(PushReason)

    /// The reason that the push wasn't accepted, or nil if it was.
    public var reason: PushReason? {
        switch self {
        case .accepted: nil
        case .gone(_, let reason), .refused(let reason), .later(_, let reason), .change(let reason), .stop(let reason):
            reason
        }
    }
}

/// The reason that a push wasn't accepted.
public struct PushReason: Hashable, Sendable {
    /// The service's name for it, for reports and dead letters: at most 256 bytes.
    public let name: String
    /// A sentence that tells an operator what is likely wrong with all pushes, or nil if the reason concerns only this one.
    /// It's for ``PushOutcome/stop(_:)``, and for when push after push fails for this reason and none is accepted.
    public let problem: String?

    /// Creates a reason. The name is cut to 256 bytes, between characters.
    public init(_ name: String, problem: String? = nil) {
        self.name = name.prefix(byteCount: 256)
        self.problem = problem
    }
}

/// How long a push waits before it's sent again. All except `exactly` grow with each attempt; the sender chooses how.
public enum PushDelay: Hashable, Sendable {
    /// Wait for another connection. The push isn't the problem.
    case connection
    /// This device gets too many pushes.
    case device
    /// The service has problems.
    case service
    /// All pushes must wait.
    case everything
    /// Like `service`, but for a few attempts only, because the transport doesn't understand the response.
    case doubtful
    /// The time that the service requests.
    case exactly(Duration)
}

/// A sealed push to one device, as a transport sends it. It stays the same on each retry.
///
/// It can't be created from anything unsealed. Printing it shows only public names. Source: Specification 2.6 and 2.11.
public struct PushRequest: Hashable, Sendable {
    /// The destination.
    public let address: Address
    /// The request's body: at most 4,096 bytes.
    public let body: [UInt8]
    /// The value of `apns-topic`.
    public let topic: Topic
    /// The value of `apns-id`: a lowercase UUID.
    public let apnsID: String
    /// The value of `apns-collapse-id`: at most 64 bytes.
    public let collapseID: String
    /// The value of `apns-priority`.
    public let priority: PushPriority
    /// The value of `apns-expiration`: how long the service keeps the push for an offline device. If nil, the service decides.
    public let expiration: Timestamp?
    /// A hint that the service accepted a push for this address and topic before. Not sent; affects only the connection.
    public var isProven = false

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - payload: The sealed payload.
    ///   - address: The device's address.
    ///   - priority: The priority. Background pushes use the only one that Apple allows.
    ///   - expiration: The expiration, or nil to use the content's own, if any.
    public init(
        _ payload: SealedPayload, to address: Address, priority: PushPriority = .immediate, expiration: Timestamp? = nil
    ) {
        self.init(
            address: address, body: payload.json, topic: payload.topic, apnsID: payload.apnsID,
            collapseID: payload.collapseID, priority: payload.priority(priority),
            expiration: expiration ?? payload.expires)
    }

    /// Whether this is a background push, with an `apns-push-type` of `background`.
    public var isBackground: Bool { PayloadForm.isBackground(body) }

    /// Creates a request from one that was sealed and stored earlier.
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
    /// The request's ID and part of its address, without the body.
    public var description: String { "push \(apnsID) to \(address.logged)" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// A mirror without children, so that dumping a request doesn't reveal its address.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The value of `apns-priority`.
public enum PushPriority: Int, Hashable, Sendable, CaseIterable {
    /// Deliver immediately.
    case immediate = 10
    /// Deliver when it suits the device's battery.
    case considerate = 5
}

extension SealedPayload {
    /// Returns the priority to send with: the given one, or for a background push the only one that Apple allows.
    package func priority(_ wanted: PushPriority) -> PushPriority { isBackground ? .considerate : wanted }
}

/// The app's own name for one send request, so that a retry doesn't send the message twice: 1 to 256 bytes of UTF-8.
///
/// Only a hash is stored. Anyone can verify a guess at a key from its hash, so use IDs such as `invitation-8812` rather than
/// words from the message. Random keys are best: with a guessable key, the sender's secret can verify guesses at content.
public struct IdempotencyKey: Hashable, Sendable {
    /// The BLAKE2b-256 hash of the text, with a dedicated label.
    package let digest: [UInt8]
    /// The hash with another label. It's never stored.
    package let tag: [UInt8]

    /// Creates a key, or returns nil unless the text has 1 to 256 bytes.
    public init?(_ text: String) {
        guard (1...256).contains(text.utf8.count) else { return nil }
        digest = BLAKE2b.hash(Array("sealedpush/v1 request".utf8) + [0] + text.utf8, byteCount: 32)
        tag = BLAKE2b.hash(Array("sealedpush/v1 request content".utf8) + [0] + text.utf8, byteCount: 32)
    }

    package static let rule = "1 to 256 bytes of text"

    /// Returns a unique key.
    package static func random() -> IdempotencyKey { IdempotencyKey() }

    private init() { (digest, tag) = (SecureRandom.bytes(count: 32), SecureRandom.bytes(count: 32)) }
}
