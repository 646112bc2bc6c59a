internal import HTTPTypes
internal import Hummingbird
internal import PushCrypto
internal import PushOutbox
internal import PushSender
internal import SealedPush
internal import _PushBase

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
        guard let token = Gate.bearer(header) else { return false }
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

    init(of sender: SenderKey) { key = sender.derived("sealedpush/v1 logins") }

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

/// Lets those in who may ask: the back end with a token of its own, a phone with one of its account.
struct Gate: RouterMiddleware {
    typealias Context = ServerContext
    let audience: Audience
    let state: @Sendable () -> ServerState
    let rates: RateLimit

    enum Audience: Sendable {
        case phones
        case backEnd
        /// What is no secret to either.
        case both
    }

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let state = state()
        let header = request.headers[.authorization]
        let user = Self.bearer(header).flatMap { state.keys?.logins.user($0, at: .now()) }
        // Without tokens, nobody but this user reaches the service.
        let isBackEnd = state.tokens.map { $0.accept(header) } ?? (header == nil)
        guard audience == .backEnd ? isBackEnd : user != nil || (audience == .both && isBackEnd) else {
            // Whose login it shows can't be told without the sender's key.
            if audience != .backEnd { _ = try state.sender() }
            throw Problem(
                .unauthorized, "unauthorized", "the request shows no token that is valid here",
                hint: audience == .phones
                    ? "Ask your back end for a new one: it gets one from POST /v1/logins."
                    : "Send the header Authorization: Bearer TOKEN; phones' tokens are not the back end's.")
        }
        guard let user else { return try await next(request, context) }
        guard rates.take(user.description) else {
            var problem = Problem(.tooManyRequests, "too-many-requests", "this account asks too often")
            problem.retryAfter = 10
            throw problem
        }
        var context = context
        context.user = user
        return try await next(request, context)
    }

    static func bearer(_ header: String?) -> Substring? {
        guard let header, header.utf8.count <= 512, header.prefix(7).lowercased() == "bearer " else { return nil }
        return header.dropFirst(7)
    }
}

/// A few requests of phones at a time, in the order in which they came. One that has waited for so long that its phone may be gone
/// is not begun, and told to come again: a crowd is served as fast as the outbox can, and nothing is done for nobody.
///
/// Of an account one, so that it takes one place and not all of them. A phone that has lost an answer asks again, maybe while its
/// first request is still being carried out; and while an account's devices are counted, none comes.
struct Admission: RouterMiddleware {
    typealias Context = ServerContext
    private let patience: Duration
    let places: Places
    let turns = Turns()

    init(_ limits: ServerLimits) {
        patience = limits.admissionPatience
        places = Places(limits.admittedCount)
    }

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let arrival = ContinuousClock.now
        // All of it first: whoever is slow takes nobody's turn.
        var request = request
        request.body = .init(buffer: try await request.wholeBody(upTo: ServerLimits.bodyByteCount))
        guard let user = context.user else { throw Problem.nobody }
        let whole = request
        return try await turns.take(user) {
            try requirePatience(since: arrival)
            await places.enter()
            defer { places.leave() }
            try requirePatience(since: arrival)
            return try await next(whole, context)
        }
    }

    private func requirePatience(since arrival: ContinuousClock.Instant) throws(Problem) {
        guard ContinuousClock.now - arrival <= patience else { throw .unavailable("too many ask at once") }
    }
}

/// So many requests at once for each account, and one more a second.
final class RateLimit: Sendable {
    private let burst: Double
    private let maximumCount: Int
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let state = Locked(State())

    private struct State {
        var buckets: [String: Bucket] = [:]
        var lastSweep: ContinuousClock.Instant?
    }

    private struct Bucket {
        var left: Double
        var time: ContinuousClock.Instant

        func filled(at now: ContinuousClock.Instant, upTo burst: Double) -> Double {
            min(burst, left + (now - time) / .seconds(1))
        }
    }

    /// - Parameter maximumCount: accounts that are looked after at once: some 10 MB.
    init(
        burst: Int, maximumCount: Int = 100_000, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.burst = Double(burst)
        self.maximumCount = maximumCount
        self.clock = clock
    }

    /// False where the account has to wait.
    func take(_ name: String) -> Bool {
        let now = clock()
        return state.withLock { state in
            if state.buckets.count >= maximumCount { sweep(&state, at: now) }
            let isKnown = state.buckets[name] != nil || state.buckets.count < maximumCount
            // Those for whom there is no room share a bucket: nobody gets more by coming in a crowd.
            let owner = isKnown ? name : Self.others
            var left = state.buckets[owner]?.filled(at: now, upTo: burst) ?? burst
            let isAllowed = left >= 1
            if isAllowed { left -= 1 }
            state.buckets[owner] = Bucket(left: left, time: now)
            return isAllowed
        }
    }

    /// Whose bucket is full again is as good as new. Once a second at most: it looks at all of them.
    private func sweep(_ state: inout State, at now: ContinuousClock.Instant) {
        if let last = state.lastSweep, now - last < .seconds(1) { return }
        state.lastSweep = now
        state.buckets = state.buckets.filter { $0.value.filled(at: now, upTo: burst) < burst }
    }

    /// No account's name.
    private static let others = ""
}
