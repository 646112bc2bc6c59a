import Foundation
import PushCore
import PushOutbox
import PushSender
import PushServiceTesting
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushHTTP
@testable import PushService

/// Replays what the proofs' model of enrollment does on the app's client and the server's routes: each of its transitions is a
/// call, and after each, the phone must have the same record and the server the same records and proven keys.
@Suite("The model of enrollment, replayed", .blocking) struct EnrollmentModelTests {
    /// One line that a simulation prints.
    private struct Step: CustomStringConvertible {
        let event: String
        let account: Int
        /// The phone's newest record and the key in it, and its newest key.
        let counter, body, signedKey, ownKey: Int
        /// The record, its key, and the proven key of each account; 0 for none.
        let registered: [[Int]]
        let description: String

        init?(_ line: Substring) {
            let form = /([A-z]+) account=(\d) phone=(\d),(\d),(\d),(\d) alice=(\d),(\d),(\d) mallory=(\d),(\d),(\d)/
            guard let match = line.wholeMatch(of: form) else { return nil }
            (event, account) = (String(match.1), Int(match.2)!)
            (counter, body, signedKey, ownKey) = (Int(match.3)!, Int(match.4)!, Int(match.5)!, Int(match.6)!)
            registered = [[match.7, match.8, match.9], [match.10, match.11, match.12]].map { $0.map { Int($0)! } }
            description = String(line)
        }
    }

