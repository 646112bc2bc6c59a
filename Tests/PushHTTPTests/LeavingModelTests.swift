import Foundation
import PushApp
import PushCore
import PushOutbox
import PushSender
import PushServiceTesting
import SealedPush
import TestPrograms
import TestSupport
import Testing
import UserNotifications

@testable import PushHTTP
@testable import PushService

/// Replays what the proofs' model of leaving does on an app's pushes and the server's routes: each of its transitions is a call,
/// and after each, the app must have saved the same, and the server must have the same records and proven keys.
extension AppPushesTests {
    @Suite("The model of leaving, replayed", .blocking) struct LeavingModelTests {
        /// One line that a simulation prints.
        fileprivate struct Step: CustomStringConvertible {
            let event: String
            let account: Int
            let isIn: Bool
            let isLeaving: Bool
            /// The phone's enrollment key, 0 or 1.
            let enrollment: Int
            let counter: Int
            let key: Int
            /// The counter, key, and proven key of each account's devices, one for each enrollment key; 0 for none.
            let devices: [[Int]]
            let description: String

            init?(_ line: Substring) {
                let form = /([A-z]+) account=(\d) phone=(\d),(\d),(\d),(\d+),(\d) devices=([\d,;]+)/
                guard let match = line.wholeMatch(of: form) else { return nil }
                (event, account) = (String(match.1), Int(match.2)!)
                (isIn, isLeaving, enrollment) = (match.3 == "1", match.4 == "1", Int(match.5)!)
                (counter, key) = (Int(match.6)!, Int(match.7)!)
                devices = match.8.split(separator: ";").map { $0.split(separator: ",").compactMap { Int($0) } }
                description = String(line)
            }
        }

        @Test("every simulation does the same on an app and a server") func replayed() async throws {
            // In one of the sample, a leaving is repeated after the next login.
            let seeds = Thoroughness.isThorough ? 1...500 : 80...99
            let traces = try ProofModel("leaving").simulations(seeds).map { name, lines in
                (name: name, steps: lines.compactMap(Step.init))
            }
            let events = Set(traces.flatMap { $0.steps.map(\.event) })
            #expect(
                events == [
                    "login", "logout", "noLeaving", "noThanks", "leave", "refuse", "noChallenge", "register", "again",
                    "oldRecord",
                ])
            for (name, steps) in traces {
                var replay = try await Replay()
                for (number, step) in steps.enumerated() {
                    let difference = try await replay.take(step)
                    try #require(difference == nil, "\(name), step \(number + 1), \(step): \(difference ?? "")")
                }
                await replay.finish()
            }
        }
    }
}

private struct Replay {
    fileprivate typealias Step = AppPushesTests.LeavingModelTests.Step

    private static let topic: Topic = "com.example.app"
    private static let users: [UserName] = ["first", "second"]

    /// A record that the phone submitted.
    private struct Known {
        let record: DeviceRecord
        let enrollment: Int
        let counter: Int
        let key: Int
    }

    private let folder: TemporaryFolder
    private let items = InMemorySecretItems()
    private let storage = AppPushesTests.Storage()
    private let pushes: SealedPushes
    private let outbox = Outbox(MemoryStore(clock: .system))
    private let phones: UnconnectedPhones
    private let logins: [String]
    private var network = HeldNetwork()

    private var known: [Known] = []
    /// The phone's enrollment keys, in order.
    private var enrollments: [EnrollmentPublicKey] = []
    private var firstRecord: HeldNetwork.Request?
    private var firstLeaving: HeldNetwork.Request?

    init() async throws {
        let (folder, sender, items) = (try TemporaryFolder(inMemory: true), SenderPrivateKey(), items)
        let keys = RunningServer.keys(of: sender, topic: Self.topic)
        phones = UnconnectedPhones(
            outbox, state: ServerState(keys: keys, senderSet: nil, tokens: nil), limits: .unhurried)
        let now = Timestamp.now()
        logins = Self.users.map {
            keys.login(of: $0, until: now.advanced(bySeconds: 3_600), issued: now.secondsSince1970 * 1_000)
        }
        var app = ServiceConfiguration(
            topic: Self.topic, keys: .items(items), trusting: [sender.sender],
            safeDefault: SafeDefault(body: "default"), container: .folder(folder.url))
        app.environment = DeviceEnvironment(
            keychain: { _ in items }, appGroup: { _ in folder.url }, scratchRoot: folder.url, fetcher: network.fetcher)
        nonisolated(unsafe) let center = UNUserNotificationCenter()
        app.environment.center = { center }
        var saved = Saved()
        saved.token = Data([1, 2])
        _ = storage.write(try JSONEncoder().encode(saved))
        (pushes, self.folder) = (
            await SealedPushes(app, server: URL(string: "https://push.example.com"), storage: storage) {
                "Bearer \($0)"
            },
            folder
        )
    }

    private var stored: StoredItems { StoredItems(items.list()) }

