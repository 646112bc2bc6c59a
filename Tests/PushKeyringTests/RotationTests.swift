import Foundation
import PushKeyring
import PushSender
import SealedPush
import TestSupport
import Testing

@Suite("Rotation in a keyring") struct RotationTests {
    private let folder: TemporaryFolder
    private let day = KeptKeys.day
    private let phone: KeyName = "alice-phone"

    init() throws { folder = try TemporaryFolder() }

    private var keyring: Keyring { Keyring(folder: folder.appending("Keys")) }
    private func states(_ name: KeyName) throws -> [KeyLife.State] {
        try keyring.entry(named: name).keys.map(\.life.state)
    }

    @Test("rotation makes a second key, and no third one before the second is confirmed")
    func unconfirmed() throws {
        let first = try keyring.generateDevice(named: phone, topic: "com.example.app", at: day(0))
        let second = try keyring.rotate(phone, at: day(1))
        #expect(try states(phone) == [.active, .active])
        #expect(throws: KeyringError.unconfirmed(phone)) { try keyring.rotate(phone, at: day(100)) }
        #expect(try keyring.entry(named: phone).keys.map(\.key) == [second, .device(first)])
        let record = try #require(try keyring.entry(named: phone).record)
        #expect(record.counter == UInt64(day(1).secondsSince1970))
        #expect(record.recipients.map { .device($0) } == [second, .device(first)])
        // The owner seals to the newest key. Messages in transit open with either.
        #expect(try keyring.recipient(named: phone, at: day(1)).recipient == record.recipients[0])
        #expect(try keyring.deviceKeys(named: phone).count == 2)

        #expect(try keyring.confirm(phone, at: day(2)) == second)
        #expect(try states(phone) == [.active, .retired])
        #expect(try keyring.entry(named: phone).keys[1].life.retired == day(2))
        #expect(try keyring.entry(named: phone).record?.recipients == [record.recipients[0]])
        #expect(try keyring.entry(named: phone).record?.counter == UInt64(day(2).secondsSince1970))
        #expect(throws: KeyringError.nothingToConfirm(phone)) { try keyring.confirm(phone, at: day(2)) }
        try keyring.rotate(phone, at: day(3))
        #expect(try states(phone) == [.active, .active, .retired])
    }

    @Test("a sender keeps using the old key until the new one is confirmed") func sender() throws {
        let first = try keyring.generateSender(named: "newsroom", at: day(0))
        let second = try keyring.rotate("newsroom", at: day(30))
        #expect(try keyring.senderKey(named: "newsroom").sender == first)
        #expect(try keyring.activeSenders(named: "newsroom").map { .sender($0) } == [second, .sender(first)])
        try keyring.confirm("newsroom", at: day(31))
        #expect(try .sender(keyring.senderKey(named: "newsroom").sender) == second)
        #expect(try keyring.activeSenders(named: "newsroom").map { .sender($0) } == [second])
        let authority = try keyring.generateAuthority(named: "offline")
        #expect(throws: KeyringError.notRotatable("offline")) { try keyring.rotate("offline") }
        #expect(try keyring.entry(named: "offline").key == .authority(authority))
    }

    @Test("rotation by age announces and does only what is due, on the second") func due() throws {
        try keyring.generateDevice(named: phone, topic: "com.example.app", at: day(0))
        try keyring.generateSender(named: "newsroom", at: day(10))
        let month: Int64 = 30 * 86_400
        func steps(_ now: Timestamp, dry: Bool = false) throws -> [String] {
            let planned = try keyring.dueSteps(rotatingOlderThan: month, at: now)
            if dry { return planned.map { "\($0.name) \($0.act)" } }
            let done = try keyring.performDueSteps(rotatingOlderThan: month, at: now)
            #expect(done == planned)
            return done.map { "\($0.name) \($0.act)" }
        }
        #expect(try steps(day(30).advanced(bySeconds: -1)) == [])
        #expect(try steps(day(30), dry: true) == ["alice-phone rotate"])
        #expect(try states(phone) == [.active])
        #expect(try steps(day(30)) == ["alice-phone rotate"])
        #expect(try steps(day(30)) == [])
        #expect(try steps(day(40)) == ["newsroom rotate"])
        // Without confirmation, nothing more happens, however long it takes.
        #expect(try steps(day(300)) == [])
        try keyring.confirm(phone, at: day(41))
        #expect(try steps(day(72).advanced(bySeconds: -1)) == ["alice-phone rotate"])
        #expect(try steps(day(72)) == ["alice-phone erase"])
        #expect(try states(phone) == [.active, .active, .erased])
        #expect(try keyring.deviceKeys(named: phone).count == 2)
        let log = try Checkout.text(folder.appending("Keys/audit.jsonl"))
        #expect(log.contains(#""event":"erased","name":"alice-phone""#))
    }

