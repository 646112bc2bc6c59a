import Foundation
import GRDB
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushOutbox

@Suite("The registry", .overStores) struct RegistryTests {
    private let fixture: Fixture
    private let enrollmentKey = EnrollmentPrivateKey()
    private let identity = DevicePrivateKey()

    init() async throws { fixture = try await Fixture() }

    private func record(
        of recipients: [DevicePublicKey]? = nil, counter: UInt64 = 1, signedBy other: EnrollmentPrivateKey? = nil
    ) throws -> DeviceRecord {
        try fixture.record(of: recipients ?? [identity.recipient], counter: counter, signedBy: other ?? enrollmentKey)
    }

    /// Pins a record's enrollment key; by default, the device's own record.
    private func pinned(_ record: DeviceRecord? = nil) throws -> RegisteredKeys {
        .enrolled(try EnrolledDevice(pinning: record ?? self.record(), topic: Fixture.topic, at: fixture.now))
    }

    private func proven() throws -> RegisteredKeys {
        .enrolled(try EnrolledDevice(loading: enrollmentKey.enrollment, record: record(), proven: [identity.recipient]))
    }

    private static var unverified: RegisteredKeys { .unverified(DevicePrivateKey().recipient) }

    private func device(
        _ keys: RegisteredKeys, named name: DeviceName = "phone", of user: UserName = "anna", token: String = "aa11"
    ) -> RegisteredDevice {
        RegisteredDevice(
            name: name, user: user, topic: Fixture.topic, keys: keys,
            address: .active(.apns(DeviceToken(parsing: token)!), registered: fixture.now))
    }

    private func enroll(token: String = "aa11") async throws {
        try await fixture.outbox.register(device(pinned(), token: token))
    }

    private func prove(_ recipient: DevicePublicKey, by identities: [DevicePrivateKey]) async throws {
        let challenge = PendingChallenge(
            to: recipient, of: enrollmentKey.enrollment, topic: Fixture.topic, from: fixture.sender, at: fixture.now)
        let answer = try Challenge.answer(
            challenge.text, enrollment: enrollmentKey.enrollment, topic: Fixture.topic,
            keys: InMemoryKeyStore(identities.map { DeviceKey($0, created: fixture.now) }),
            trusting: [fixture.sender.sender])
        try await fixture.outbox.prove(challenge, answer: answer, of: "phone", at: fixture.now)
    }

    @Test("status reports when the first valid record expires, and how many expire within 30 days") func expiry()
        async throws
    {
        try await enroll()
        try await fixture.addDevice("unverified")
        let end = fixture.now.advanced(bySeconds: 90 * 86_400)
        for (days, first, count) in [(0, end, 0), (61, end, 1), (30, nil, 0)] as [(Int64, Timestamp?, Int)] {
            fixture.time.advance(by: .seconds(days * 86_400))
            let status = try await fixture.outbox.status()
            #expect(status.firstRecordExpiry == first && status.expiringRecordCount == count, "\(days)")
            #expect(status.deviceCount == 2 && status.reachableDeviceCount == 2)
        }
    }

