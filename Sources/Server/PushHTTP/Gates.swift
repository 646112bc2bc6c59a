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

    /// Reads one token a line; empty lines do not count.
    ///
    /// - Throws: ``TokenError`` unless there are one or two, of 32 to 256 visible ASCII characters each.
    package init(parsing text: [UInt8]) throws(TokenError) {
        let lines = text.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }).filter { !$0.isEmpty }
        guard (1...2).contains(lines.count) else { throw .count }
        guard lines.allSatisfy({ (32...256).contains($0.count) && $0.allSatisfy { (0x21...0x7e).contains($0) } }) else {
            throw .form
        }
        digests = lines.map { Self.digest(Array($0)) }
    }

    /// - Parameter header: the value of `Authorization`.
    func accept(_ header: String?) -> Bool {
        guard let token = Request.bearer(header) else { return false }
        let given = Self.digest(Array(token.utf8))
        return digests.reduce(false) { isFound, digest in ConstantTime.areEqual(digest, given) || isFound }
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

/// What an app shows for its account: a back end asks for one inside the account's login, and hands it to the app.
///
/// Made and checked without a store, by every process that has the sender's key; worth nothing elsewhere, and nothing once it
/// has expired. `pushlogin.` and base64url of the end (8 bytes), a MAC (32 bytes) and the user's name.
final class LoginTokens: Sendable {
    private let key: GuardedSecret

    init(of sender: SenderPrivateKey) { key = sender.derived("sealedpush/v1 logins") }

    func token(_ user: UserName, until end: Timestamp) -> String {
        let time = Self.bytes(end)
        return Self.prefix + Base64URL.encode(time + mac(time, user.description.utf8) + user.description.utf8)
    }

    /// Whose login it is; nil for what is no token of this service, and after its end.
    func user(_ token: some StringProtocol, at now: Timestamp) -> UserName? {
        guard token.utf8.count <= 512, token.hasPrefix(Self.prefix),
            let bytes = Base64URL.decode(token.utf8.dropFirst(Self.prefix.utf8.count)), bytes.count > 40
        else { return nil }
        let (time, mac, name) = (bytes[..<8], bytes[8..<40], bytes[40...])
        guard ConstantTime.areEqual(Array(mac), self.mac(time, name)) else { return nil }
        let end = time.reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return now.secondsSince1970 <= end ? UserName(parsing: String(decoding: name, as: UTF8.self)) : nil
    }

    private func mac(_ time: some Sequence<UInt8>, _ name: some Sequence<UInt8>) -> [UInt8] {
        key.withBytes { BLAKE2b.hash(Array(time) + Array(name), key: $0, byteCount: 32) }
    }

    private static func bytes(_ end: Timestamp) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: end.secondsSince1970 >> Int64($0)) }
    }

    private static let prefix = "pushlogin."
}

/// Lets a back end in that shows its token; at a socket, which this user alone can open, it may need none.
struct BackEndGate: RouterMiddleware {
    typealias Context = ServerContext
    let state: @Sendable () -> ServerState

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
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
        return try await next(request, context)
    }

    private static func isOfProxy(_ name: String) -> Bool {
        ["forwarded", "via", "x-real-ip"].contains(name) || name.hasPrefix("x-forwarded-")
    }
}

/// Lets a phone in that shows a login, when it is its turn.
///
/// Each account has a rate, and one request at a time, so that it takes one place and not all of them: a phone that has lost an
/// answer asks again, and while an account's devices are counted, none is added. A request that has waited for too long is not
/// begun, and its phone is told to come again: a crowd is served as fast as the outbox allows, and no work is done for callers
/// who have left.
struct PhoneGate: RouterMiddleware {
    typealias Context = ServerContext
    private let state: @Sendable () -> ServerState
    private let rates: RateLimiter
    private let patience: Duration
    let semaphore: Semaphore
    let accounts = KeyedMutex<UserName>()

    init(_ limits: ServerLimits, state: @escaping @Sendable () -> ServerState) {
        self.state = state
        rates = RateLimiter(burst: limits.accountBurst, clock: limits.clock)
        patience = limits.admissionPatience
        semaphore = Semaphore(limits.admittedCount)
    }

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let arrival = ContinuousClock.now
        // Without the sender's key nobody can tell whose login it is.
        let logins = try state().sender().logins
        guard let user = Request.bearer(request.headers[.authorization]).flatMap({ logins.user($0, at: .now()) }) else {
            throw Problem.unauthorized("Ask your back end for a new login: it gets one from POST /v1/logins.")
        }
        guard rates.take(user.description) else {
            var problem = Problem(.tooManyRequests, "too-many-requests", "this account asks too often")
            problem.retryAfter = 10
            throw problem
        }
        // Read the whole body first, so that a slow phone holds no place.
        var request = request
        request.body = .init(buffer: try await request.wholeBody(upTo: ServerLimits.bodyByteCount))
        var context = context
        context.user = user
        let (whole, own) = (request, context)
        return try await accounts.run(user) {
            try requirePatience(since: arrival)
            await semaphore.enter()
            defer { semaphore.leave() }
            try requirePatience(since: arrival)
            return try await next(whole, own)
        }
    }

    private func requirePatience(since arrival: ContinuousClock.Instant) throws(Problem) {
        guard ContinuousClock.now - arrival <= patience else { throw .unavailable("too many ask at once") }
    }
}

extension Request {
    fileprivate static func bearer(_ header: String?) -> Substring? {
        guard let header, header.utf8.count <= 512, header.prefix(7).lowercased() == "bearer " else { return nil }
        return header.dropFirst(7)
    }
}

/// The keys and tokens of a server, which may be replaced while it runs.
package struct ServerState: Sendable {
    /// nil while there is no key to seal with.
    var keys: Keys?
    var senderSet: SenderSet?
    var tokens: BearerTokens?

    /// What follows from the sender's key.
    struct Keys: Sendable {
        let sender: SenderPrivateKey
        let sealer: Sealer
        let logins: LoginTokens
        let challenges: ChallengeStates
        let receipts: ReceiptReceiver

        init(sender: SenderPrivateKey, sealer: Sealer, receipts: ReceiptReceiver) {
            self.sender = sender
            self.sealer = sealer
            self.receipts = receipts
            logins = LoginTokens(of: sender)
            challenges = ChallengeStates(of: sender)
        }
    }

    /// - Parameters:
    ///   - sender: who asks phones to prove their keys; the sealer's own.
    ///   - receipts: takes the receipts for what this sender's keys have sealed, also those of the last week.
    ///   - senderSet: what phones are to believe; nil if the app has no authority.
    ///   - tokens: for the back end; nil only if nobody else can reach its listener.
    package init(
        sender: SenderPrivateKey, sealer: Sealer, receipts: ReceiptReceiver, senderSet: SenderSet?,
        tokens: BearerTokens?
    ) {
        keys = Keys(sender: sender, sealer: sealer, receipts: receipts)
        self.senderSet = senderSet
        self.tokens = tokens
    }

    /// - Throws: `no-sender`.
    func sender() throws(Problem) -> Keys {
        guard let keys else { throw .noSender }
        return keys
    }
}
