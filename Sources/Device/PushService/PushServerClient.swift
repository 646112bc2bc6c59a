public import Foundation
internal import PushCore
public import SealedPush

/// A client that registers this device with the app's server. Call it at each launch and once a day.
///
/// ```swift
/// let server = PushServerClient(url: URL(string: "https://push.example.com")!) { "Bearer \(try await login.token())" }
/// let registration = await server.register(.messages, token: deviceToken)
/// ```
///
/// For the app, never for its extension. The server isn't trusted: records, sender sets, and challenges are signed or
/// sealed. A stateless value, safe to use from many tasks; concurrent calls about one device run one after another.
/// Source: Docs/EnrollmentHTTP.md.
public struct PushServerClient: Sendable {
    private let url: URL
    private let service: ServiceName?
    private let authorization: @Sendable () async throws -> String

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - url: The URL where the server's paths begin, such as `https://push.example.com`. Must be `https`; may have a path.
    ///   - service: The name of the server's service, as in `sealedpush serve --service`; nil if it's the topic. Give each
    ///     service of an app a name, such as for production and staging: one can't have a device removed from another.
    ///   - authorization: Returns the value of the header `Authorization`, which proves the account's login. Invoked once
    ///     per call. The device answers a challenge only because it arrived inside this login.
    public init(
        url: URL, service: ServiceName? = nil, authorization: @escaping @Sendable () async throws -> String
    ) {
        self.url = url
        self.service = service
        self.authorization = authorization
    }

    /// Enrolls this device or does the work that is due. Accepts the newest sender set, maintains the keys, hands over the
    /// record and token, and proves the keys that the server asks about.
    ///
    /// A failed step is reported in the result, and steps that don't depend on it still run. The next call does the
    /// rest. Takes at most 10 seconds per request, of which there are three or four.
    ///
    /// - Parameters:
    ///   - app: The app's configuration, the same as its extension's.
    ///   - token: The token from `didRegisterForRemoteNotificationsWithDeviceToken`.
    ///   - environment: The Apple service that the token is for.
    ///   - age: The age at which a key is replaced; nil for no rotation by age.
    @concurrent public func register(
        _ app: ServiceConfiguration, token: Data, environment: PushEnvironment = .ofThisBuild,
        rotatingOlderThan age: Duration? = .seconds(30 * 86_400)
    ) async -> PushRegistration {
        await register(
            app.device.device, token: Array(token), environment: environment, rotatingOlderThan: age,
            at: app.environment.now())
    }

    /// Removes this device from its account on the server. Call it at logout, with a client for the login that ends.
    ///
    /// First, it destroys the keys and makes a new one, even offline, so that messages sent to this account, wherever held,
    /// don't open for the next account. Then the server deletes the device and its waiting messages. The enrollment key's
    /// signature is enough; only a server that doesn't take leavings (EnrollmentHTTP 6) needs the old login.
    ///
    /// If the error ``PushServerError/isTemporary``, call it again at the next launch and before the next registration,
    /// until one of them succeeds. After any other error, it has forgotten the enrollment key, so that nothing left on the
    /// server can prevent a registration: to the server, this is a new device.
    ///
    /// - Throws: `device` if the keys weren't destroyed. Then no account may be registered before a call has destroyed them.
    @concurrent public func unregister(_ app: ServiceConfiguration) async throws(PushServerError) {
        try await unregister(app.device.device)
    }

    /// Asks the server to send a test push with a fixed text to this device, at most five per hour.
    ///
    /// - Throws: `refused` if the server sent nothing, with the reason as its code: `unproven` before a key is proven.
    @concurrent public func sendTest(to app: ServiceConfiguration) async throws(PushServerError) {
        try await sendTest(to: app.device.device)
    }
}

extension PushServerClient {
    package func register(
        _ device: OwnDevice, token: [UInt8], environment: PushEnvironment,
        rotatingOlderThan age: Duration? = nil, at now: Timestamp
    ) async -> PushRegistration {
        do {
            return try await device.turn.run { await registered(device, token, environment, age, at: now) }
        } catch {
            // Canceled while another call about this device was in progress.
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
            // The keys can be maintained even without a server.
            update.note(.registration, error)
            update.maintenance = try? device.maintain(rotatingOlderThan: age, at: now)
            return update
        }
        // First, so that a new sender's challenge can be answered right away. Without an authority, no set can be trusted.
        if !device.configuration.authorities.isEmpty {
            do throws(PushServerError) { update.senderSet = try await takeSenderSet(device, exchange, at: now) } catch {
                update.note(.senderSet, error)
            }
        }
        do throws(DeviceError) {
            update.maintenance = try device.maintain(rotatingOlderThan: age, at: now)
        } catch { update.note(.keys, .device(error)) }
        do throws(PushServerError) {
            // Despite any error, hand over the record and the newest token.
            let kept = update.maintenance?.record
            let record = if let kept { kept } else { try Self.record(of: device, at: now) }
            let registering = Registering(
                device: device, exchange: exchange, token: Hex.encode(token), environment: environment, now: now)
            try await registering.run(record, &update)
        } catch { update.note(.registration, error) }
        return update
    }