    @Test("Every simulation does the same on a phone and a server") func replayed() async throws {
        // Chance hardly finds an answer that would prove a key for another account.
        let model = ProofModel("enrollment")
        let simulations = try model.simulations(1...Thoroughness.count(20, thorough: 500))
        let traces = (simulations + [try model.way(to: "tell(oldAnswer, MALLORY)")]).map { name, lines in
            (name: name, steps: lines.compactMap(Step.init))
        }
        let events = Set(traces.flatMap { $0.steps.map(\.event) })
        #expect(
            events == [
                "begin", "noRequest", "register", "noAnswer", "answer", "noResult", "newKey", "newRecord", "restore",
                "oldRecord", "oldAnswer", "submit", "ask",
            ])
        for (name, steps) in traces {
            var replay = try Replay()
            for (number, step) in steps.enumerated() {
                let difference = try await replay.take(step)
                try #require(difference == nil, "\(name), step \(number + 1), \(step): \(difference ?? "")")
            }
            await replay.finish()
        }
    }

    /// A phone's keychain. A process that may not sign is killed before it writes the record.
    private struct Items: SecretItems {
        let items: InMemorySecretItems
        var maySign = true

        func list() -> [ListedItem] { items.list() }
        func secret(account: String) throws(SecretItemError) -> ItemSecret { try items.secret(account: account) }
        func add(_ item: SecretItem) throws(SecretItemError) { try items.add(item) }
        func remove(account: String) throws(SecretItemError) { try items.remove(account: account) }
        func replace(_ item: ListedItem, attributes: [UInt8]) throws(SecretItemError) {
            guard maySign || !item.account.hasPrefix("enrollment") else { throw .other(-1) }
            try items.replace(item, attributes: attributes)
        }
    }

    private struct Replay {
        private static let topic: Topic = "com.example.app"
        private static let users: [UserName] = ["alice", "mallory"]

        private let folder: TemporaryFolder
        private let sender = SenderPrivateKey()
        private let items = InMemorySecretItems()
        private let start = Timestamp.now()
        /// The phone's clock. It runs backward, so that counters don't follow it, and no two records are equal.
        private var now: Timestamp
        private let outbox = Outbox(MemoryStore(clock: .system))
        private let phones: UnconnectedPhones
        private let logins: [String]
        private var network = HeldNetwork()

        /// The keychain after the first record, and when the phone submitted each key.
        private var backup: [SecretItem] = []
        private var former: [Int: InMemorySecretItems] = [:]
        /// The second new key within a submission, which waits for its end: until then, the first one replaces no other.
        private var pending: Step?
        private var isSubmitting = false

        /// The model's numbers of records and keys, once they are known.
        private var records: [Int: DeviceRecord] = [:]
        private var keys: [Int: DevicePublicKey] = [:]
        private var firstRequest: HeldNetwork.Request?
        private var seenAnswer: HeldNetwork.Request?

        init() throws {
            (folder, now) = (try TemporaryFolder(inMemory: true), start)
            let keys = RunningServer.keys(of: sender, topic: Self.topic)
            phones = UnconnectedPhones(
                outbox, state: ServerState(keys: keys, senderSet: nil, tokens: nil), limits: .unhurried)
            let end = start.advanced(bySeconds: 3_600)
            logins = Self.users.map { keys.login(of: $0, until: end, issued: Timestamp.now().secondsSince1970 * 1_000) }
        }

        private func device(_ items: any SecretItems) -> OwnDevice {
            let folder = folder.url
            return OwnDevice(
                ServiceConfiguration(
                    topic: Self.topic, keys: .items(items), trusting: [sender.sender],
                    safeDefault: SafeDefault(body: "default"), container: .folder(folder)),
                environment: DeviceEnvironment(
                    keychain: { _ in items }, appGroup: { _ in folder }, scratchRoot: folder, fetcher: network.fetcher))
        }

        private var stored: StoredItems { StoredItems(items.list()) }
        private var enrollment: StoredEnrollment? { stored.enrollment(for: Self.topic) }

        /// Lets the phone end what it does.
        mutating func finish() async { await network.loseEverything() }

        /// Makes the call of a transition, and returns what differs from the model.
        mutating func take(_ step: Step) async throws -> String? {
            defer { now = now.advanced(bySeconds: -1) }
            switch step.event {
            case "begin":
                await begin()
                guard let record = try network.held.flatMap(Self.record) else { return "it submits no record" }
                if records.isEmpty { (backup, firstRequest) = (items.items(), network.held) }
                if let difference = know(record, step.body, step.signedKey) { return difference }
            case "noRequest":
                await network.loseEverything()
                try endSubmission()
            case "register", "noAnswer":
                if let difference = try await register(step) { return difference }
                try endSubmission()
            case "answer", "noResult":
                if let request = network.held {
                    guard request.path.hasSuffix("/answers") else { return "it sends \(request.path)" }
                    seenAnswer = request
                    let answer = try await phones.answer(request)
                    await network.end(with: step.event == "answer" ? answer : nil)
                }
                if network.isBusy { return "it goes on" }
            case "newKey":
                let isWaiting = stored.keys.contains { $0.life.confirmed == nil }
                if isSubmitting, isWaiting { pending = step } else { try addKey(step) }
            case "newRecord": try loseRecord()
            case "restore": try await restore(step)
            case "oldRecord": _ = try await phones.answer(#require(firstRequest), login: logins[0])
            case "oldAnswer": _ = try await phones.answer(#require(seenAnswer), login: logins[step.account])
            case "submit": _ = try await submit(#require(records[step.account == 0 ? step.body : 1]), as: 1)
            // The phone answers only inside its own login.
            case "ask": if step.account == 0, step.registered[0][1] != 0 { try await ask(step) }
            default: return "it is unknown"
            }
            return try await difference(from: step)
        }

        private mutating func difference(from step: Step) async throws -> String? {
            guard let enrollment else { return "there is no enrollment key" }
            let counter = UInt64(start.secondsSince1970 - 1) + UInt64(step.counter)
            if enrollment.counter != counter { return "the counter is \(String(describing: enrollment.counter))" }
            // A lost one is nil.
            if let record = enrollment.record, record != records[step.body] { return "the phone has another record" }
            for (user, expected) in zip(Self.users, step.registered) {
                let devices = try await outbox.devices(of: user)
                guard devices.count <= 1 else { return "\(user) has \(devices.count) devices" }
                let device = devices.first?.enrolled
                let record = records.first { $0.value == device?.record }?.key ?? 0
                let key = keys.first { $0.value == device?.record.recipients.first }?.key ?? 0
                let proven = device?.proven.count == 1 && device?.unproven.isEmpty == true ? key : 0
                let found = [record, key, proven]
                if found != expected || (device == nil) != (record == 0) { return "\(user) has \(found)" }
            }
            return nil
        }

        /// Returns what differs if the record isn't the one with the model's number.
        private mutating func know(_ record: DeviceRecord, _ number: Int, _ key: Int) -> String? {
            guard record.recipients.count == 1 else { return "the record has \(record.recipients.count) keys" }
            guard records[number] ?? record == record else { return "it submits another record" }
            guard keys[key] ?? record.recipients[0] == record.recipients[0] else { return "the record has another key" }
            (records[number], keys[key]) = (record, record.recipients[0])
            former[key] = InMemorySecretItems(items.items())
            return nil
        }

        private static func record(in request: HeldNetwork.Request) throws -> DeviceRecord {
            let body = try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any]
            return try DeviceRecord(parsing: try #require(body?["record"] as? String, "\(request.path)"))
        }

        // MARK: The phone

        private mutating func begin() async {
            let (device, login, now) = (device(Items(items: items)), logins[0], now)
            let client = PushServerClient(url: URL(string: "https://push.example.com")!) { "Bearer \(login)" }
            isSubmitting = true
            await network.run {
                _ = await client.register(device, token: [1, 2], environment: .production, at: now)
            }
        }

        /// Brings the record to the server, and once more if it was refused.
        private mutating func register(_ step: Step) async throws -> String? {
            guard var request = network.held else { return "it submits no record" }
            var answer = try await phones.answer(request)
            if answer.status == 409 {
                try endSubmission()
                await network.end(with: answer)
                guard let next = network.held, next.path == request.path else { return "it doesn't submit again" }
                request = next
                answer = try await phones.answer(request)
            }
            if let difference = know(try Self.record(in: request), step.body, step.signedKey) { return difference }
            guard answer.status == 200 else { return "the server answers \(answer.status)" }
            await network.end(with: step.event == "register" ? answer : nil)
            return nil
        }

        private mutating func endSubmission() throws {
            if let pending { try addKey(pending) }
            (pending, isSubmitting) = (nil, false)
        }

        /// Adds a key, in a process that is killed before it signs a record. The next one finds that a message opened under it.
        private mutating func addKey(_ step: Step) throws {
            let device = device(Items(items: items, maySign: false))
            if stored.keys.contains(where: { $0.life.confirmed == nil }) {
                #expect(throws: DeviceError.self) { try device.maintain(at: now) }
            }
            let before = Set(stored.keys.map(\.recipient))
            #expect(throws: DeviceError.self) { try device.rotate(at: now) }
            let key = try #require(stored.keys.map(\.recipient).first { !before.contains($0) })
            keys[step.ownKey] = key
            let folder = try #require(device.environment.folder(device.configuration.container))
            ConfirmationMarkers(in: folder).mark(key, at: now)
        }

        /// Damages the stored record, so that it must be signed again. Its counter remains.
        private func loseRecord() throws {
            let enrollment = try #require(enrollment)
            let counter = try #require(enrollment.counter)
            try items.replace(
                enrollment.item, attributes: StoredEnrollment.attributes(counter: counter, record: nil))
        }

        /// Restores the keychain from the backup, and gives the phone a new key, or has it sign a new record.
        private mutating func restore(_ step: Step) async throws {
            // The process ends, but not an answer in transit.
            if isSubmitting { await network.loseEverything() }
            for item in items.items() { try items.remove(account: item.account) }
            for item in backup { try items.add(item) }
            // The model also restores a phone that is about to submit its record.
            if isSubmitting { await begin() }
            pending = nil
            if step.ownKey == step.signedKey { try loseRecord() } else { try addKey(step) }
        }

        // MARK: Others

        private func submit(_ record: DeviceRecord, as account: Int) async throws -> [[String: String]] {
            let answer = try await send(
                "PUT", "\(record.enrollment)",
                ["record": record.description, "token": "0102", "environment": "production"], as: account)
            let members = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
            return members?["challenges"] as? [[String: String]] ?? []
        }

        /// Has the phone answer the challenges of its account's record. The model doesn't say when the phone did.
        private func ask(_ step: Step) async throws {
            let record = try #require(records[step.registered[0][0]])
            let device = device(try #require(former[step.registered[0][1]]))
            for challenge in try await submit(record, as: 0) {
                let answer = try device.answer(challenge: challenge["challenge"] ?? "", at: now)
                let taken = try await send(
                    "POST", "\(record.enrollment)/answers", ["answer": answer, "state": challenge["state"] ?? ""], as: 0
                )
                #expect(taken.status == 204)
            }
        }

        private func send(
            _ method: String, _ path: String, _ body: [String: String], as account: Int
        ) async throws -> (status: Int, body: [UInt8]) {
            try await phones.answer(
                method, "/v1/phones/\(path)",
                headers: [("Authorization", "Bearer \(logins[account])"), ("Content-Type", "application/json")],
                body: Array(JSONSerialization.data(withJSONObject: body)))
        }
    }
}
