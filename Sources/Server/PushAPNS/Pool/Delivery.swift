internal import NIOCore
internal import PushSender
internal import SealedPush

/// One push between its caller and its answer.
///
/// Unchecked, because its state is confined to the event loop: the caller's task makes it, hands it over through the
/// ``SubmissionQueue`` and never touches it again.
final class Delivery: @unchecked Sendable {
    typealias Outcome = Result<APNSAnswer, PushTransportError>

    let request: PushRequest
    /// Of address and topic, for ``ProvenTokens``.
    let fingerprint: Int
    let startedAt: NIODeadline
    let deadline: NIODeadline
    /// Set before the hand-over; nil once the caller has its answer.
    var continuation: UnsafeContinuation<Outcome, Never>?

    /// Whether the event loop has it; a cancellation may come before that.
    var isAccepted = false
    var isCancelled = false
    /// How often it was given to a connection.
    var attemptCount = 0
    /// Of the provider token it was sent with.
    var tokenGeneration = 0
    /// The connection and stream it was sent on, while it waits for an answer there.
    var connection: APNSConnection?
    private(set) var streamID: Int32 = 0
    /// How much of the body the peer takes on this stream now, and how much it has got.
    var window = 0
    var sentByteCount = 0
    var isBodySent = false
    var response = PartialResponse()

    init(_ request: PushRequest, startedAt: NIODeadline, deadline: NIODeadline) {
        self.request = request
        self.startedAt = startedAt
        self.deadline = deadline
        fingerprint = Self.fingerprint(request.address, request.topic)
    }

    static func fingerprint(_ address: Address, _ topic: Topic) -> Int {
        var hasher = Hasher()
        hasher.combine(address.bytes)
        hasher.combine(topic)
        return hasher.finalize()
    }

    /// Given to a connection, once more or for the first time.
    func sent(on connection: APNSConnection, _ streamID: Int32, _ token: ProviderToken) {
        self.connection = connection
        self.streamID = streamID
        attemptCount += 1
        tokenGeneration = token.generation
        sentByteCount = 0
        isBodySent = false
        if response.isBegun { response = PartialResponse() }
    }

    /// Whether APNs is not to keep it any more: 0 means one attempt, whenever that is.
    func isStale(_ now: Timestamp) -> Bool {
        guard let expiration = request.expiration, expiration.secondsSince1970 > 0 else { return false }
        return expiration <= now
    }

    /// Whether its caller waits no more.
    var isFinished: Bool { continuation == nil }

    /// Gives the caller its answer, once.
    func finish(_ outcome: Outcome) {
        guard let continuation else { return }
        self.continuation = nil
        continuation.resume(returning: outcome)
    }
}
