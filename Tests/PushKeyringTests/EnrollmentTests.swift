import Foundation
import PushKeyring
import PushSender
import SealedPush
import TestSupport
import Testing

/// A server's keyring and a phone's, as used within an app's login.
@Suite("Enrolling devices") struct EnrollmentTests {
    private let folder: TemporaryFolder
    private let start = KeptKeys.start
    private let day = KeptKeys.day
    private let phone: KeyName = "alice-phone"
    private let newsroom: KeyName = "newsroom"
    private let topic: Topic = "com.example.app"

    init() throws {
        folder = try TemporaryFolder()
        try server.generateSender(named: newsroom, at: start)
        try device.generateDevice(named: phone, topic: topic, at: start)
        try device.trust(.sender(server.sender(named: newsroom)), for: topic, at: start)
        try server.add(record, named: phone, at: start)
    }

    private var server: Keyring { Keyring(folder: folder.appending("Server")) }
    private var device: Keyring { Keyring(folder: folder.appending("Phone")) }
    private var record: DeviceRecord { get throws { try #require(try device.entry(named: phone).record) } }

    /// Sends the server's challenge, and returns the device's answer.
    private func answer(at now: Timestamp) throws -> (challenge: String, answer: String) {
        let challenge = try server.challenge(phone, from: newsroom, at: now).text
        let senders = try device.trustList().senders(for: topic, at: now)
        return (challenge, try device.answer(challenge, for: phone, trusting: senders))
    }

    private func prove(at now: Timestamp) throws {
        _ = try server.acceptAnswer(answer(at: now).answer, of: phone, at: now)
    }

    @Test("messages are sealed to a device once it has answered a challenge, and then to its newest proven key")
    func lifecycle() throws {
        #expect(throws: KeyringError.record(.unproven)) { try server.recipient(named: phone, at: start) }
        try device.generateSender(named: "own", at: start)
        #expect(throws: KeyringError.ownDevice(phone)) { try device.challenge(phone, from: "own", at: start) }
        try prove(at: start)
        let first = try server.recipient(named: phone, at: start).recipient
        #expect(try .device(first) == device.entry(named: phone).key)
        #expect(throws: KeyringError.nothingToConfirm(phone)) { try server.challenge(phone, from: newsroom, at: start) }

        // The new key isn't used before the device has answered, and the old key stays valid.
        let second = try device.rotate(phone, at: day(30))
        try server.add(record, named: phone, at: day(30))
        #expect(try server.recipient(named: phone, at: day(30)).recipient == first)
        try prove(at: day(30))
        #expect(try .device(server.recipient(named: phone, at: day(30)).recipient) == second)
        try device.confirm(phone, at: day(31))
        try server.add(record, named: phone, at: day(31))
        #expect(try server.entry(named: phone).keys.map(\.key) == [second])
        #expect(throws: KeyringError.record(.expired)) { try server.recipient(named: phone, at: day(500)) }
    }

    @Test("a device that is enrolled under one name can't be enrolled under another, even with its record")
    func otherAccount() throws {
        try prove(at: start)
        let before = try server.entry(named: phone)
        #expect(throws: KeyringError.enrolled(phone)) { try server.add(record, named: "mallory-phone", at: start) }
        _ = try device.rotate(phone, at: day(1))
        #expect(throws: KeyringError.enrolled(phone)) { try server.add(record, named: "mallory-phone", at: day(1)) }
        #expect(throws: KeyringError.notFound("mallory-phone")) { try server.entry(named: "mallory-phone") }
        #expect(try server.entry(named: phone) == before)
        // The owner renames it, and then submits records under the new name.
        try server.erase(phone, at: day(1))
        try server.add(record, named: "alice-old-phone", at: day(1))
    }

    @Test("a foreign, older, expired, or other app's record has no effect on keys") func refused() throws {
        let old = try record
        try prove(at: start)
        try device.rotate(phone, at: day(1))
        let new = try record
        try server.add(new, named: phone, at: day(1))
        let before = try server.entry(named: phone)
        let thief = EnrollmentPrivateKey()
        func forged(_ topic: Topic, _ counter: UInt64, by key: EnrollmentPrivateKey, expires: Timestamp) throws
            -> DeviceRecord
        {
            try DeviceRecord(
                of: [DevicePrivateKey().recipient], topic: topic, counter: counter, created: start, expires: expires,
                signedBy: key)
        }
        #expect(throws: KeyringError.record(.rolledBack)) { try server.add(old, named: phone, at: day(1)) }
        for (record, reason) in [
            (try forged(topic, 99, by: thief, expires: day(400)), RecordError.foreignSigner),
            (try forged("com.example.other", 99, by: thief, expires: day(400)), .foreignSigner),
        ] {
            #expect(throws: KeyringError.record(reason)) { try server.add(record, named: phone, at: day(1)) }
        }
        #expect(throws: KeyringError.record(.expired)) {
            try server.add(forged(topic, 1, by: thief, expires: day(1)), named: "new", at: day(2))
        }
        #expect(try server.entry(named: phone) == before)
        // A name that isn't a device with a record accepts none.
        #expect(throws: KeyringError.exists(newsroom)) { try server.add(new, named: newsroom, at: day(1)) }
        #expect(throws: KeyringError.exists(phone)) { try device.add(new, named: phone, at: day(1)) }
        try server.add(.device(DevicePrivateKey().recipient), named: "bare", at: start)
        #expect(throws: KeyringError.unverified("bare")) { try server.add(new, named: "bare", at: day(1)) }
    }

    @Test("a revoked key stays revoked, whatever later records contain") func revoked() throws {
        try prove(at: start)
        let stolen = try server.recipient(named: phone, at: start).recipient
        try device.rotate(phone, at: day(1))
        try server.add(record, named: phone, at: day(1))
        try server.revoke(phone, key: stolen.keyID, at: day(1))
        #expect(throws: KeyringError.self) { try server.recipient(named: phone, at: day(1)) }
        try prove(at: day(1))
        #expect(try server.recipient(named: phone, at: day(1)).recipient != stolen)
        try device.confirm(phone, at: day(2))
        try server.add(record, named: phone, at: day(2))
        #expect(try server.entry(named: phone).keys.map(\.life.state) == [.active, .revoked])
    }

    @Test("a stolen device gets no more records, as a thief may have its enrollment key") func stolen() throws {
        try device.rotate(phone, at: day(1))
        try server.add(record, named: phone, at: day(1))
        #expect(try server.revoke(phone, at: day(2)).count == 2)
        #expect(throws: KeyringError.notUsable(phone, .revoked)) { try server.revoke(phone, at: day(2)) }
        try device.confirm(phone, at: day(2))
        #expect(throws: KeyringError.notUsable(phone, .revoked)) {
            try server.add(record, named: phone, at: day(2))
        }
        #expect(throws: KeyringError.nothingToConfirm(phone)) {
            try server.challenge(phone, from: newsroom, at: day(2))
        }
        try server.erase(phone, at: day(3))
        try server.add(record, named: phone, at: day(3))
    }

    @Test("an answer that comes after the key was revoked doesn't prove anything") func revokedMeanwhile() throws {
        let answer = try answer(at: start).answer
        try server.revoke(phone, at: start)
        #expect(throws: KeyringError.notUsable(phone, .revoked)) {
            try server.acceptAnswer(answer, of: phone, at: start)
        }
        #expect(throws: KeyringError.self) { try server.recipient(named: phone, at: start) }
    }

    @Test("a wrong, late, or repeated answer doesn't prove anything, and a device answers only for its own enrollment")
    func answers() throws {
        let (challenge, answer) = try answer(at: start)
        #expect(throws: KeyringError.challenge(.late)) {
            try server.acceptAnswer(answer, of: phone, at: start.advanced(bySeconds: 601))
        }
        #expect(throws: KeyringError.challenge(.malformed)) { try server.acceptAnswer("x", of: phone, at: start) }
        #expect(throws: KeyringError.challenge(.unknownSender)) {
            try device.answer(challenge, for: phone, trusting: [SenderPrivateKey().sender])
        }
        // Mallory enrolls Alice's key and forwards the challenge to Alice, who doesn't answer it.
        let mallory = EnrollmentPrivateKey()
        let stolen = try DeviceRecord(
            of: record.recipients, topic: topic, counter: 1, created: start, expires: day(100), signedBy: mallory)
        try server.add(stolen, named: "mallory", at: start)
        let passedOn = try server.challenge("mallory", from: newsroom, at: start)
        #expect(throws: KeyringError.challenge(.foreignEnrollment)) {
            try device.answer(passedOn.text, for: phone, trusting: [server.sender(named: newsroom)])
        }
        #expect(throws: KeyringError.challenge(.wrongAnswer)) {
            try server.acceptAnswer(answer, of: "mallory", at: start)
        }
        _ = try server.acceptAnswer(answer, of: phone, at: start)
        #expect(throws: KeyringError.nothingToConfirm(phone)) {
            try server.acceptAnswer(answer, of: phone, at: start)
        }
    }

    @Test("sender sets replace listed senders, and neither rollback, foreign sets, nor expiry brings a sender back")
    func senderSets() throws {
        let authority = try server.generateAuthority(named: "offline", at: start)
        let listed = try server.sender(named: newsroom)
        let set = { (now: Timestamp) in
            try server.signSenderSet(
                of: server.activeSenders(named: newsroom), topic: topic, by: "offline", lifetime: 100 * 86_400, at: now)
        }
        let first = try set(start)
        #expect(throws: KeyringError.record(.foreignSigner)) {
            try device.trust(.senderSet(first), for: topic, at: start)
        }
        try device.trust(.authority(authority), for: topic, at: start)
        #expect(try device.trustList().senders(for: topic, at: start) == [listed])
        #expect(try device.trust(.senderSet(first), for: topic, at: start))
        #expect(try !device.trust(.senderSet(first), for: topic, at: start))

        try server.rotate(newsroom, at: day(10))
        let second = try set(day(10))
        #expect(second.counter > first.counter && second.senders.count == 2)
        try device.trust(.senderSet(second), for: topic, at: day(10))
        #expect(try device.trustList().senders(for: topic, at: day(10)) == second.senders)
        #expect(throws: KeyringError.record(.rolledBack)) {
            try device.trust(.senderSet(first), for: topic, at: day(10))
        }
        try device.trust(.authority(authority), for: "com.example.other", at: start)
        #expect(throws: KeyringError.record(.otherTopic)) {
            try device.trust(.senderSet(second), for: "com.example.other", at: day(10))
        }
        // Expired: not even the listed sender is trusted. Otherwise, withholding sets could bring back an old key.
        #expect(try device.trustList().senders(for: topic, at: day(200)) == [])
        #expect(try device.trustList().senderSet(for: topic) == second)
        #expect(try device.trustList().senderSet(for: "com.example.other") == nil)
        // Unpinning the authority restores the list.
        try device.distrust(.authority(authority), for: topic, at: day(200))
        #expect(try device.trustList().senders(for: topic, at: day(200)) == [listed])
        try device.distrust(.sender(listed), for: topic, at: day(200))
        #expect(try device.trustList().entries.map(\.topic) == ["com.example.other"])
        #expect(try !device.distrust(.sender(listed), for: topic, at: day(200)))
    }

    @Test("if one of two authorities is unpinned, the other one's newest set counts again, not the listed senders")
    func unpinnedAuthority() throws {
        let names: [KeyName] = ["offline", "spare"]
        let authorities = try names.map { try server.generateAuthority(named: $0, at: start) }
        for authority in authorities { try device.trust(.authority(authority), for: topic, at: start) }
        let newcomer = SenderPrivateKey().sender
        func set(_ name: KeyName, _ now: Timestamp) throws -> SenderSet {
            try server.signSenderSet(of: [newcomer], topic: topic, by: name, lifetime: 100 * 86_400, at: now)
        }
        let (earliest, first) = (try set("offline", start), try set("offline", day(1)))
        try device.trust(.senderSet(first), for: topic, at: day(1))
        for time in [day(2), day(3)] { try device.trust(.senderSet(set("spare", time)), for: topic, at: time) }
        #expect(throws: KeyringError.record(.rolledBack)) {
            try device.trust(.senderSet(first), for: topic, at: day(3))
        }
        let sets = try device.trustList().entries.filter { if case .senderSet = $0.trusted { true } else { false } }
        #expect(sets.count == 2)
        // Only the set that counts is worth a finding.
        #expect(try device.examine(at: day(90)).filter { $0.code == "sender-set-expires" }.count == 1)
        try device.distrust(.authority(authorities[1]), for: topic, at: day(4))
        #expect(try device.trustList().senderSet(for: topic) == first)
        #expect(try device.trustList().senders(for: topic, at: day(4)) == [newcomer])
        #expect(throws: KeyringError.record(.rolledBack)) {
            try device.trust(.senderSet(earliest), for: topic, at: day(4))
        }
    }
}
