internal import NIOCore
internal import PushSender

/// A push between its caller and its response. Its `Sendable` conformance is unchecked, because its state is confined to
/// the event loop. The caller's task creates it, passes it through the ``Inbox``, and never touches it again.
final class PendingPush: @unchecked Sendable {
    typealias Outcome = Result<APNsAnswer, PushTransportError>

    let request: PushRequest
    /// A hash of the address and topic, for ``ProvenTokens``.
    let fingerprint: Int
    let startedAt: NIODeadline
    let deadline: NIODeadline
    /// Set before the push is passed on. Nil once the caller has its result.
    var continuation: UnsafeContinuation<Outcome, Never>?

    /// Whether the event loop has received the push. A cancellation may come earlier.
    var isAccepted = false
    var isCanceled = false
    var attemptCount = 0
    /// The generation of the provider token that the push was sent with.
    var tokenGeneration = 0
    /// The connection and stream that the push was sent on, while it waits for a response.
    var connection: APNsConnection?
    private(set) var streamID: Int32 = 0

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

    func sent(on connection: APNsConnection, _ streamID: Int32, _ token: ProviderToken) {
        self.connection = connection
        self.streamID = streamID
        attemptCount += 1
        tokenGeneration = token.generation
    }

    /// Whether APNs should no longer keep the push. An expiration of 0 means a single attempt at any time.
    func isStale(_ now: Timestamp) -> Bool {
        guard let expiration = request.expiration, expiration.secondsSince1970 > 0 else { return false }
        return expiration <= now
    }

    var isFinished: Bool { continuation == nil }

    func finish(_ outcome: Outcome) { continuation.take()?.resume(returning: outcome) }
}
