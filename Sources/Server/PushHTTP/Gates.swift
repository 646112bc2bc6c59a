internal import HTTPTypes
internal import Hummingbird
internal import PushCore
internal import PushOutbox
import SealedPush

/// Texts that only a process with the sender's key can create or change. A MAC binds each text to its purpose, its app, its
/// service, and a name. One sender may serve several apps whose user names belong to different people.
final class AuthenticatedTexts: Sendable {
    private let key: GuardedSecret

    init(of sender: SenderPrivateKey, for purpose: StaticString, of topic: Topic, service: String) {
        key = sender.derived(purpose, for: topic.description, service)
    }

    func seal(_ text: String, for name: String = "") -> String { "\(text).\(Base64URL.encode(mac(text, name)))" }

    /// Returns the text, or `nil` unless ``seal(_:for:)`` made it for this name.
    func open(_ sealed: some StringProtocol, for name: String = "") -> String? {
        guard sealed.utf8.count <= 4_096, let dot = sealed.lastIndex(of: "."),
            let mac = Base64URL.decode(sealed[sealed.index(after: dot)...].utf8)
        else { return nil }
        let text = String(sealed[..<dot])
        return ConstantTime.areEqual(mac, self.mac(text, name)) ? text : nil
    }

    private func mac(_ text: String, _ name: String) -> [UInt8] {
        var message: [UInt8] = []
        for part in [name, text] {
            message.append(bigEndian: UInt64(part.utf8.count))
            message += part.utf8
        }
        return key.withBytes { BLAKE2b.hash(message, key: $0, byteCount: 32) }
    }
}

extension Request {
    /// The value of `Authorization`, or `nil` unless it is given once, in ASCII.
    var authorization: String? { try? text(of: .authorization) }
}

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

/// The ended logins that this process has seen. The outbox knows all of them, but asking it for each request of a thief
/// would delay others. Thread-safe.
final class EndedLogins: Sendable {
    private static let maximumCount = 100_000
    /// The moments up to which logins were ended, in milliseconds since 1970.
    private let moments = Locked<[UserName: Int64]>([:])

    func insert(_ user: UserName, at moment: Int64) {
        moments.withLock { moments in
            if moments.count >= Self.maximumCount {
                let oldest = OutboxClock.system.now() - Outbox.loginLifetime * 1_000
                moments = moments.filter { $0.value > oldest }
            }
            guard moments.count < Self.maximumCount else { return }
            moments[user] = max(moment, moments[user] ?? moment)
        }
    }

    /// A moment in the future is left to the outbox, because the clock may have been corrected since.
    func include(_ login: (user: UserName, issued: Int64)) -> Bool {
        guard let moment = moments.withLock({ $0[login.user] }) else { return false }
        return login.issued <= moment && moment <= OutboxClock.system.now()
    }
}
