internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import PushCore
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// What apps ask for inside the login of an account: to enroll their device, to prove its keys, and to leave.
///
/// A device is known by its enrollment key, and each account has devices of its own: whose login it is comes from the token,
/// never from the body. Nothing is kept between a challenge and its answer but what the phone brings back under a MAC, so
/// any process that has the sender's key takes the answer. ``PhoneGate`` carries out one request of an account at a time.
/// Source: Specification 18.
struct PhoneRoutes: Sendable {
    let outbox: Outbox
    /// Of one account at most.
    let deviceCount: Int
    let state: @Sendable () -> ServerState

    init(_ outbox: Outbox, deviceCount: Int, state: @escaping @Sendable () -> ServerState) {
        self.outbox = outbox
        self.deviceCount = deviceCount
        self.state = state
    }

    // MARK: Logging in

    /// For a back end, inside the account's login: what the app shows here.
    func logIn(_ request: Request, _ context: ServerContext) async throws -> Response {
        let members = try await request.members().dictionary
        guard let user = members["user"]?.string.flatMap(UserName.init(parsing:)),
            members.count == (members["seconds"] == nil ? 1 : 2)
        else { throw Problem.malformed("a login has a user, of 1 to 128 bytes of visible text, and may have seconds") }
        let seconds = members["seconds"].map(\.integer) ?? 600
        guard let seconds, (1...2_592_000).contains(seconds) else {
            throw Problem.malformed("seconds is 1 to 2592000, which is 30 days")
        }
        let end = Timestamp.now().advanced(bySeconds: seconds)
        let token = try state().sender().logins.token(user, until: end)
        return .json(["token": .string(token), "expires": .integer(end.secondsSince1970)])
    }

    // MARK: Record and token

    func register(_ request: Request, _ context: ServerContext) async throws -> Response {
        let (user, enrollment) = try caller(context)
        let order = try Registration(try await request.members().dictionary)
        guard order.record.enrollment == enrollment else {
            throw Problem.malformed("the record is signed by another key than the path names")
        }
        let keys = try state().sender()
        guard order.record.topic == keys.sealer.topic else { throw RecordError.otherTopic }
        let name = Self.name(of: enrollment, user)
        let known = try await take(order, of: name, user, at: .now())
        return .json(["device": .string(name.description), "challenges": challenges(known, name, keys)])
    }

    private func take(
        _ order: Registration, of name: DeviceName, _ user: UserName, at now: Timestamp
    ) async throws -> EnrolledDevice {
        let taken = try await outbox.register(
            record: order.record, address: order.address, of: name, user: user, deviceLimit: deviceCount, at: now)
        if let refusal = taken.refusal {
            var problem = Problem(OutboxError.record(refusal))
            if refusal == .rolledBack || refusal == .conflicting {
                problem.more = ["record": .string(taken.device.record.description)]
            }
            throw problem
        }
        let sealer = state().keys?.sealer
        for recipient in taken.dropped { sealer?.forget(recipient) }
        return taken.device
    }

    private func challenges(_ device: EnrolledDevice, _ name: DeviceName, _ keys: ServerState.Keys) -> JSONValue {
        .array(
            device.unproven.map { recipient in
                let challenge = PendingChallenge(
                    to: recipient, of: device.enrollment, topic: keys.sealer.topic, from: keys.sender, at: .now())
                return ["challenge": .string(challenge.text), "state": .string(keys.challenges.seal(challenge, name))]
            })
    }

    // MARK: Answers

    func answer(_ request: Request, _ context: ServerContext) async throws -> Response {
        let (user, enrollment) = try caller(context)
        let members = try await request.members().dictionary
        guard let answer = members["answer"]?.string, let text = members["state"]?.string, members.count == 2 else {
            throw Problem.malformed("an answer has two members, answer and state, both text")
        }
        let name = Self.name(of: enrollment, user)
        guard let challenge = try state().sender().challenges.open(text, name) else {
            throw Problem(
                .conflict, "unknown-challenge", "this service has not asked this, or not lately",
                hint: "Hand over the record again: the answer has a new challenge.")
        }
        try await outbox.prove(challenge, answer: answer, of: name, at: .now())
        return Response(status: .noContent)
    }

    // MARK: Leaving, and sender sets

    func unregister(_ request: Request, _ context: ServerContext) async throws -> Response {
        let (user, enrollment) = try caller(context)
        do throws(OutboxError) { try await outbox.remove(Self.name(of: enrollment, user)) } catch {
            guard error == .unknownDevice else { throw error }
        }
        return Response(status: .noContent)
    }

    func senderSet(_ request: Request, _ context: ServerContext) async throws -> Response {
        guard let set = state().senderSet else { return Response(status: .noContent) }
        return .json(["senderSet": .string(set.description)])
    }

    private func caller(_ context: ServerContext) throws -> (UserName, EnrollmentPublicKey) {
        guard let user = context.user else { throw Problem.nobody }
        guard let text = context.part("enrollment"), let enrollment = try? EnrollmentPublicKey(parsing: text) else {
            throw Problem.malformed("no enrollment key in the path; expected `pushenrollment1…`")
        }
        return (user, enrollment)
    }

    /// One for each pair of account and enrollment key: so nobody takes a device's name by handing in its record first.
    static func name(of enrollment: EnrollmentPublicKey, _ user: UserName) -> DeviceName {
        let bytes = Array("sealedpush/v1 device".utf8) + [0] + enrollment.bytes + Array(user.description.utf8)
        guard let name = DeviceName(parsing: Base64URL.encode(BLAKE2b.hash(bytes, byteCount: 16))) else {
            preconditionFailure("base64url is visible text")
        }
        return name
    }
}