    @Test("names that look the same but have other bytes are two users, two devices, and two audiences")
    func spellings() async throws {
        let (composed, decomposed) = (UserName(parsing: "Zo\u{eb}")!, UserName(parsing: "Zoe\u{308}")!)
        #expect(composed != decomposed && Set([composed, decomposed]).count == 2)
        try await fixture.addDevice("install-7", user: composed.description)
        await #expect(throws: OutboxError.otherUser("install-7")) {
            try await fixture.addDevice("install-7", user: decomposed.description)
        }
        for user in [composed, decomposed] { try await fixture.addDevice(user.description, user: user.description) }
        try await fixture.enqueue(to: .user(composed), key: "k")
        await #expect(throws: OutboxError.keyUsedForOthers) {
            try await fixture.enqueue(to: .user(decomposed), key: "k")
        }
    }

    @Test("the registry returns devices as they were registered") func roundTrip() async throws {
        let device = try await fixture.addDevice("tablet", environment: .sandbox)
        #expect(try await fixture.outbox.device("tablet") == device)
        try await enroll()
        let phone = try #require(try await fixture.outbox.device("phone"))
        guard case .enrolled(let enrolled) = phone.keys else { throw OutboxError.notEnrolled }
        #expect(enrolled == (try EnrolledDevice(pinning: enrolled.record, topic: Fixture.topic, at: fixture.now)))
        #expect(try await fixture.outbox.device("nobody") == nil)
        #expect(try await fixture.outbox.devices(of: "anna").map(\.name) == ["phone", "tablet"])
        #expect(try await fixture.outbox.devices(limit: 1).map(\.name) == ["phone"])
        #expect(try await fixture.outbox.devices(after: "phone").map(\.name) == ["tablet"])
    }

    @Test("an enrolled device gets pushes once it has proven its key, as long as its record is valid", .withAlerts)
    func enrollment() async throws {
        try await enroll()
        #expect(try await fixture.enqueue(to: .device("phone")).skipped == [.unproven: 1])
        try await prove(identity.recipient, by: [identity])
        #expect(try await fixture.enqueue(to: .device("phone")).enqueuedCount == 1)

        // A rotated key is used once it is proven, too; until then, the old one is used.
        let next = DevicePrivateKey()
        let newer = try record(of: [next.recipient, identity.recipient], counter: 2)
        try await fixture.outbox.accept(newer, of: "phone", at: fixture.now)
        try await fixture.enqueue("old", to: .device("phone"))
        try await prove(next.recipient, by: [next, identity])
        try await fixture.enqueue("new", to: .device("phone"))
        let transport = ScriptedTransport()
        try await fixture.deliver(transport, until: .empty)
        #expect(try fixture.body(of: transport.delivered.all[1], for: identity) == "old")
        #expect(try fixture.body(of: transport.delivered.all[2], for: next) == "new")

        fixture.time.advance(by: .seconds(91 * 86_400))
        #expect(try await fixture.enqueue(to: .device("phone")).skipped == [.recordExpired: 1])
    }

    private func launch(_ record: DeviceRecord, token: String, of name: DeviceName = "phone") async throws
        -> RecordRegistration
    {
        try await fixture.outbox.register(
            record: record, address: .apns(DeviceToken(parsing: token)!), of: name, user: "anna", deviceLimit: 1,
            at: fixture.now)
    }

    @Test("a phone's launch stores its token even if its record is refused, and keeps its proven keys")
    func launches() async throws {
        #expect(try await launch(try record(counter: 5), token: "aa11").device.proven.isEmpty)
        try await prove(identity.recipient, by: [identity])
        let same = try await launch(try record(counter: 5), token: "aa11")
        #expect(same.device.proven == [identity.recipient])

        for (refused, reason, token) in [
            (try record(counter: 4), RecordError.rolledBack, "bb22"),
            (try record(of: [DevicePrivateKey().recipient], counter: 5), .conflicting, "bb11"),
        ] {
            let outcome = try await launch(refused, token: token)
            #expect(outcome.refusal == reason)
            #expect(outcome.device == same.device)
        }
        let device = try #require(try await fixture.outbox.device("phone"))
        #expect(device.keys == .enrolled(same.device))
        #expect(device.address.address == .apns(DeviceToken(parsing: "bb11")!))

        let next = DevicePrivateKey()
        let newer = try await launch(try record(of: [next.recipient], counter: 6), token: "bb11")
        #expect(newer.dropped == [identity.recipient])
        #expect(newer.device.unproven == [next.recipient])
        await #expect(throws: OutboxError.tooManyDevices(limit: 1)) {
            try await launch(try record(), token: "cc33", of: "tablet")
        }
        #expect(try await fixture.outbox.devices(of: "anna").map(\.name) == ["phone"])
    }

    @Test("a device that also lists a key of a later algorithm enrolls, rotates, and gets messages", .withAlerts)
    func laterAlgorithm() async throws {
        let first = try record().adding([UInt8](repeating: 7, count: 1_568), signedBy: enrollmentKey)
        #expect(try await launch(first, token: "aa11").device.unproven == [identity.recipient])
        #expect(try await fixture.enqueue(to: .device("phone")).skipped == [.unproven: 1])
        try await prove(identity.recipient, by: [identity])
        try await fixture.enqueue("old", to: .device("phone"))

        let next = DevicePrivateKey()
        let plain = try record(of: [next.recipient, identity.recipient], counter: 2)
        let second = try plain.adding([8], isNewest: false, signedBy: enrollmentKey)
        let rotated = try await launch(second, token: "aa11")
        #expect(rotated.refusal == nil && rotated.dropped.isEmpty && rotated.device.proven == [identity.recipient])
        try await prove(next.recipient, by: [next, identity])
        try await fixture.enqueue("new", to: .device("phone"))
        let transport = ScriptedTransport()
        try await fixture.deliver(transport, until: .empty)
        #expect(try fixture.body(of: transport.delivered.all[0], for: identity) == "old")
        #expect(try fixture.body(of: transport.delivered.all[1], for: next) == "new")

        // It is kept and compared as the same bytes.
        let keys = try await fixture.outbox.device("phone")?.keys
        guard case .enrolled(let enrolled)? = keys else { throw OutboxError.notEnrolled }
        #expect(enrolled.record.description == second.description)
        #expect(try await launch(second, token: "aa11").refusal == nil)
        for other in [plain, try plain.adding([9], isNewest: false, signedBy: enrollmentKey)] {
            #expect(try await launch(other, token: "aa11").refusal == .conflicting)
        }
    }

    @Test("a hybrid device's proof is stored, beside that of a classical key") func hybridProof() async throws {
        let hybrid = DevicePrivateKey(.hybrid)
        _ = try await launch(try record(of: [hybrid.recipient, identity.recipient]), token: "aa11")
        for key in [hybrid, identity] { try await prove(key.recipient, by: [hybrid, identity]) }
        let keys = try await fixture.outbox.device("phone")?.keys
        guard case .enrolled(let enrolled)? = keys else { throw OutboxError.notEnrolled }
        #expect(enrolled.proven == [hybrid.recipient, identity.recipient])
    }

    @Test("older records and wrong answers are refused") func refusals() async throws {
        try await enroll()
        try await fixture.outbox.accept(try record(counter: 5), of: "phone", at: fixture.now)
        await #expect(throws: OutboxError.record(.rolledBack)) {
            try await fixture.outbox.accept(try record(counter: 4), of: "phone", at: fixture.now)
        }
        let challenge = PendingChallenge(
            to: identity.recipient, of: enrollmentKey.enrollment, topic: Fixture.topic, from: fixture.sender,
            at: fixture.now)
        await #expect(throws: OutboxError.challenge(.malformed)) {
            try await fixture.outbox.prove(challenge, answer: "no", of: "phone", at: fixture.now)
        }
        await #expect(throws: OutboxError.unknownDevice) {
            try await fixture.outbox.accept(try record(), of: "nobody", at: fixture.now)
        }
        try await fixture.addDevice("tablet")
        await #expect(throws: OutboxError.notEnrolled) {
            try await fixture.outbox.accept(try record(), of: "tablet", at: fixture.now)
        }
    }

    @Test("an unverified device gets pushes only if the caller includes such devices") func unverified() async throws {
        try await fixture.addDevice("phone")
        let report = try await fixture.outbox.enqueue(
            OutgoingMessage(Content(body: "Hello")), to: .everyone, from: fixture.sealer)
        #expect(report.skipped == [.unverified: 1])
        #expect(report.enqueuedCount == 0)
    }

    @Test("a token belongs to one device: its earlier holder loses it and its waiting pushes")
    func movedToken() async throws {
        let token = Fixture.address("shared")
        try await fixture.addDevice("old", user: "anna", address: token)
        try await fixture.enqueue("for anna", to: .user("anna"))
        let change = try await fixture.outbox.register(
            device(Self.unverified, named: "new", of: "berta", token: token.hexadecimal))
        #expect(change.isNew && change.discardedCount == 1 && change.addressTakenFrom == "old")
        #expect(try await fixture.outbox.device("old")?.address == AddressState.none(.apns(), reason: "moved"))
        #expect(try await fixture.deliver(until: .empty).attemptCount == 0)
    }

    @Test("pushes that wait for a user are not shown to the next user on the same device") func otherUser() async throws
    {
        try await fixture.addDevice("phone", user: "anna")
        try await fixture.enqueue("for anna", to: .user("anna"))
        try await fixture.addDevice("phone", user: "berta", movingFrom: "anna")
        #expect(try await fixture.outbox.status().waitingCount == 0)
        await #expect(throws: OutboxError.unknownUser) { try await fixture.enqueue("x", to: .user("anna")) }
    }

    @Test(
        "another user's device is taken over only if the previous user is named; otherwise, nothing changes",
        .withAlerts)
    func anothersDevice() async throws {
        try await fixture.addDevice("phone", user: "anna", identity: identity)
        try await fixture.enqueue("for anna", to: .user("anna"))
        let before = try await fixture.outbox.device("phone")
        for previous: UserName? in [nil, "mallory", "carla"] {
            await #expect(throws: OutboxError.otherUser("phone")) {
                try await fixture.addDevice("phone", user: "mallory", movingFrom: previous)
            }
        }
        // In a batch, no device is registered.
        let others = ["tablet", "phone"].map { device(Self.unverified, named: $0, of: "mallory", token: "bb22") }
        await #expect(throws: OutboxError.otherUser("phone")) { try await fixture.outbox.register(others) }
        #expect(try await fixture.outbox.devices().map(\.name) == ["phone"])
        #expect(try await fixture.outbox.device("phone") == before)
        let transport = ScriptedTransport()
        try await fixture.deliver(transport, until: .empty)
        #expect(try transport.delivered.all.map { try fixture.body(of: $0, for: identity) } == ["for anna"])
        let changes = try await fixture.outbox.register(others, movingFrom: ["phone": "anna"])
        #expect(changes.map(\.isNew) == [true, false])
        // Repeating it, as after a lost response, does no harm.
        #expect(try await fixture.outbox.register(others, movingFrom: ["phone": "anna"]).allSatisfy { !$0.isNew })
    }

    @Test("a pinned enrollment key is never replaced or removed; a device that changes users brings its own key")
    func otherPins() async throws {
        try await enroll()
        let before = try await fixture.outbox.device("phone")
        let other = try pinned(record(of: [DevicePrivateKey().recipient], counter: 9, signedBy: EnrollmentPrivateKey()))
        for keys in [other, Self.unverified] {
            for previous: UserName? in [nil, "anna"] {
                await #expect(throws: OutboxError.otherEnrollment("phone")) {
                    try await fixture.outbox.register(device(keys), movingFrom: previous)
                }
            }
        }
        #expect(try await fixture.outbox.device("phone") == before)
        // The same key with a newer token is not a change.
        try await enroll(token: "bb22")
        try await fixture.outbox.register(device(other, of: "berta"), movingFrom: "anna")
        try await fixture.outbox.remove("phone")
        try await fixture.outbox.register(device(other))
        #expect(try await fixture.outbox.devices(of: "anna").count == 1)
    }

    /// A record is public, so being first to submit it proves nothing.
    @Test("an enrollment key belongs to the device that answered a challenge, whoever submitted its record first")
    func anothersRecord() async throws {
        try await fixture.outbox.register(device(pinned(), named: "mallorys-phone", of: "mallory", token: "bb22"))
        try await enroll()
        #expect(try await fixture.outbox.devices().count == 2)
        try await prove(identity.recipient, by: [identity])
        #expect(try await fixture.outbox.devices().map(\.name) == ["phone"])
        let before = try await fixture.outbox.device("phone")
        // She tries again, also with the proof from a copy of the database, and with the phone's token.
        for (keys, token) in [(try pinned(), "bb22"), (try proven(), "aa11")] {
            await #expect(throws: OutboxError.enrolledElsewhere("mallorys-phone")) {
                try await fixture.outbox.register(device(keys, named: "mallorys-phone", of: "mallory", token: token))
            }
        }
        #expect(try await fixture.outbox.devices().map(\.name) == ["phone"])
        #expect(try await fixture.outbox.device("phone") == before)
    }

    @Test("discarded pushes are counted if a device that had only pinned the key is removed", .inDatabases)
    func discardedWithPin() async throws {
        try await enroll()
        try await prove(identity.recipient, by: [identity])
        try await fixture.enqueue(to: .device("phone"))
        try await fixture.execute("UPDATE enrollments SET proven = ''")
        let change = try await fixture.outbox.register(device(proven(), named: "new-phone", of: "berta", token: "bb22"))
        #expect(change.discardedCount == 1)
        #expect(try await fixture.outbox.devices().map(\.name) == ["new-phone"])
    }

    @Test("a user can have an enrollment key under two names, and it moves with the phone")
    func ownRecord() async throws {
        try await enroll()
        try await prove(identity.recipient, by: [identity])
        try await fixture.outbox.register(device(pinned(), named: "phone-2", token: "cc33"))
        #expect(try await fixture.outbox.remove("phone-2") == 0)
        try await fixture.outbox.register(device(pinned(), of: "berta"), movingFrom: "anna")
        #expect(try await fixture.outbox.devices(of: "berta").map(\.name) == ["phone"])
    }

    @Test("pushes for a device whose token is removed are kept as dead letters") func noToken() async throws {
        var device = try await fixture.addPhone(waiting: 2)
        device.address = .none(.apns(), reason: nil)
        try await fixture.outbox.register(device)
        try await fixture.addDevice("tablet")
        try await fixture.enqueue(to: .device("tablet"))
        #expect(try await fixture.deliver(until: .empty).acceptedCount == 1)
        #expect(try await fixture.outbox.status().deadLetters == ["no-token": 2])
        #expect(try await fixture.outbox.retry() == 0)
        try await fixture.outbox.setAddress(Fixture.address("new"), of: "phone", at: fixture.now)
        #expect(try await fixture.outbox.retry() == 2)
        #expect(try await fixture.deliver(until: .empty).acceptedCount == 2)
    }

    @Test("pushes for a device that is registered with a refused token are not sent, and kept as dead letters")
    func refusedToken() async throws {
        var device = try await fixture.addPhone()
        device.address = .disabled(Fixture.address("phone"), registered: fixture.now, reason: "BadDeviceToken")
        try await fixture.outbox.register(device)
        let transport = ScriptedTransport()
        try await fixture.deliver(transport, until: .empty)
        #expect(transport.delivered.all.isEmpty)
        #expect(try await fixture.outbox.status().deadLetters == ["BadDeviceToken": 1])
        #expect(try await fixture.outbox.retry(reason: "BadDeviceToken") == 1)
        #expect(try await fixture.deliver(transport, until: .empty).acceptedCount == 1)
    }

    @Test("a removed device is gone, along with its waiting pushes") func removed() async throws {
        try await fixture.addPhone(waiting: 2)
        #expect(try await fixture.outbox.remove("phone") == 2)
        await #expect(throws: OutboxError.unknownDevice) { try await fixture.outbox.remove("phone") }
        #expect(try await fixture.outbox.status().deviceCount == 0)
        #expect(try await fixture.outbox.status().nextDue == nil)
    }

    @Test("a device is not removed if it has enrolled again, or changed users, since it was looked up", .inFile)
    func changedBeforeRemoval() async throws {
        try await enroll()
        let newer = try record(counter: 9)
        try await fixture.outbox.leave(Leaving(counter: 10, topic: "other.app", signedBy: enrollmentKey))
        let leaving = Leaving(counter: 5, topic: Fixture.topic, signedBy: enrollmentKey)
        // With a key, a row that another process changes is forged.
        guard Fixture.key == nil else { return }
        try await whileChanging("UPDATE enrollments SET record = '\(newer)'") { try await $0.leave(leaving) }
        #expect(try await fixture.outbox.devices().map(\.name) == ["phone"])
        try await whileChanging("UPDATE devices SET user = 'berta'") {
            _ = try await $0.erase("anna", topic: Fixture.topic, receipts: { _ in [] })
        }
        #expect(try await fixture.outbox.devices(of: "berta").map(\.name) == ["phone"])
        try await fixture.outbox.leave(Leaving(counter: 10, topic: Fixture.topic, signedBy: enrollmentKey))
        #expect(try await fixture.outbox.devices().isEmpty)
    }

    @Test("a leaving removes the key's devices of its own app only") func leavesOneApp() async throws {
        let key = EnrollmentPrivateKey()
        for topic in [Fixture.topic, "com.example.other"] {
            let record = try DeviceRecord(
                of: [DevicePrivateKey().recipient], topic: topic, counter: 1, created: fixture.now,
                expires: fixture.now.advanced(bySeconds: 90 * 86_400), signedBy: key)
            try await fixture.outbox.register(
                RegisteredDevice(
                    name: DeviceName(parsing: topic.description)!, user: "anna", topic: topic,
                    keys: .enrolled(try EnrolledDevice(pinning: record, topic: topic, at: fixture.now)),
                    address: .none(.apns(), reason: nil)))
        }
        let leaving = try Leaving(
            parsing: Leaving(counter: 5, topic: Fixture.topic, signedBy: key).description, topic: Fixture.topic)
        try await fixture.outbox.leave(leaving)
        #expect(try await fixture.outbox.devices().map(\.topic) == ["com.example.other"])
    }

    @Test("a refused push whose number a waiting one has stays, and the others are requeued", .inDatabases)
    func sameNumber()
        async throws
    {
        try await fixture.addPhone(waiting: 2)
        try await fixture.addDevice("other")
        try await fixture.deliver(ScriptedTransport(refusing: 400, "PayloadEmpty"))
        try await fixture.enqueue("new", to: .device("other"))
        try await fixture.execute(
            """
            UPDATE dead_letters SET id = (SELECT MIN(id) FROM entries)
            WHERE id = (SELECT MIN(id) FROM dead_letters)
            """)
        #expect(try await fixture.outbox.retry() == 1)
        let status = try await fixture.outbox.status()
        #expect(status.waitingCount == 2 && status.deadLetters == ["PayloadEmpty": 1])
        #expect(try await fixture.deliver(until: .empty).acceptedCount == 2)
        #expect(try await fixture.outbox.retry() == 1)
    }

    /// Calls `body` while another process holds a change that `body` can't see yet, and commits it when `body` has had time to
    /// look and waits to write. A body that looks later sees the change, and must do the same.
    private func whileChanging(_ sql: String, _ body: @escaping @Sendable (Outbox) async throws -> Void) async throws {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: fixture.path, configuration: configuration)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE; \(sql)") }
        let outbox = fixture.outbox
        let call = Task { try await body(outbox) }
        try await Task.sleep(for: .milliseconds(100))
        try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        try await call.value
    }

    @Test("names have a visible character and no control characters, and aren't dot segments of a path") func names() {
        for text in ["", " ", "a\u{0}b", "a\nb", String(repeating: "x", count: 129), "\u{1b}[2J", ".", ".."] {
            #expect(DeviceName(parsing: text) == nil)
            #expect(UserName(parsing: text) == nil)
        }
        for text in [String(repeating: "x", count: 128), "...", ".a", "a..", "./", "%2e", "\u{2024}"] {
            #expect(DeviceName(parsing: text)?.description == text)
            #expect(UserName(parsing: text)?.description == text)
        }
    }

    @Test("a tampered device row affects only that device: listings skip it, and it can be removed", .inDatabases)
    func spoiled() async throws {
        for name in ["anna", "ben", "cleo", "dora"] { try await fixture.addDevice(name) }
        try await fixture.executeUnchecked(
            "UPDATE devices SET topic = '', recipient = NULL WHERE name IN ('anna', 'cleo')")
        #expect(try await fixture.outbox.devices().map(\.name) == ["ben", "dora"])
        #expect(try await fixture.outbox.devices(limit: 1).map(\.name) == ["ben"])
        #expect(try await fixture.outbox.devices(after: "ben", limit: 1).map(\.name) == ["dora"])
        #expect(try await fixture.outbox.devices(of: "anna").map(\.name) == ["ben", "dora"])
        #expect(try await fixture.outbox.unusableDevices().map(\.name) == ["anna", "cleo"])
        await #expect(throws: OutboxError.damagedDevice("anna")) { try await fixture.outbox.device("anna") }
        for name in ["anna", "cleo"] { try await fixture.outbox.remove(DeviceName(parsing: name)!) }
        #expect(try await fixture.outbox.unusableDevices().isEmpty)
        try await fixture.addDevice("anna")
        #expect(try await fixture.outbox.devices().map(\.name) == ["anna", "ben", "dora"])
    }
}
