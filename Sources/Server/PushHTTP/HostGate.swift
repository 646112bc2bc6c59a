internal import HTTPTypes
internal import Hummingbird

/// Refuses requests to a local address whose Host isn't this machine's name. A page in a local browser may have pointed its
/// own name at this machine, and could otherwise read everything that needs no token.
struct HostGate: RouterMiddleware {
    let place: ServerPlace

    func handle(_ request: Request, context: ServerContext, next: Next) async throws -> Response {
        if case .address = place, place.isLocal, let authority = request.head.authority {
            guard Self.isHost(authority, in: ServerPlace.localHosts) else {
                throw Problem(
                    .misdirectedRequest, "other-host", "the Host header doesn't name this machine",
                    hint: "Use 127.0.0.1, [::1], or localhost.")
            }
        }
        return try await next(request, context)
    }

    /// Whether a Host header names one of the hosts, in any case, with or without a port.
    static func isHost(_ authority: String?, in hosts: [String]) -> Bool {
        // The longest is `localhost:65535`.
        guard let authority, authority.utf8.count <= 15, authority.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        let host = authority.replacing(/:[0-9]+$/, with: "").filter { $0 != "[" && $0 != "]" }
        return hosts.contains(host.lowercased())
    }
}