    @Test("a record is renewed before it expires, and not sooner") func renewal() throws {
        try keyring.generateDevice(named: phone, topic: "com.example.app", at: day(0))
        #expect(try keyring.performDueSteps(rotatingOlderThan: nil, at: day(339)).isEmpty)
        #expect(try keyring.performDueSteps(rotatingOlderThan: nil, at: day(341)).map(\.act) == [.renew])
        let record = try #require(try keyring.entry(named: phone).record)
        #expect(record.counter == UInt64(day(341).secondsSince1970) && record.expires == day(741))
    }

    @Test("a stolen key is revoked at once, removed from the record, and replaced without confirmation")
    func theft() throws {
        let first = try keyring.generateDevice(named: phone, topic: "com.example.app", at: day(0))
        let counter = try #require(try keyring.entry(named: phone).record).counter
        try keyring.revoke(phone, at: day(1))
        #expect(try states(phone) == [.revoked])
        #expect(try keyring.entry(named: phone).record == nil)
        #expect(try keyring.deviceKeys(named: phone).isEmpty)
        #expect(throws: KeyringError.notUsable(phone, .revoked)) { try keyring.recipient(named: phone, at: day(1)) }
        #expect(throws: KeyringError.notUsable(phone, .revoked)) { try keyring.unverifiedRecipient(named: phone) }
        #expect(throws: KeyringError.notUsable(phone, .revoked)) { try keyring.revoke(phone, at: day(1)) }
        let second = try keyring.rotate(phone, at: day(1))
        #expect(try keyring.entry(named: phone).current.life.confirmed == day(1))
        let record = try #require(try keyring.entry(named: phone).record)
        #expect(!record.recipients.contains(first) && record.counter > counter)
        #expect(try .device(keyring.recipient(named: phone, at: day(1)).recipient) == second)
    }

    @Test("a revoked sender can't seal, and a revoked authority can't sign")
    func stolenSecrets() throws {
        let sender = try keyring.generateSender(named: "newsroom", at: day(0))
        try keyring.generateAuthority(named: "editors", at: day(0))
        try keyring.revoke("newsroom", at: day(1))
        try keyring.revoke("editors", at: day(1))
        #expect(throws: KeyringError.notUsable("newsroom", .revoked)) { _ = try keyring.senderKey(named: "newsroom") }
        #expect(throws: KeyringError.notUsable("newsroom", .revoked)) { try keyring.sender(named: "newsroom") }
        #expect(throws: KeyringError.notUsable("editors", .revoked)) {
            try keyring.signSenderSet(
                of: [sender], topic: "com.example.app", by: "editors", lifetime: 86_400, at: day(1))
        }
    }

    @Test("revoking a name covers every key that opens, and revoking by ID covers only that key") func which() throws {
        let first = try keyring.generateDevice(named: phone, at: day(0))
        let second = try keyring.rotate(phone, at: day(1))
        #expect(try keyring.revoke(phone, key: second.keyID, at: day(1)) == [second])
        #expect(try keyring.revoke(phone, at: day(1)) == [.device(first)])
        #expect(throws: KeyringError.notFound(phone)) {
            try keyring.erase(phone, key: DevicePrivateKey().recipient.keyID, at: day(1))
        }
    }

    @Test("an erased key is gone from the folder, and the name stays") func erased() throws {
        let recipient = try keyring.generateDevice(named: phone, at: day(0))
        let secret = try keyring.withSecretText(of: phone) { String(decoding: $0, as: UTF8.self) }
        #expect(try keyring.erase(phone, at: day(1)) == .device(recipient))
        for file in try Checkout.allFiles(in: folder.appending("Keys")) {
            #expect(try !Checkout.text(file).contains(secret.suffix(40)))
        }
        #expect(try states(phone) == [.erased])
        #expect(throws: KeyringError.exists(phone)) { try keyring.generateDevice(named: phone) }
        #expect(throws: KeyringError.noSecret(phone)) { try keyring.withSecretText(of: phone) { $0.count } }
        #expect(throws: KeyringError.notUsable(phone, .erased)) { try keyring.erase(phone) }
        try keyring.add(.device(DevicePrivateKey().recipient), named: "bob", at: day(0))
        try keyring.erase("bob", at: day(1))
        #expect(throws: KeyringError.notFound("bob")) { try keyring.entry(named: "bob") }
    }
}
