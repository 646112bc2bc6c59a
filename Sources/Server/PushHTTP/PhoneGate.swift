internal import HTTPTypes
internal import Hummingbird
internal import PushCore
internal import PushOutbox
import SealedPush

/// Admits a phone that presents a login, when its turn comes. Each account has a rate limit and one request at a time, so
/// that no account takes up all slots. This covers a phone that repeats a request, and no device is added while an
/// account's devices are counted. A request that has waited too long isn't started, and the phone is told to come back
/// later. So a crowd is served as fast as the outbox allows, and no work is done for callers who have left.
struct PhoneGate: RouterMiddleware {
    private let outbox: Outbox
    private let state: @Sendable () -> ServerState
    private let rates: RateLimiter<UserName>
    private let patience: Duration
    private let ended = EndedLogins()
    let semaphore: TaskSemaphore
    let accounts = KeyedMutex<UserName>()

    init(_ outbox: Outbox, _ limits: ServerLimits, state: @escaping @Sendable () -> ServerState) {
        self.outbox = outbox
        self.state = state
        rates = RateLimiter(burst: limits.accountBurst, clock: limits.clock)
        patience = limits.admissionPatience
        semaphore = TaskSemaphore(limits.admittedCount)
    }

    func handle(_ request: Request, context: ServerContext, next: Next) async throws -> Response {
        let arrival = ContinuousClock.now
        // Without the sender's key, the login can't be verified.
        let keys = try state().sender()
        let token = BearerTokens.token(in: request.authorization)
        guard let login = token.flatMap({ keys.login(parsing: $0, at: .now()) }) else { throw Self.noLogin }
        let user = login.user
        // Checked before the limit: a thief's ended login must not use up the account's requests.
        guard !ended.include(login) else { throw Self.noLogin }
        guard rates.take(user)
        else { throw Problem(.tooManyRequests, "too-many-requests", "too many requests by this user", retryAfter: 10) }
        // Read the whole body first, so that a slow phone doesn't hold a slot.
        var request = request
        request.body = .init(buffer: try await request.wholeBody(upTo: ServerLimits.bodyByteCount))
        var context = context
        context.user = user
        let (whole, own) = (request, context)
        return try await accounts.run(user) {
            try await admit(since: arrival) {
                if let moment = try await outbox.loginsEnded(for: user) {
                    ended.insert(user, at: moment)
                    guard login.issued > moment else {
                        rates.giveBack(user)
                        throw Self.noLogin
                    }
                }
                return try await next(whole, own)
            }
        }
    }

    /// Ends an account's logins issued until now, when its request in progress is done.
    func endLogins(of user: UserName) async throws {
        let moment = OutboxClock.system.now()
        try await outbox.endLogins(of: user, at: moment)
        ended.insert(user, at: moment)
    }

    /// Runs a request that has waited since its arrival, when its turn comes.
    func admit(since arrival: ContinuousClock.Instant, _ body: () async throws -> Response) async throws -> Response {
        let patience = patience - (ContinuousClock.now - arrival)
        guard patience >= .zero, await semaphore.enter(within: patience)
        else { throw Problem.unavailable("too many requests at once") }
        defer { semaphore.leave() }
        return try await body()
    }

    private static let noLogin = Problem.unauthorized(
        "Ask your back end for a new login; it gets one from POST /v1/logins.")
}
