internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import PushCore
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// App requests within an account's login: enrolling their device, proving its keys, and leaving. An enrollment key
/// identifies a device, and each account has its own devices. The account comes from the token, never from the body. Until
/// a challenge is answered, the only state is the one that the phone returns with its MAC, so any process with the sender's
/// key can accept the answer. ``PhoneGate`` handles one request per account at a time. Source: Docs/EnrollmentHTTP.md.
struct PhoneRoutes: Sendable {
    let outbox: Outbox
    /// The maximum number of devices per account.
    let deviceCount: Int
    let gate: PhoneGate
    let tests: RateLimiter
    let state: @Sendable () -> ServerState

    /// Returns a login for the app to present here. The back end requests it within the account's login.
    func logIn(_ request: Request, _ context: ServerContext) async throws -> Response {
        var reader = OrderReader(try await request.members())
        guard let user = try reader.user() else { throw Problem.malformed("there is no \"user\"") }
        let longest = Outbox.loginLifetime
        let seconds = try reader.optional(
            "seconds", "1 to \(longest) whole seconds (not milliseconds), which is an hour"
        ) {
            $0.integer.flatMap { (1...longest).contains($0) ? $0 : nil }
        }
        try reader.end("user and seconds")
        let end = Timestamp.now().advanced(bySeconds: seconds ?? 600)
        let token = try state().sender().login(of: user, until: end, issued: OutboxClock.system.now())
        return .json(["token": .string(token), "expires": .integer(end.secondsSince1970)])
    }

    /// Invalidates all logins of an account issued until now, for example after its phone was stolen.
    func endLogins(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try user(context)
        return try await gate.accounts.run(user) {
            try await gate.endLogins(of: user)
            return Response(status: .noContent)
        }
    }

    /// Erases the data of a user who wants to be forgotten.
    func erase(_ request: Request, _ context: ServerContext) async throws -> Response {
        let (user, keys) = (try user(context), try state().sender())
        // Waits for the account's request in progress.
        return try await gate.accounts.run(user) {
            try await gate.endLogins(of: user)
            let erased = try await outbox.erase(user, topic: keys.sealer.topic, receipts: keys.receipts.ids)
            return .json(["devices": .count(erased.deviceCount), "discarded": .count(erased.discardedCount)])
        }
    }

    private func user(_ context: ServerContext) throws(Problem) -> UserName {
        guard let user = context.part("user").flatMap(UserName.init(parsing:))
        else { throw .malformed("the path doesn't contain a valid user name") }
        return user
    }

    func register(_ request: Request, _ context: ServerContext) async throws -> Response {
        let (user, enrollment) = try caller(context)
        let order = try RegistrationBody(try await request.members())
        guard order.record.enrollment == enrollment
        else { throw Problem.malformed("the record is not signed by the key in the path") }
        let keys = try state().sender()
        guard order.record.topic == keys.sealer.topic else { throw RecordError.otherTopic }
        let name = try name(of: enrollment, user)
        let taken = try await outbox.register(
            record: order.record, address: order.address, of: name, user: user, deviceLimit: deviceCount, at: .now())
        if let refusal = taken.refusal {
            var problem = Problem(refusal)
            if refusal == .rolledBack || refusal == .conflicting {
                problem.more = ["record": .string(taken.device.record.description)]
            }
            throw problem
        }
        for recipient in taken.dropped { keys.sealer.forget(recipient) }
        // EnrollmentHTTP 3.7: those of six hybrid keys and ten others, the most that a record has room for, take 37 KB.
        let challenges = taken.device.unproven.map { recipient -> JSONValue in
            let challenge = PendingChallenge(
                to: recipient, of: enrollment, topic: keys.sealer.topic, from: keys.sender, at: .now())
            let state = keys.challenges.seal(challenge.storedText, for: name.description)
            return ["challenge": .string(challenge.text), "state": .string(state)]
        }
        return .json(["device": .string(name.description), "challenges": .array(challenges)])
    }

