internal import HTTPTypes
internal import Hummingbird
internal import PushCore
internal import PushOutbox
package import PushSender
package import SealedPush

/// One or two secrets of which a caller must show one: two, while callers change from the old to the new.
///
/// Their hashes alone are kept, and compared in constant time, each of them.
package struct BearerTokens: Sendable {
    private let digests: [[UInt8]]

    /// Reads one token a line; blanks around it do not count, nor do lines that are empty or begin with `#`.
    ///
    /// - Throws: ``TokenError`` unless there are one or two, of 32 to 256 visible ASCII characters each.
    package init(parsing text: [UInt8]) throws(TokenError) {
        let lines = text.split { $0 == 0x0a || $0 == 0x0d }.map { $0.split { $0 == 0x20 || $0 == 0x09 } }
            .filter { $0.first.map { $0.first != UInt8(ascii: "#") } ?? false }
        guard (1...2).contains(lines.count) else { throw .count }
        let tokens = lines.flatMap(\.self)
        guard tokens.count == lines.count,
            tokens.allSatisfy({ (32...256).contains($0.count) && $0.allSatisfy { (0x21...0x7e).contains($0) } })
        else { throw .form }
        digests = tokens.map { Self.digest(Array($0)) }
    }

    /// - Parameter header: the value of `Authorization`.
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

/// Why a file holds no tokens.
package enum TokenError: Error, CustomStringConvertible {
    case count
    case form

    package var description: String {
        switch self {
        case .count: "one token, or two while callers change from one to the other, each on a line of its own"
        case .form: "a token has 32 to 256 visible ASCII characters, such as `openssl rand -hex 32` prints"
        }
    }
}

/// Texts that only a process with the sender's key can make or change: a MAC behind each binds it to its purpose, to the app and
/// the service that it is for, and to a name. One sender may serve several apps, whose users' names are not the same people's.
final class AuthenticatedTexts: Sendable {
    private let key: GuardedSecret

    init(of sender: SenderPrivateKey, for purpose: StaticString, of topic: Topic, service: String) {
        key = sender.derived(purpose, for: topic.description, service)
    }

    func seal(_ text: String, for name: String = "") -> String { "\(text).\(Base64URL.encode(mac(text, name)))" }

    /// Returns the text, or nil unless ``seal(_:for:)`` has made it for this name.
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

/// Lets a back end in that shows its token; at a socket, which this user alone can open, it may need none.
struct BackEndGate: RouterMiddleware {
    let state: @Sendable () -> ServerState

    func handle(_ request: Request, context: ServerContext, next: Next) async throws -> Response {
        if let tokens = state().tokens {
            guard tokens.accept(request.headers[.authorization]) else {
                throw Problem.unauthorized(
                    "Send the header Authorization: Bearer TOKEN; phones' tokens are not the back end's.")
            }
        } else if request.headers.contains(where: { Self.isOfProxy($0.name.canonicalName) }) {
            // Whoever reaches the proxy would be the back end.
            throw Problem(
                .forbidden, "behind-a-proxy",
                "a proxy passes requests on to this socket, which is for the back end alone",
                hint: "Give phones a listener of their own, or the back end a token.")
        }
        var context = context
        context.query = try request.query(Self.parameters[context.endpointPath ?? ""] ?? [])
        return try await next(request, context)
    }

    private static let parameters = ["/v1/devices": ["user", "after", "limit"], "/v1/receipts": ["days"]]

    private static func isOfProxy(_ name: String) -> Bool {
        ["forwarded", "via", "x-real-ip", "cf-connecting-ip"].contains(name) || name.hasPrefix("x-forwarded-")
    }
}

/// Refuses what was asked under a name that is not this machine's, at an address that only this machine reaches: a page in a browser
/// here may have had its own name point to it, and would read what needs no token.
struct HostGate: RouterMiddleware {
    let place: ServerPlace

    func handle(_ request: Request, context: ServerContext, next: Next) async throws -> Response {
        if case .address = place, place.isLocal, let authority = request.head.authority {
            let host = authority.replacing(/:[0-9]+$/, with: "").filter { $0 != "[" && $0 != "]" }
            guard ServerPlace.localHosts.contains(host.lowercased()) else {
                throw Problem(
                    .misdirectedRequest, "other-host", "the header Host has a name that is not this machine's",
                    hint: "Ask 127.0.0.1, [::1] or localhost.")
            }
        }
        return try await next(request, context)
    }
}

/// Lets a phone in that shows a login, when it is its turn.
///
/// Each account has a rate, and one request at a time, so that it takes one place and not all of them: a phone that has lost an
/// answer asks again, and while an account's devices are counted, none is added. A request that has waited for too long is not
/// begun, and its phone is told to come again: a crowd is served as fast as the outbox allows, and no work is done for callers
/// who have left.
struct PhoneGate: RouterMiddleware {
    private let outbox: Outbox
    private let state: @Sendable () -> ServerState
    private let rates: RateLimiter
    private let patience: Duration
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
        // Without the sender's key nobody can tell whose login it is.
        let keys = try state().sender()
        let token = BearerTokens.token(in: request.headers[.authorization])
        guard let login = token.flatMap({ keys.login(parsing: $0, at: .now()) }) else { throw Self.noLogin }
        let user = login.user
        guard rates.take(user)
        else { throw Problem(.tooManyRequests, "too-many-requests", "this account asks too often", retryAfter: 10) }
        // Read the whole body first, so that a slow phone holds no place.
        var request = request
        request.body = .init(buffer: try await request.wholeBody(upTo: ServerLimits.bodyByteCount))
        var context = context
        context.user = user
        let (whole, own) = (request, context)
        return try await accounts.run(user) {
            try await admit(since: arrival) {
                let isGood = try await outbox.loginsEnded(for: user).map { login.issued > $0 } ?? true
                guard isGood else { throw Self.noLogin }
                return try await next(whole, own)
            }
        }
    }

    /// Carries out a request that has waited since then, when it is its turn.
    func admit(since arrival: ContinuousClock.Instant, _ body: () async throws -> Response) async throws -> Response {
        let patience = patience - (ContinuousClock.now - arrival)
        guard patience >= .zero, await semaphore.enter(within: patience)
        else { throw Problem.unavailable("too many ask at once") }
        defer { semaphore.leave() }
        return try await body()
    }

    private static let noLogin = Problem.unauthorized(
        "Ask your back end for a new login: it gets one from POST /v1/logins.")
}

/// The keys and tokens of a server, which may be replaced while it runs.
package struct ServerState: Sendable {
    /// Nil while there is no key to seal with.
    var keys: SenderKeys?
    var senderSet: SenderSet?
    var tokens: BearerTokens?

    /// - Parameters:
    ///   - senderSet: what phones are to believe; nil if the app has no authority.
    ///   - tokens: for the back end; nil only if nobody else can reach its listener.
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

/// A sender's key, and what follows from it.
package struct SenderKeys: Sendable {
    let sender: SenderPrivateKey
    let sealer: Sealer
    let receipts: ReceiptReceiver
    let logins: AuthenticatedTexts
    /// Challenges on their way to phones and back: what the server must know to take the answer, bound to the device.
    let challenges: AuthenticatedTexts

    /// - Parameters:
    ///   - sender: who asks phones to prove their keys; the sealer's own.
    ///   - receipts: takes the receipts for what this sender's keys have sealed, also those of the last week.
    ///   - service: what tells this service from others with the same sender and topic; the topic unless it is said.
    package init(sender: SenderPrivateKey, sealer: Sealer, receipts: ReceiptReceiver, service: String? = nil) {
        self.sender = sender
        self.sealer = sealer
        self.receipts = receipts
        let (topic, service) = (sealer.topic, service ?? sealer.topic.description)
        logins = AuthenticatedTexts(of: sender, for: "sealedpush/v1 logins", of: topic, service: service)
        challenges = AuthenticatedTexts(of: sender, for: "sealedpush/v1 challenge states", of: topic, service: service)
    }

    /// Returns what an app shows for its account: a back end asks for one inside the account's login, and hands it to
    /// the app.
    ///
    /// Made and checked by every process of the service that has the sender's key; worth nothing elsewhere, nor after its end.
    ///
    /// - Parameter issued: now, in milliseconds since 1970.
    func login(of user: UserName, until end: Timestamp, issued: Int64) -> String {
        logins.seal("pushlogin.\(end.secondsSince1970).\(issued).\(Base64URL.encode(Array(user.description.utf8)))")
    }

    /// Returns whose login it is and when it was issued, or nil unless it is one of this service that has not ended.
    func login(parsing login: some StringProtocol, at now: Timestamp) -> (user: UserName, issued: Int64)? {
        let parts = logins.open(login)?.split(separator: ".") ?? []
        guard parts.count == 4, let end = Int64(parts[1]), now.secondsSince1970 <= end, let issued = Int64(parts[2]),
            let name = Base64URL.decode(parts[3].utf8),
            let user = UserName(parsing: String(decoding: name, as: UTF8.self))
        else { return nil }
        return (user, issued)
    }
}
