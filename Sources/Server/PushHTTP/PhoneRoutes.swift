internal import HTTPTypes
internal import Hummingbird
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
    let tests: RateLimiter<UserName>
    let state: @Sendable () -> ServerState

    func register(_ request: Request, _ context: ServerContext) async throws -> Response {
        let (user, enrollment) = try caller(context)
        let order = try RegistrationOrder(try await request.members())
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
        let keys = try state().sender()
        let leaving = try Leaving(parsing: text, topic: keys.sealer.topic, service: keys.service)
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
        return try await outbox.sendTest(to: .device(name(of: enrollment, user)), from: state().sender().sealer)
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

private struct RegistrationOrder {
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
