internal import HTTPTypes
internal import Hummingbird

/// Refuses requests that a proxy forwards to a back end's socket without a token: anyone who can reach the proxy would be
/// treated as the back end. The back end itself connects to the socket, calls it `localhost`, and speaks HTTP/1.1.
struct SocketGate: RouterMiddleware {
    let state: @Sendable () -> ServerState

    func handle(_ request: Request, context: ServerContext, next: Next) async throws -> Response {
        if state().tokens == nil {
            guard !request.headers.contains(where: { Self.isOfProxy($0.name) }) else {
                throw Problem(
                    .forbidden, "behind-a-proxy",
                    "a proxy forwards requests to this socket, which is only for the back end",
                    hint:
                        "Connect to the socket directly, with HTTP/1.1. Give phones their own listener, or give the back end a token."
                )
            }
            guard HostGate.isHost(request.head.authority, in: ["localhost"]) else {
                throw Problem(
                    .misdirectedRequest, "other-host", "the Host header of a request to this socket must be localhost",
                    hint: "Use http://localhost/ as the URL.")
            }
        }
        return try await next(request, context)
    }

    private static func isOfProxy(_ name: HTTPField.Name) -> Bool {
        name == RequestHeads.proxyMark || headers.contains(name.canonicalName)
            || name.canonicalName.hasPrefix("x-forwarded-")
    }

    /// The headers that proxies, load balancers, and content delivery networks add.
    static let headers = [
        "cdn-loop", "cf-connecting-ip", "fastly-client-ip", "forwarded", "true-client-ip", "via", "x-amzn-trace-id",
        "x-client-ip", "x-cluster-client-ip", "x-envoy-external-address", "x-real-ip",
    ]
}
