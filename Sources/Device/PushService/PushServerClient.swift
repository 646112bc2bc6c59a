public import Foundation
internal import PushCore
public import SealedPush

/// An app's part in what it and its server say to each other about this device: one call at each launch, and once a day.
///
/// ```swift
/// let server = PushServerClient(url: URL(string: "https://push.example.com")!) { "Bearer \(try await login.token())" }
/// let registration = await server.register(.messages, token: deviceToken)
/// ```
/// For the app, never for its extension. Nothing is believed because the server says so: records, sender sets and
/// challenges are signed or sealed. A value without state, safe from many tasks; what two calls do at once is done once.
/// Source: Docs/EnrollmentHTTP.md.
public struct PushServerClient: Sendable {
    private let url: URL
    private let authorization: @Sendable () async throws -> String

    /// - Parameters:
    ///   - url: where the server's paths begin (`https://push.example.com`, or with a path of its own). Only `https`.
    ///   - authorization: what proves the account's login: the value of the header `Authorization`, asked for once a call.
    ///     The device answers a challenge only because it came inside this login.
    public init(url: URL, authorization: @escaping @Sendable () async throws -> String) {
        self.url = url
        self.authorization = authorization
    }

    /// Enrolls this device, or does all that is due: takes the newest sender set, looks after the keys, hands over record and
    /// token, and proves the keys that the server asks about.
    ///
    /// A step that fails is noted in the answer, and those that don't need it are taken all the same. What was not done the
    /// next call does. Takes at most 10 seconds a request, of which there are three or four.
    ///
    /// - Parameters:
    ///   - app: the app's configuration, the same as its extension's.
    ///   - token: from `didRegisterForRemoteNotificationsWithDeviceToken`.
    ///   - environment: which of Apple's services the token is for: `sandbox` for what Xcode installs.
    ///   - age: when a key is old enough for a new one; nil where keys are not to be rotated by age.
    @concurrent public func register(
        _ app: ServiceConfiguration, token: Data, environment: PushEnvironment = .production,
        rotatingOlderThan age: Duration? = .seconds(30 * 86_400)
    ) async -> PushRegistration {
        await register(
            app.device.device, token: Array(token), environment: environment, rotatingOlderThan: age, at: .now())
    }

    /// Takes this device out of its account at the server: for the logout.
    ///
    /// First it destroys the keys and makes a new one, with or without a network, so that nothing that was sent to this account,
    /// wherever it is held, opens for the next one. Then the server forgets the device and what waits for it: it believes the
    /// enrollment key's signature, without a login. So after an error, such as ``PushServerError/unreachable``, call it again at
    /// the next launch, and before the next registration. If the account stays logged in, that hands the new key over.
    @concurrent public func unregister(_ app: ServiceConfiguration) async throws(PushServerError) {
        try await unregister(app.device.device)
    }

    /// Asks the server for a test push to this device, with a fixed text: five an hour at most.
    ///
    /// - Throws: `refused`, with the reason as its code if the server had nothing to send to: `unproven` before a key is
    ///   proven.
    @concurrent public func sendTest(to app: ServiceConfiguration) async throws(PushServerError) {
        try await sendTest(to: app.device.device)
    }
}

/// What ``PushServerClient/register(_:token:environment:rotatingOlderThan:)`` has done.
public struct PushRegistration: Sendable {
    /// What became of the keys; nil where that failed.
    public internal(set) var maintenance: DeviceMaintenance?
    /// The sender set that the server has handed over, where it was accepted.
    public internal(set) var senderSet: SenderSet?
    /// The server's name for this device.
    public internal(set) var device: String?
    /// Whether the server has token and record, and the device has proven each key that the server asked about.
    public internal(set) var isRegistered = false
    /// The steps that failed, in their order; empty where all went well. For the app's log: nothing secret is in it.
    public internal(set) var problems: [Problem] = []

    public struct Problem: Sendable, CustomStringConvertible {
        public let step: Step
        public let error: PushServerError
        public var description: String { "\(step.rawValue): \(error)" }
    }