/// What a phone hands over.
private struct Registration {
    let record: DeviceRecord
    let address: Address

    init(_ members: [String: JSONValue]) throws {
        guard let text = members["record"]?.string, let token = members["token"]?.string, members.count == 3,
            let environment = members["environment"]?.string.flatMap(PushEnvironment.init(rawValue:))
        else {
            throw Problem.malformed(
                "a registration has three members: record, token, and environment, which is production or sandbox")
        }
        guard let token = DeviceToken(parsing: token) else {
            throw Problem.malformed("the token must have 2 to 200 hexadecimal digits, and an even number of them")
        }
        record = try DeviceRecord(parsing: text)
        address = .apns(token, environment)
    }
}

/// Challenges on their way to phones and back: what the server must know to take the answer, bound to the device that it was
/// made for. Nobody but who has the sender's key can make or change one.
final class ChallengeStates: Sendable {
    private let key: GuardedSecret

    init(of sender: SenderPrivateKey) { key = sender.derived("sealedpush/v1 challenge states") }

    func seal(_ challenge: PendingChallenge, _ name: DeviceName) -> String {
        let text = challenge.storedText
        return "\(text).\(Base64URL.encode(mac(text, name)))"
    }

    /// Nil for what this service has not made for this device.
    func open(_ state: String, _ name: DeviceName) -> PendingChallenge? {
        guard state.utf8.count <= 1_024, let dot = state.lastIndex(of: "."),
            let mac = Base64URL.decode(state[state.index(after: dot)...].utf8)
        else { return nil }
        let text = String(state[..<dot])
        guard ConstantTime.areEqual(mac, self.mac(text, name)) else { return nil }
        return try? PendingChallenge(parsing: text)
    }

    private func mac(_ text: String, _ name: DeviceName) -> [UInt8] {
        let message = Array(name.description.utf8) + [0] + Array(text.utf8)
        return key.withBytes { BLAKE2b.hash(message, key: $0, byteCount: 32) }
    }
}

/// Takes receipts from phones and counts them, as many in one transaction as have come while the last one was written.
///
/// A receipt needs no login: it has a MAC. Neither addresses nor bodies are kept. Source: Specification 16.6.
final class ReceiptRoutes: Sendable {
    private let outbox: Outbox
    private let keys: @Sendable () -> ServerState
    private let state = Locked(State())

    private struct State {
        var waiting: [Waiting] = []
        var isWriting = false
        var purged: Timestamp?
    }

    private struct Waiting: Sendable {
        let receipt: Result<ShownReceipt, ReceiptError>
        let answer: CheckedContinuation<ReceiptOutcome?, Never>
    }

    init(_ outbox: Outbox, state keys: @escaping @Sendable () -> ServerState) {
        self.outbox = outbox
        self.keys = keys
    }

    /// A receipt that is believed is durable once the response arrives.
    func take(_ request: Request, _ context: ServerContext) async throws -> Response {
        let body = Array(try await request.wholeBody(upTo: ReceiptReceiver.maximumByteCount).readableBytesView)
        let receiver = try keys().sender().receipts
        let receipt = Result { () throws(ReceiptError) in try receiver.receive(body, at: .now()) }
        let outcome = await counted(receipt)
        if case .failure(let error) = receipt {
            throw Problem(.badRequest, error.rawValue, "this is not a receipt that is believed here")
        }
        guard let outcome else {
            var problem = Problem.unavailable("the outbox can't be written")
            problem.retryAfter = 60
            throw problem
        }
        guard outcome != .tooMany else {
            var problem = Problem(.tooManyRequests, "too-many-receipts", "this device has sent too many receipts today")
            problem.retryAfter = 86_400
            throw problem
        }
        return Response(status: .noContent)
    }

    /// Returns nil if the receipt was refused or could not be written.
    func counted(_ receipt: Result<ShownReceipt, ReceiptError>) async -> ReceiptOutcome? {
        await withCheckedContinuation { continuation in
            let isFirst = state.withLock { state in
                state.waiting.append(Waiting(receipt: receipt, answer: continuation))
                defer { state.isWriting = true }
                return !state.isWriting
            }
            if isFirst { Task { await self.write() } }
        }
    }

    private func write() async {
        while let batch = next() {
            var (believed, refused): ([ShownReceipt], [ReceiptError: Int]) = ([], [:])
            for waiting in batch {
                switch waiting.receipt {
                case .success(let receipt): believed.append(receipt)
                case .failure(let error): refused[error, default: 0] += 1
                }
            }
            var outcomes = (try? await outbox.count(believed, refused: refused))?[...] ?? []
            for waiting in batch {
                if case .success = waiting.receipt {
                    waiting.answer.resume(returning: outcomes.popFirst())
                } else {
                    waiting.answer.resume(returning: nil)
                }
            }
            await purge()
        }
    }

    /// Returns nil when nothing waits; then nobody writes any more.
    private func next() -> [Waiting]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isWriting = false
                return nil
            }
            let batch = Array(state.waiting.prefix(512))
            state.waiting.removeFirst(batch.count)
            return batch
        }
    }

    /// Once an hour, as a courier does: there may be none.
    private func purge() async {
        let now = Timestamp.now()
        let isDue = state.withLock { state in
            guard state.purged.map({ now.seconds(since: $0) >= 3_600 }) ?? true else { return false }
            state.purged = now
            return true
        }
        if isDue { _ = try? await outbox.purge(.stale) }
    }
}
