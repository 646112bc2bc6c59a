internal import HTTPTypes
internal import Hummingbird
internal import PushCore
internal import PushOutbox
package import PushSender
package import SealedPush

/// One or two secrets, one of which a caller must present. There are two while callers switch to a new one. Only their
/// hashes are kept, and each is compared in constant time.
package struct BearerTokens: Sendable {
    private let digests: [[UInt8]]

    /// Parses one token per line. Ignores a byte order mark, white space around a token, and lines that are empty or begin
    /// with `#`. Throws ``TokenError`` unless there are one or two tokens, of 32 to 256 visible ASCII characters each.
    package init(parsing text: [UInt8]) throws(TokenError) {
        let text = text.withoutByteOrderMark
        let lines = text.split { $0 == 0x0a || $0 == 0x0d }.map { $0.split { $0 == 0x20 || $0 == 0x09 } }
            .filter { $0.first.map { $0.first != UInt8(ascii: "#") } ?? false }
        guard (1...2).contains(lines.count) else { throw .count }
        let tokens = lines.flatMap(\.self)
        guard tokens.count == lines.count,
            tokens.allSatisfy({ (32...256).contains($0.count) && $0.allSatisfy { (0x21...0x7e).contains($0) } })
        else { throw .form }
        digests = tokens.map { Self.digest(Array($0)) }
    }

    /// - Parameter header: The value of `Authorization`.
    func accept(_ header: String?) -> Bool {
        guard let token = Self.token(in: header) else { return false }
        let given = Self.digest(Array(token.utf8))
        return digests.reduce(false) { isFound, digest in ConstantTime.areEqual(digest, given) || isFound }
    }

    fileprivate static func token(in header: String?) -> Substring? {
        guard let header, header.utf8.count <= 512 else { return nil }
        let words = header.split(separator: " ")
        return words.count == 2 && words[0].lowercased() == "bearer" ? words[1] : nil
    }

    private static func digest(_ token: [UInt8]) -> [UInt8] { BLAKE2b.hash(token, byteCount: 32) }
}

/// The reason why a file contains no valid tokens.
package enum TokenError: Error, CustomStringConvertible {
    case count
    case form

    package var description: String {
        switch self {
        case .count: "expected one token, or two while callers switch from one to the other, each on a separate line"
        case .form: "a token must have 32 to 256 visible ASCII characters, such as the output of `openssl rand -hex 32`"
        }
    }
}

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
    fileprivate var authorization: String? { try? text(of: .authorization) }
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

/// Admits a phone that presents a login, when its turn comes. Each account has a rate limit and one request at a time, so
/// that no account takes up all slots. This covers a phone that repeats a request, and no device is added while an
/// account's devices are counted. A request that has waited too long isn't started, and the phone is told to come back
/// later. So a crowd is served as fast as the outbox allows, and no work is done for callers who have left.
struct PhoneGate: RouterMiddleware {
    private let outbox: Outbox
    private let state: @Sendable () -> ServerState
    private let rates: RateLimiter
    private let patience: Duration
    private let ended = EndedLogins()
    let semaphore: Semaphore
    let accounts = KeyedMutex<UserName>()

    init(_ outbox: Outbox, _ limits: ServerLimits, state: @escaping @Sendable () -> ServerState) {
        self.outbox = outbox
        self.state = state
        rates = RateLimiter(burst: limits.accountBurst, clock: limits.clock)
        patience = limits.admissionPatience
        semaphore = Semaphore(limits.admittedCount)
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

/// The ended logins that this process has seen. The outbox knows all of them, but asking it for each request of a thief
/// would delay others. Thread-safe.
private final class EndedLogins: Sendable {
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

/// The keys and tokens of a server, which can be replaced while it runs.
package struct ServerState: Sendable {
    /// The sender's keys, or `nil` while there is no key to seal with.
    var keys: SenderKeys?
    var senderSet: SenderSet?
    var tokens: BearerTokens?

    /// Phones trust `senderSet`, which is `nil` if the app has no authority. `tokens` are the back end's tokens; they are
    /// `nil` only if no other user can reach its listener.
    package init(keys: SenderKeys, senderSet: SenderSet?, tokens: BearerTokens?) {
        self.keys = keys
        self.senderSet = senderSet
        self.tokens = tokens
    }

    /// - Throws: `no-sender`.
    func sender() throws(Problem) -> SenderKeys {
        guard let keys else { throw .noSender }
        return keys
    }
}

/// A sender's key, and the objects derived from it.
package struct SenderKeys: Sendable {
    let sender: SenderPrivateKey
    let sealer: Sealer
    let receipts: ReceiptReceiver
    let logins: AuthenticatedTexts
    /// Challenges in transit to phones and back: the data that the server needs to check the answer, bound to the device.
    let challenges: AuthenticatedTexts

    /// - Parameters:
    ///   - sender: The sender that asks phones to prove their keys; the same as the sealer's.
    ///   - receipts: Receives receipts for pushes that this sender's keys have sealed, including those of the last week.
    ///   - service: Distinguishes this service from others with the same sender and topic; defaults to the topic.
    package init(sender: SenderPrivateKey, sealer: Sealer, receipts: ReceiptReceiver, service: String? = nil) {
        self.sender = sender
        self.sealer = sealer
        self.receipts = receipts
        let (topic, service) = (sealer.topic, service ?? sealer.topic.description)
        logins = AuthenticatedTexts(of: sender, for: "sealedpush/v1 logins", of: topic, service: service)
        challenges = AuthenticatedTexts(of: sender, for: "sealedpush/v1 challenge states", of: topic, service: service)
    }

    /// Returns the login that an app presents for its account. The back end requests it within the account's login and
    /// passes it to the app. Every process of the service with the sender's key can create and check it. It is invalid
    /// elsewhere and after it expires. `issued` is the current time in milliseconds since 1970.
    func login(of user: UserName, until end: Timestamp, issued: Int64) -> String {
        logins.seal("pushlogin.\(end.secondsSince1970).\(issued).\(Base64URL.encode(Array(user.description.utf8)))")
    }

    /// Returns the login's user and issue time, or `nil` unless it is a login for this service that hasn't expired.
    func login(parsing login: some StringProtocol, at now: Timestamp) -> (user: UserName, issued: Int64)? {
        let parts = logins.open(login)?.split(separator: ".") ?? []
        guard parts.count == 4, let end = Int64(parts[1]), now.secondsSince1970 <= end, let issued = Int64(parts[2]),
            let name = Base64URL.decode(parts[3].utf8),
            let user = UserName(parsing: String(decoding: name, as: UTF8.self))
        else { return nil }
        return (user, issued)
    }
}