    /// The steps, in their order.
    public enum Step: String, Sendable, CaseIterable {
        case senderSet = "sender set"
        case keys
        case registration
        case challenge
    }

    mutating func note(_ step: Step, _ error: PushServerError) { problems.append(Problem(step: step, error: error)) }
}

/// Why something could not be done with the server. Holds nothing secret, and no word of the server's but its code.
public enum PushServerError: Error, Equatable, Sendable {
    /// The address is not `https`.
    case notSecure
    /// The app could not say who is logged in.
    case noAuthorization
    /// The server can't be reached, or did not answer in time.
    case unreachable
    /// The server said no: the HTTP status, and the code of EnrollmentHTTP 7 where it gave one.
    case refused(status: Int, code: String?)
    /// The server's answer is not what EnrollmentHTTP says.
    case malformedAnswer
    /// This device's keys, or its sender set.
    case device(DeviceError)
    /// A challenge was not answered.
    case challenge(ChallengeError)
}

extension PushServerError: CustomStringConvertible {
    /// One sentence for the app's own log.
    public var description: String {
        switch self {
        case .notSecure: "the push server's address must begin with https"
        case .noAuthorization: "nobody is logged in"
        case .unreachable: "the push server can't be reached"
        case .refused(_, "enrolled-elsewhere"?):
            "another account on the server has this device: log out there, or have the server remove it"
        case .refused(let status, let code): "the push server answered with \(status)\(code.map { ", \($0)" } ?? "")"
        case .malformedAnswer: "the push server's answer is not what the protocol says"
        case .device(let error): error.description
        case .challenge(let error): error.description
        }
    }
}

extension PushServerClient {
    package func register(
        _ device: OwnDevice, token: [UInt8], environment: PushEnvironment,
        rotatingOlderThan age: Duration? = nil, at now: Timestamp
    ) async -> PushRegistration {
        do {
            return try await device.turn.take { await registered(device, token, environment, age, at: now) }
        } catch {
            // Cancelled while another call about this device was under way.
            var registration = PushRegistration()
            registration.note(.registration, .unreachable)
            return registration
        }
    }

    private func registered(
        _ device: OwnDevice, _ token: [UInt8], _ environment: PushEnvironment, _ age: Duration?, at now: Timestamp
    ) async -> PushRegistration {
        var update = PushRegistration()
        let exchange: PushServerExchange
        do throws(PushServerError) { exchange = try await begin(device) } catch {
            // Without a server there are still the keys.
            update.note(.registration, error)
            update.maintenance = try? device.maintain(rotatingOlderThan: age, at: now)
            return update
        }
        // First, so that a challenge of a new sender is answered at once. Without an authority there is none to believe.
        if !device.configuration.authorities.isEmpty {
            do throws(PushServerError) { update.senderSet = try await takeSenderSet(device, exchange, at: now) } catch {
                update.note(.senderSet, error)
            }
        }
        do throws(DeviceError) {
            update.maintenance = try device.maintain(rotatingOlderThan: age, at: now)
        } catch { update.note(.keys, .device(error)) }
        do throws(PushServerError) {
            // Whatever went wrong, the record and the newest token are worth handing over.
            let kept = update.maintenance?.record
            let record = if let kept { kept } else { try Self.record(of: device, at: now) }
            let registration = Registration(
                device: device, exchange: exchange, token: Hex.encode(token), environment: environment, now: now)
            try await registration.run(record, &update)
        } catch { update.note(.registration, error) }
        return update
    }

    package func unregister(_ device: OwnDevice) async throws(PushServerError) {
        do { try await device.turn.take { try await leave(device) } } catch {
            throw error as? PushServerError ?? .unreachable
        }
    }