    /// Lets the phone end what it does.
    mutating func finish() async { await network.loseEverything() }

    /// Makes the call of a transition, and returns what differs from the model.
    mutating func take(_ step: Step) async throws -> String? {
        let pushes = pushes
        switch step.event {
        case "login":
            // What the app was about to send doesn't reach the server, so that one operation runs at a time.
            await network.loseEverything()
            let login = logins[step.account]
            await network.run { await pushes.logIn(login) }
        case "logout":
            await network.loseEverything()
            await network.run { await pushes.logOut() }
            firstLeaving = firstLeaving ?? network.held
            let former = Set(known.map(\.record.recipients[0]))
            if stored.keys.contains(where: { former.contains($0.recipient) }) { return "a key remains" }
        case "noLeaving", "noThanks", "leave", "refuse":
            if let difference = try await leave(step) { return difference }
        case "register", "noChallenge":
            if let difference = try await register(step) { return difference }
        case "again": if let firstLeaving { _ = try await phones.answer(firstLeaving) }
        case "oldRecord":
            _ = try await phones.answer(#require(firstRecord), login: logins[step.account])
        default: return "it is unknown"
        }
        return try await difference(from: step)
    }

    private func difference(from step: Step) async throws -> String? {
        let saved = try storage.saved
        if (saved.session != nil) != step.isIn { return "the app has \(saved.session == nil ? "no" : "a") login" }
        if (saved.leaving != nil) != step.isLeaving {
            return "the app has \(saved.leaving == nil ? "no" : "a") leaving"
        }
        for (account, user) in Self.users.enumerated() {
            var found = [[0, 0, 0], [0, 0, 0]]
            for device in try await outbox.devices(of: user) {
                guard let device = device.enrolled, let known = known.first(where: { $0.record == device.record })
                else { return "\(user) has an unknown record" }
                let proven = device.proven == Set(device.record.recipients) ? known.key : 0
                found[known.enrollment] = [known.counter, known.key, proven]
            }
            if found != Array(step.devices[2 * account..<2 * account + 2]) { return "\(user) has \(found)" }
        }
        return nil
    }

    /// Has the app start its daily task if it does nothing.
    private mutating func wake() async {
        let pushes = pushes
        if !network.isBusy { await network.run { await pushes.refresh() } }
    }

    /// Brings the leaving to the server. If it isn't taken, what the app sends next is lost, too.
    private mutating func leave(_ step: Step) async throws -> String? {
        await wake()
        guard let request = network.held, request.path == "/v1/leavings" else {
            return "it sends \(network.held?.path ?? "nothing")"
        }
        switch step.event {
        case "leave": await network.end(with: try await phones.answer(request))
        case "refuse":
            await network.end(with: (404, []))
            guard let request = network.held, request.method == "DELETE" else { return "it doesn't use its login" }
            await network.end(with: (401, []))
        default:
            if step.event == "noThanks" { _ = try await phones.answer(request) }
            await network.loseEverything()
        }
        return nil
    }

    /// Brings the record to the server, and answers to its challenges.
    private mutating func register(_ step: Step) async throws -> String? {
        await wake()
        guard let request = network.held, request.method == "PUT" else {
            return "it sends \(network.held?.path ?? "nothing")"
        }
        let body = try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any]
        if let difference = know(try DeviceRecord(parsing: body?["record"] as? String ?? ""), step) {
            return difference
        }
        firstRecord = firstRecord ?? request
        let answer = try await phones.answer(request)
        guard answer.status == 200 else { return "the server answers \(answer.status)" }
        guard step.event == "register" else {
            await network.loseEverything()
            return nil
        }
        await network.end(with: answer)
        while let request = network.held { await network.end(with: try await phones.answer(request)) }
        let status = await pushes.status
        if case .registered = status { return nil }
        return "\(status)"
    }

    /// Returns what differs if the record isn't the one that the model submits.
    private mutating func know(_ record: DeviceRecord, _ step: Step) -> String? {
        if !enrollments.contains(record.enrollment) { enrollments.append(record.enrollment) }
        let next = Known(record: record, enrollment: step.enrollment, counter: step.counter, key: step.key)
        if let same = known.first(where: { $0.record == record }) {
            let isSame = same.counter == next.counter && same.key == next.key && same.enrollment == next.enrollment
            return isSame ? nil : "it is an old record"
        }
        if let last = known.last(where: { $0.record.enrollment == record.enrollment }) {
            guard last.enrollment == next.enrollment else { return "the enrollment key remains" }
            guard last.record.counter < record.counter, last.counter < next.counter else { return "the counter falls" }
        }
        if known.contains(where: { $0.key == next.key }) { return "there is a new key" }
        let former = Set(known.flatMap(\.record.recipients))
        guard record.recipients.count == 1, !former.contains(record.recipients[0]) else { return "a key remains" }
        known.append(next)
        return nil
    }
}
