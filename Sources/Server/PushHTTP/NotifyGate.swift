internal import HTTPTypes
internal import Hummingbird

/// Admits the back end, which may notify every user, and programs with one of the ``NotifyTokens``, which may notify its
/// user. Each of these tokens has a rate limit, so that a stolen one can't flood a phone.
struct NotifyGate: RouterMiddleware {
    private let state: @Sendable () -> ServerState
    private let rates: RateLimiter<String>

    init(_ limits: ServerLimits, state: @escaping @Sendable () -> ServerState) {
        self.state = state
        rates = RateLimiter(burst: limits.notifyBurst, every: .seconds(10), clock: limits.clock)
    }

    func handle(_ request: Request, context: ServerContext, next: Next) async throws -> Response {
        let state = state()
        var context = context
        if !Self.isBackEnd(request, state) {
            guard let token = state.notifyTokens?.token(in: request.authorization) else {
                throw Problem.unauthorized(
                    "Send the header Authorization: Bearer TOKEN, with a token for notifications or the back end's.")
            }
            guard try context.namedUser() == token.user else {
                throw Problem(
                    .forbidden, "other-user", "the token is for another user",
                    hint: "Use the path of the token's user, or this user's token.")
            }
            guard rates.take(token.name) else {
                throw Problem(
                    .tooManyRequests, "too-many-requests", "too many notifications with the token \(token.name)",
                    retryAfter: 10)
            }
            context.notifier = token.name
        }
        context.query = try request.query([])
        return try await next(request, context)
    }

    /// At a socket without a token, every caller is the back end, except one that presents a token: when that is revoked,
    /// its program must not be taken for the back end.
    private static func isBackEnd(_ request: Request, _ state: ServerState) -> Bool {
        if let tokens = state.tokens { return tokens.accept(request.authorization) }
        return state.notifyTokens == nil || !request.headers.contains(.authorization)
    }
}