    private func leave(_ device: OwnDevice) async throws(PushServerError) {
        let enrollment: EnrollmentPublicKey?
        do throws(DeviceError) { enrollment = try device.enrollment(at: .now()) } catch { throw .device(error) }
        guard let enrollment else { return }
        let leaving: Leaving
        do throws(DeviceError) { leaving = try device.leaveAccount(at: .now()) } catch { throw .device(error) }
        // Signed, and counted: a repetition takes no later registration back, whoever is logged in by then.
        let body: JSONValue = ["leaving": .string(leaving.description)]
        let answer = try await exchange(device, authorization: nil).send("POST", "v1/leavings", body)
        guard answer.status == 404 || answer.status == 405 else { return try answer.requireSuccess() }
        // A server that has no such path believes the login.
        let removed = try await begin(device).send("DELETE", "v1/phones/\(enrollment)")
        guard removed.status != 404 else { return }
        try removed.requireSuccess()
    }

    package func sendTest(to device: OwnDevice) async throws(PushServerError) {
        let enrollment: EnrollmentPublicKey?
        do throws(DeviceError) { enrollment = try device.enrollment(at: .now()) } catch { throw .device(error) }
        guard let enrollment else { throw .device(.unavailable("this device was never enrolled")) }
        let answer = try await begin(device).send("POST", "v1/phones/\(enrollment)/test")
        try answer.requireSuccess()
        guard answer.members["enqueued"]?.integer == 0 else { return }
        let reason = answer.members["skipped"]?.members?.keys.first { PushServerExchange.Answer.isCode($0) }
        throw .refused(status: answer.status, code: reason)
    }

    private func begin(_ device: OwnDevice) async throws(PushServerError) -> PushServerExchange {
        let anonymous = try exchange(device, authorization: nil)
        guard let authorization = try? await authorization(), Self.isHeaderValue(authorization) else {
            throw .noAuthorization
        }
        return PushServerExchange(url: url, authorization: authorization, fetcher: anonymous.fetcher)
    }

    private func exchange(_ device: OwnDevice, authorization: String?) throws(PushServerError) -> PushServerExchange {
        let fetcher = device.environment.fetcher
        do throws(MediaError) { try fetcher.check(url, reaching: .everywhere) } catch { throw .notSecure }
        return PushServerExchange(url: url, authorization: authorization, fetcher: fetcher)
    }

    private static func record(of device: OwnDevice, at now: Timestamp) throws(PushServerError) -> DeviceRecord {
        do throws(DeviceError) { return try device.enroll(at: now) } catch { throw .device(error) }
    }

    private func takeSenderSet(
        _ device: OwnDevice, _ exchange: PushServerExchange, at now: Timestamp
    ) async throws(PushServerError) -> SenderSet? {
        let answer = try await exchange.send("GET", "v1/sender-set")
        // This server has none: the app's built-in senders count, or the set that the device has.
        guard answer.status != 204, answer.status != 404 else { return nil }
        try answer.requireSuccess()
        guard let text = answer.members["senderSet"]?.string else { throw .malformedAnswer }
        do throws(DeviceError) { return try device.accept(senderSet: text, at: now) } catch { throw .device(error) }
    }

    /// Visible ASCII and spaces: nothing that begins another header.
    private static func isHeaderValue(_ text: String) -> Bool {
        (1...8_192).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
    }
}

/// The registration of one device: its record and token handed over, and its keys proven.
private struct Registration {
    let device: OwnDevice
    let exchange: PushServerExchange
    let token: String
    let environment: PushEnvironment
    let now: Timestamp

    func run(_ record: DeviceRecord, _ update: inout PushRegistration) async throws(PushServerError) {
        var record = record
        var answer = try await handOver(record)
        if answer.status == 409, let known = answer.members["record"]?.string {
            // This phone was put back from a backup: a record that counts higher.
            do throws(DeviceError) {
                guard let known = try? DeviceRecord(parsing: known) else { throw .record(.malformed) }
                record = try device.maintain(serverKnows: known, at: now).record
            } catch { throw .device(error) }
            answer = try await handOver(record)
        }
        try answer.requireSuccess()
        update.device = answer.members["device"]?.string
        var problems = try await prove(answer)
        if problems.contains(where: Self.wantsNewChallenge) {
            // Late, or the server has forgotten what it asked: once more, from the record on.
            answer = try await handOver(record)
            try answer.requireSuccess()
            problems = try await prove(answer)
        }
        update.isRegistered = problems.isEmpty
        for problem in problems { update.note(.challenge, problem) }
    }

