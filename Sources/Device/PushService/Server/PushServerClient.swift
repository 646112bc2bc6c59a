public import Foundation
internal import PushCore
public import SealedPush

/// An app's part in what it and its server say to each other about this device: one call at each launch, and once a day.
///
/// ```swift
/// let server = PushServerClient(url: URL(string: "https://push.example.com")!) { "Bearer \(try await login.token())" }
/// let update = await server.update(.messages, token: deviceToken)
/// ```
/// For the app, never for its extension. Nothing is believed because the server says so: records, sender sets and
/// challenges are signed or sealed. A value without state, safe from many tasks; what two calls do at once is done once.
/// Source: Specification 18.
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
    @concurrent public func update(
        _ app: ServiceConfiguration, token: Data, environment: PushEnvironment = .production,
        rotatingOlderThan age: Duration? = .seconds(30 * 86_400)
    ) async -> PushServerUpdate {
        await update(app.device, token: Array(token), environment: environment, rotatingOlderThan: age, at: .now())
    }

    /// Takes this device out of the account: for the logout, while the login still counts. Its keys stay, for the next one.
    ///
    /// Costs one request. The server forgets the device and what waits for it; where it does not know the device, that is
    /// no error.
    @concurrent public func unregister(_ app: ServiceConfiguration) async throws(PushServerError) {
        try await unregister(app.device)
    }
}

/// What ``PushServerClient/update(_:token:environment:rotatingOlderThan:)`` has done.
public struct PushServerUpdate: Sendable {
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
    /// The server said no: the HTTP status, and the code of Specification 18.7 where it gave one.
    case refused(status: Int, code: String?)
    /// The server's answer is not what Specification 18 says.
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

// MARK: - The steps

extension PushServerClient {
    package func update(
        _ device: OwnDevice, token: [UInt8], environment: PushEnvironment,
        rotatingOlderThan age: Duration? = nil, at now: Timestamp
    ) async -> PushServerUpdate {
        var update = PushServerUpdate()
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
            let registration = PushServerRegistration(
                device: device, exchange: exchange, token: Hex.encode(token), environment: environment, now: now)
            try await registration.run(record, &update)
        } catch { update.note(.registration, error) }
        return update
    }

    package func unregister(_ device: OwnDevice) async throws(PushServerError) {
        let enrollment: EnrollmentPublicKey?
        do throws(DeviceError) {
            enrollment = try device.change(at: .now()) { (change) throws(KeyChangeError) in
                try change.enrollmentKey()?.enrollment
            }
        } catch { throw .device(error) }
        guard let enrollment else { return }
        let answer = try await begin(device).send("DELETE", "v1/phones/\(enrollment)")
        guard answer.status != 404 else { return }
        try answer.requireSuccess()
    }

    private func begin(_ device: OwnDevice) async throws(PushServerError) -> PushServerExchange {
        let fetcher = device.environment.fetcher
        guard let host = NetworkHost(url), url.scheme?.lowercased() == "https" || fetcher.exempts(host) else {
            throw .notSecure
        }
        guard let authorization = try? await authorization(), Self.isHeaderValue(authorization) else {
            throw .noAuthorization
        }
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
