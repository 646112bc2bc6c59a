internal import Hummingbird

/// Admits a back end that presents its token, or that has passed the ``SocketGate``.
struct BackEndGate: RouterMiddleware {
    let state: @Sendable () -> ServerState

    func handle(_ request: Request, context: ServerContext, next: Next) async throws -> Response {
        if let tokens = state().tokens {
            guard tokens.accept(request.authorization) else {
                throw Problem.unauthorized(
                    "Send the header Authorization: Bearer TOKEN; a phone's token isn't valid here.")
            }
        }
        var context = context
        context.query = try request.query(Self.parameters[context.endpointPath ?? ""] ?? [])
        return try await next(request, context)
    }

    private static let parameters = ["/v1/devices": ["user", "after", "limit"], "/v1/receipts": ["days"]]
}
