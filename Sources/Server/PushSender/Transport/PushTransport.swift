internal import PushCore
public import SealedPush

/// Delivers sealed pushes to one carrier's addresses: APNs over HTTP/2 (`PushAPNS`), or another service.
///
/// Called from many tasks at once. An implementation bounds every wait, and says by ``PushOutcome`` what the service's answers
/// mean. A push for another carrier's address is answered with ``PushOutcome/change(_:)``.
public protocol PushTransport: Sendable {
    /// Sends one push and waits for the answer.
    ///
    /// - Throws: ``PushTransportError`` where there was none; the push may have been delivered all the same.
    func deliver(_ request: PushRequest) async throws(PushTransportError) -> PushOutcome
}

/// Why a push got no answer.
public enum PushTransportError: Error, Hashable, Sendable {
    /// No connection could be made, no stream was free in time, there was no provider token, or the push expired before. It
    /// was not sent, or the service said that it did not process it. The text says why.
    case unreachable(String)
    /// The connection was lost, reset or closed before the answer: it may have been delivered. The text says how.
    case connectionLost(String)
    /// No answer within the request's deadline: it may have been delivered.
    case timedOut
    /// As many pushes wait already as the transport was told to hold. The push was not sent.
    case overloaded
    /// The transport is shutting down. The push was not sent.
    case shuttingDown
    /// The service calls fresh credentials expired: this machine's clock is wrong.
    case wrongClock
    /// The calling task was cancelled.
    case cancelled

    /// Whether the push may have reached the service.
    public var mayHaveBeenDelivered: Bool {
        switch self {
        case .connectionLost, .timedOut, .cancelled: true
        case .unreachable, .overloaded, .shuttingDown, .wrongClock: false
        }
    }

    /// For reports: without the transport's own text.
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

/// What became of a push, as its transport understands the service's answer.
///
/// Each service has reasons of its own. A transport says what they mean; nobody else has to know them.
public enum PushOutcome: Hashable, Sendable {
    /// The service has taken it. Whether it reaches the device, nobody says.
    ///
    /// - Parameter uniqueID: the service's own name for it, where it says one: `apns-unique-id`, in Apple's sandbox.
    case accepted(uniqueID: String?)
    /// The address has not been any good since a moment: drop the push, and the address unless it was registered after that.
    case gone(since: Timestamp, PushReason)
    /// The service will not deliver to this address: use it no more until somebody has looked.
    case refused(PushReason)
    /// Nothing is wrong with the push: send it again, later.
    case later(PushDelay, PushReason)
    /// The push itself can't be delivered as it is: a mistake in the request.
    case change(PushReason)
    /// Nothing can be delivered until an operator has corrected something: stop, and say so.
    case stop(PushReason)

    /// Nil where it was accepted.
    public var reason: PushReason? {
        switch self {
        case .accepted: nil
        case .gone(_, let reason), .refused(let reason), .later(_, let reason), .change(let reason), .stop(let reason):
            reason
        }
    }
}

/// Why a push was not taken.
public struct PushReason: Hashable, Sendable {
    /// The service's word for it, for reports and dead letters: at most 64 characters.
    public let name: String
    /// What is likely wrong with all pushes, as a sentence for an operator: where ``PushOutcome/stop(_:)`` is for this
    /// reason, and where one push after another has it, and none is taken. Nil where it says nothing about others.
    public let problem: String?

    public init(_ name: String, problem: String? = nil) {
        self.name = String(name.prefix(64))
        self.problem = problem
    }
}

/// How long a push waits before it is sent again. All but `exactly` grow with each attempt; how long they are is the
/// sender's choice.
public enum PushDelay: Hashable, Sendable {
    /// For another connection: it is not about this push.
    case connection
    /// For this one device, which gets too many.
    case device
    /// For the service, which has trouble.
    case service
    /// All pushes wait.
    case everything
    /// As `service`, but a few times only: the transport does not know what the service means.
    case doubtful
    /// As long as the service asks for.
    case exactly(Duration)
}

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

    /// - Parameters:
    ///   - priority: what Apple allows for a background push counts in its place.
    ///   - expiration: nil takes the content's own, where it has one.
    public init(
        _ payload: SealedPayload, to address: Address, priority: PushPriority = .immediate, expiration: Timestamp? = nil
    ) {
        self.init(
            address: address, body: payload.json, topic: payload.topic, apnsID: payload.apnsID,
            collapseID: payload.collapseID, priority: payload.isBackground ? .considerate : priority,
            expiration: expiration ?? payload.expires)
    }

    /// Whether it is a background push: then `apns-push-type` is `background`.
    public var isBackground: Bool { PayloadForm.isBackground(body) }

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
/// Only a hash is stored. A name that can be guessed can be confirmed from its hash, so make it of IDs
/// and not of words: `invitation-8812`, not what the message says. Random ones are best: with one that can be guessed and the
/// sender's secret, guesses at the content can be confirmed, too.
public struct IdempotencyKey: Hashable, Sendable {
    /// BLAKE2b-256 of the text, under a label of its own.
    package let digest: [UInt8]
    /// The same under another label, which is never stored.
    package let tag: [UInt8]

    /// Nil unless the text has 1 to 256 bytes.
    public init?(_ text: String) {
        guard (1...256).contains(text.utf8.count) else { return nil }
        digest = BLAKE2b.hash(Array("sealedpush/v1 request".utf8) + [0] + text.utf8, byteCount: 32)
        tag = BLAKE2b.hash(Array("sealedpush/v1 request content".utf8) + [0] + text.utf8, byteCount: 32)
    }

    package static let rule = "1 to 256 bytes of text"

    /// One that nobody else has.
    package static func random() -> IdempotencyKey { IdempotencyKey() }

    private init() { (digest, tag) = (SecureRandom.bytes(count: 32), SecureRandom.bytes(count: 32)) }
}