    func answer(_ request: Request, _ context: ServerContext) async throws -> Response {
        let (user, enrollment) = try caller(context)
        var reader = OrderReader(try await request.members())
        let (answer, text) = (try reader.text("answer"), try reader.text("state"))
        try reader.end("answer and state")
        let name = try name(of: enrollment, user)
        let stored = try state().sender().challenges.open(text, for: name.description)
        guard let challenge = stored.flatMap({ try? PendingChallenge(parsing: $0) }) else {
            throw Problem(
                .conflict, "unknown-challenge", "this service did not issue this challenge, or not recently",
                hint: "Submit the record again; the response has a new challenge.")
        }
        try await outbox.prove(challenge, answer: answer, of: name, at: .now())
        return Response(status: .noContent)
    }

    func unregister(_ request: Request, _ context: ServerContext) async throws -> Response {
        let (user, enrollment) = try caller(context)
        let name = try name(of: enrollment, user)
        do throws(OutboxError) { try await outbox.remove(name) } catch {
            guard error == .unknownDevice else { throw error }
        }
        return Response(status: .noContent)
    }

    /// Needs no login, because the enrollment key has signed the leaving.
    func leave(_ request: Request, _ context: ServerContext) async throws -> Response {
        let arrival = ContinuousClock.now
        // Anyone may send this, so no long body is read.
        var reader = OrderReader(try await request.members(upTo: 1_024))
        let text = try reader.text("leaving")
        try reader.end("leaving")
        let leaving = try Leaving(parsing: text, topic: state().sender().sealer.topic)
        return try await gate.admit(since: arrival) {
            try await outbox.leave(leaving)
            return Response(status: .noContent)
        }
    }

    /// Sends a fixed text to this device, so that its user can see that pushes work.
    func test(_ request: Request, _ context: ServerContext) async throws -> Response {
        let (user, enrollment) = try caller(context)
        guard tests.take(user) else {
            throw Problem(
                .tooManyRequests, "too-many-requests", "an account may send five tests an hour", retryAfter: 720)
        }
        return try await sendTest(to: .device(name(of: enrollment, user)))
    }

    /// For a back end, sends fixed text to a user or device.
    func testAll(_ request: Request, _ context: ServerContext) async throws -> Response {
        var reader = OrderReader(try await request.members())
        let (user, device) = (try reader.user(), try reader.device())
        try reader.end("user and device")
        guard let audience = user.map(Audience.user) ?? device.map(Audience.device), user == nil || device == nil
        else { throw Problem.malformed("a test needs exactly one of `user` and `device`") }
        return try await sendTest(to: audience)
    }

    private func sendTest(to audience: Audience) async throws -> Response {
        let content = Content(title: "Test", body: "It works: this message was sealed for this device alone.")
        let report = try await outbox.enqueue(
            OutgoingMessage(content, expiration: Timestamp.now().advanced(bySeconds: 3_600)), to: audience,
            from: state().sender().sealer
        )
        return .json(.object(report.json), status: .accepted)
    }

    func senderSet(_ request: Request, _ context: ServerContext) async throws -> Response {
        guard let set = state().senderSet else { return Response(status: .noContent) }
        return .json(["senderSet": .string(set.description)])
    }

    private func caller(_ context: ServerContext) throws -> (UserName, EnrollmentPublicKey) {
        guard let user = context.user, let text = context.part("enrollment"),
            let enrollment = try? EnrollmentPublicKey(parsing: text)
        else { throw Problem.malformed("no enrollment key in the path; expected `pushenrollment1…`") }
        return (user, enrollment)
    }

    /// The name is unique for each app, account, and enrollment key. So submitting a record first doesn't claim a device's
    /// name, and an account of another app in the same outbox can't remove it. It begins with a letter, so that no command
    /// mistakes it for an option.
    private func name(of enrollment: EnrollmentPublicKey, _ user: UserName) throws(Problem) -> DeviceName {
        let account = "\(try state().sender().sealer.topic)\0\(user)"
        let bytes = Array("sealedpush/v1 device\0".utf8) + enrollment.bytes + Array(account.utf8)
        guard let name = DeviceName(parsing: "phone-" + Base64URL.encode(BLAKE2b.hash(bytes, byteCount: 16))) else {
            preconditionFailure("base64url is visible text")
        }
        return name
    }
}