    package func unregister(_ device: OwnDevice) async throws(PushServerError) {
        do { try await device.turn.run { try await leave(device) } } catch {
            throw error as? PushServerError ?? .unreachable
        }
    }

    private func leave(_ device: OwnDevice) async throws(PushServerError) {
        let now = device.environment.now()
        let enrollment: EnrollmentPublicKey?
        do throws(DeviceError) { enrollment = try device.enrollment(at: now) } catch { throw .device(error) }
        guard let enrollment else { return }
        let leaving: Leaving
        do throws(DeviceError) { leaving = try device.leaveAccount(of: service, at: now) } catch {
            throw .device(error)
        }
        do throws(PushServerError) { try await report(leaving, of: enrollment, device) } catch {
            if !error.isTemporary {
                do throws(DeviceError) { try device.forgetEnrollment(at: now) } catch { throw .device(error) }
            }
            throw error
        }
    }

    private func report(
        _ leaving: Leaving, of enrollment: EnrollmentPublicKey, _ device: OwnDevice
    ) async throws(PushServerError) {
        // Signed and counted, so that a replay can't undo a later registration, no matter who is logged in by then.
        let body: JSONValue = ["leaving": .string(leaving.description)]
        do throws(PushServerError) {
            return try await exchange(device, authorization: nil).send("POST", "v1/leavings", body).requireSuccess()
        } catch {
            // A server without that path may answer with any refusal, or with a page. It relies on the login.
            switch error {
            case .refused where !error.isTemporary, .malformedAnswer: break
            default: throw error
            }
        }
        do throws(PushServerError) {
            try await begin(device).send("DELETE", "v1/phones/\(enrollment)").requireSuccess()
        } catch { guard case .refused(404, _) = error else { throw error } }
    }

    package func sendTest(to device: OwnDevice) async throws(PushServerError) {
        let now = device.environment.now()
        let enrollment: EnrollmentPublicKey?
        do throws(DeviceError) { enrollment = try device.enrollment(at: now) } catch { throw .device(error) }
        guard let enrollment else { throw .device(.unavailable("this device was never enrolled; register it first")) }
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
        // The server has no sender set; the app's built-in senders or the device's own set still apply.
        guard answer.status != 204, answer.status != 404 else { return nil }
        try answer.requireSuccess()
        guard let text = answer.members["senderSet"]?.string else { throw .malformedAnswer }
        do throws(DeviceError) { return try device.accept(senderSet: text, at: now) } catch { throw .device(error) }
    }

    /// Whether the text is visible ASCII and spaces only, so that it can't begin another header.
    private static func isHeaderValue(_ text: String) -> Bool {
        (1...8_192).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
    }
}

/// Registers one device: hands over its record and token, and proves its keys.
private struct Registering {
    let device: OwnDevice
    let exchange: PushServerExchange
    let token: String
    let environment: PushEnvironment
    let now: Timestamp

    func run(_ record: DeviceRecord, _ update: inout PushRegistration) async throws(PushServerError) {
        var record = record
        var answer = try await handOver(record)
        if answer.status == 409, let known = answer.members["record"]?.string {
            // This phone was restored from a backup; sign a record with a higher counter.
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
            // Too late, or the server has forgotten its challenge; start over with the record.
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

    /// Answers the server's challenges independently, so that one failure doesn't keep other keys from being proven.
    private func prove(_ asked: PushServerExchange.Answer) async throws(PushServerError) -> [PushServerError] {
        guard let value = asked.members["challenges"] else { return [] }
        guard case .array(let challenges) = value else { throw .malformedAnswer }
        var problems: [PushServerError] = []
        // A record can't contain more keys.
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

/// Requests to one server, with or without a login.
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

        /// Whether the text is a code that may go into a log.
        static func isCode(_ text: String) -> Bool {
            (1...64).contains(text.utf8.count) && text.utf8.allSatisfy(\.isOfLabel)
        }
    }

    func send(_ verb: String, _ path: String, _ body: JSONValue? = nil) async throws(PushServerError) -> Answer {
        let collected = Locked<[UInt8]>([])
        var request = FetchRequest(url: url.appending(path: path), deadline: .now + fetcher.patience)
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
            // A proxy's or framework's page isn't a valid answer, but its error status counts.
            if !(200...299).contains(answer.status) { return Answer(path: path, status: answer.status, members: [:]) }
            throw .malformedAnswer
        }
        return Answer(path: path, status: answer.status, members: members)
    }

    /// Source: EnrollmentHTTP 3.7.
    private static let maximumAnswerByteCount = 65_536
}