    private func handOver(_ record: DeviceRecord) async throws(PushServerError) -> PushServerExchange.Answer {
        let body: JSONValue = [
            "record": .string(record.description), "token": .string(token),
            "environment": .string(environment.rawValue),
        ]
        return try await exchange.send("PUT", "v1/phones/\(record.enrollment)", body)
    }

    /// Answers the server's challenges, each for itself: one that is not answered keeps no other key from being proven.
    private func prove(_ asked: PushServerExchange.Answer) async throws(PushServerError) -> [PushServerError] {
        guard let value = asked.members["challenges"] else { return [] }
        guard case .array(let challenges) = value else { throw .malformedAnswer }
        var problems: [PushServerError] = []
        // A record has at most as many keys.
        for challenge in challenges.prefix(16) {
            guard let text = challenge["challenge"]?.string else { throw .malformedAnswer }
            do throws(PushServerError) {
                var body: [String: JSONValue] = ["answer": .string(try answer(text))]
                body["state"] = challenge["state"]?.string.map(JSONValue.string)
                try await exchange.send("POST", "\(asked.path)/answers", .object(body)).requireSuccess()
            } catch { problems.append(error) }
        }
        return problems
    }

    private func answer(_ challenge: String) throws(PushServerError) -> String {
        do { return try device.answer(challenge: challenge, at: now) } catch { throw .challenge(error) }
    }

    private static func wantsNewChallenge(_ error: PushServerError) -> Bool {
        guard case .refused(_, let code?) = error else { return false }
        return ["late", "unknown-challenge", "not-in-record", "foreign-enrollment"].contains(code)
    }
}

/// Requests to one server, inside one login or without any.
private struct PushServerExchange: Sendable {
    let url: URL
    let authorization: String?
    let fetcher: any Fetching

    struct Answer {
        let path: String
        let status: Int
        let members: [String: JSONValue]

        func requireSuccess() throws(PushServerError) {
            guard !(200...299).contains(status) else { return }
            let code = members["code"]?.string.flatMap { Self.isCode($0) ? $0 : nil }
            throw .refused(status: status, code: code)
        }

        /// What goes into a log.
        static func isCode(_ text: String) -> Bool {
            (1...64).contains(text.utf8.count) && text.utf8.allSatisfy(\.isOfLabel)
        }
    }

    func send(_ verb: String, _ path: String, _ body: JSONValue? = nil) async throws(PushServerError) -> Answer {
        let collected = Locked<[UInt8]>([])
        var request = FetchRequest(url: url.appending(path: path), deadline: .now + Self.longestWait)
        request.verb = verb
        request.authorization = authorization
        if let body {
            request.body = body.bytes
            request.contentType = "application/json"
        }
        request.wantsBody = { _ in true }
        request.take = { (bytes) throws(MediaError) in
            let isTaken = collected.withLock { collected in
                guard collected.count + bytes.count <= Self.maximumAnswerByteCount else { return false }
                collected += bytes
                return true
            }
            guard isTaken else { throw .network }
        }
        let answer: FetchAnswer
        do throws(MediaError) { answer = try await fetcher.answer(to: request) } catch { throw .unreachable }
        let bytes = collected.withLock { $0 }
        guard let members = bytes.isEmpty ? [:] : JSONReader.object(bytes, maximumByteCount: bytes.count) else {
            // A proxy's page is no answer; that it says no is.
            if !(200...299).contains(answer.status) { throw .refused(status: answer.status, code: nil) }
            throw .malformedAnswer
        }
        return Answer(path: path, status: answer.status, members: members)
    }

    /// A record has room for six hybrid keys: their challenges and states are 31 KB.
    private static let maximumAnswerByteCount = 65_536
    private static let longestWait = Duration.seconds(10)
}