private struct RegistrationBody {
    let record: DeviceRecord
    let address: Address

    init(_ members: consuming JSONMembers) throws {
        var reader = OrderReader(members)
        let text = try reader.text("record")
        let token = try reader.required("token", "2 to 200 hexadecimal digits, and an even number of them") {
            $0.string.flatMap(DeviceToken.init(parsing:))
        }
        let environment = try reader.required("environment", "production or sandbox") {
            $0.string.flatMap(PushEnvironment.init(untrusted:))
        }
        try reader.end("record, token, and environment")
        record = try DeviceRecord(parsing: text)
        address = .apns(token, environment)
    }
}

/// Receives receipts from phones and counts them. Each transaction includes all that arrived during the previous one. A
/// receipt needs no login because it has a MAC. Neither addresses nor bodies are kept. Source: Specification 16.6.
final class ReceiptRoutes: Sendable {
    private let outbox: Outbox
    private let keys: @Sendable () -> ServerState
    private let turn = TaskSemaphore(1)
    private let state = Locked(State())

    private struct State {
        var count = 0
        var waiting: [(number: Int, receipt: Result<ShownReceipt, ReceiptError>)] = []
        /// The outcomes that were written but not yet returned; `nil` if a receipt was refused or could not be written.
        var outcomes: [Int: ReceiptOutcome?] = [:]
        var purged: Timestamp?
    }

    init(_ outbox: Outbox, state keys: @escaping @Sendable () -> ServerState) {
        self.outbox = outbox
        self.keys = keys
    }

    /// A valid receipt is durable once the response arrives.
    func take(_ request: Request, _ context: ServerContext) async throws -> Response {
        let body = Array(try await request.wholeBody(upTo: ReceiptReceiver.maximumByteCount).readableBytesView)
        let receiver = try keys().sender().receipts
        let receipt = Result { () throws(ReceiptError) in try receiver.receive(body, at: .now()) }
        let outcome = await counted(receipt)
        if case .failure(let error) = receipt {
            throw Problem(.badRequest, error.rawValue, "the receipt is not valid here")
        }
        guard let outcome else { throw Problem.unavailable("the outbox can't be written", retryAfter: 60) }
        guard outcome != .tooMany else {
            throw Problem(
                .tooManyRequests, "too-many-receipts", "this device has sent too many receipts today",
                retryAfter: 86_400)
        }
        return Response(status: .noContent)
    }

    /// Returns `nil` if the receipt was refused or could not be written.
    func counted(_ receipt: Result<ShownReceipt, ReceiptError>) async -> ReceiptOutcome? {
        let number = state.withLock { state in
            state.count += 1
            state.waiting.append((state.count, receipt))
            return state.count
        }
        await turn.enter()
        defer { turn.leave() }
        // An earlier caller may have written this one, too.
        if state.withLock({ $0.outcomes[number] == nil }) { await write() }
        return state.withLock { $0.outcomes.removeValue(forKey: number) } ?? nil
    }

    private func write() async {
        let batch = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        var refused: [ReceiptError: Int] = [:]
        let believed = batch.compactMap { number, receipt -> (Int, ShownReceipt)? in
            switch receipt {
            case .success(let receipt): return (number, receipt)
            case .failure(let error):
                refused[error, default: 0] += 1
                return nil
            }
        }
        let outcomes = try? await outbox.count(believed.map(\.1), refused: refused)
        state.withLock { state in
            for (number, _) in batch { state.outcomes[number] = .some(nil) }
            for ((number, _), outcome) in zip(believed, outcomes ?? []) { state.outcomes[number] = outcome }
        }
        await purge()
    }

    /// Runs once an hour, as a courier does, because there may be no courier.
    private func purge() async {
        let now = Timestamp.now()
        let isDue = state.withLock { state in
            guard state.purged.map({ now.seconds(since: $0) >= 3_600 }) ?? true else { return false }
            state.purged = now
            return true
        }
        if isDue { _ = try? await outbox.purge(.records) }
    }
}
