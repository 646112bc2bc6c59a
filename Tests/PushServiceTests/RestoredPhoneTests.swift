import Foundation
import PushCore
import PushSender
import PushServiceTesting
import SealedPush
import TestSupport
import Testing

@testable import PushService

/// An encrypted backup restores a phone's keychain on the same phone, without the ledger. The phone then doesn't know what
/// the server has learned since the backup.
@Suite("A phone that was restored from its own backup") struct RestoredPhoneTests {
    private let phone: Phone
    private let day: Int64 = 86_400

    init() throws { phone = try Phone() }

    private func later(_ days: Int64) -> Timestamp { Phone.start.advanced(bySeconds: days * day) }

    /// Enrolls, is backed up, rotates three times, and is restored on day 10; the server knows all rotations but the last.
    private func restored() throws -> EnrolledDevice {
        var server = try EnrolledDevice(
            pinning: try phone.device.enroll(at: later(0)), topic: Phone.topic, at: later(0))
        let items = phone.memory
        let backup = items.items()
        for number in 1...3 as ClosedRange<Int64> {
            try server.accept(try phone.device.rotate(at: later(2 * number)), at: later(2 * number))
            phone.markers.mark(server.record.recipients[0], at: later(2 * number))
            try server.accept(try phone.device.maintain(at: later(2 * number + 1)).record, at: later(2 * number + 1))
        }
        for item in items.items() { try items.remove(account: item.account) }
        for item in backup { try items.add(item) }
        try FileManager.default.removeItem(at: phone.folder.appending("SealedPush"))
        return server
    }

    /// The server accepts the record, the device proves its newest key, and messages sealed to that key open.
    private func take(_ record: DeviceRecord, _ server: inout EnrolledDevice, at now: Timestamp) throws {
        try server.accept(record, at: now)
        let recipient = record.recipients[0]
        let challenge = PendingChallenge(
            to: recipient, of: server.enrollment, topic: Phone.topic, from: phone.sender, at: now)
        try server.prove(challenge, answer: phone.device.answer(challenge: challenge.text, at: now), at: now)
        #expect(try server.recipient(at: now).recipient == recipient)
        _ = try phone.open(try phone.seal(to: recipient, sent: now), at: now)
    }

    @Test("A restored phone enrolls again at its next launch, then rotates and revokes as usual") func launch() throws {
        var server = try restored()
        let done = try phone.device.maintain(at: later(10))
        #expect(done.rotated == done.record.recipients[0])
        try take(done.record, &server, at: later(10))
        #expect(try phone.device.maintain(at: later(11)).record == done.record)
        phone.markers.mark(done.record.recipients[0], at: later(11))
        try take(try phone.device.maintain(at: later(12)).record, &server, at: later(12))
        try take(try phone.device.rotate(at: later(13)), &server, at: later(13))
        try take(try phone.device.revoke(at: later(14)), &server, at: later(14))
    }

    @Test("A restored phone can rotate or revoke before its keys are maintained", arguments: [false, true])
    func atOnce(revokes: Bool) throws {
        var server = try restored()
        let record = try revokes ? phone.device.revoke(at: later(10)) : phone.device.rotate(at: later(10))
        try take(record, &server, at: later(10))
    }

    @Test("If a key is already waiting, a restored phone signs a new record but makes no key")
    func waitingKey() throws {
        var server = try EnrolledDevice(
            pinning: try phone.device.enroll(at: later(0)), topic: Phone.topic, at: later(0))
        let waiting = try phone.device.rotate(at: later(1))
        try server.accept(waiting, at: later(1))
        try FileManager.default.removeItem(at: phone.folder.appending("SealedPush"))
        let done = try phone.device.maintain(at: later(2))
        #expect(done.rotated == nil)
        #expect(done.record.recipients == waiting.recipients)
        try take(done.record, &server, at: later(2))
    }

    @Test("Even if its clock is behind, its new record counts higher than the one that the server shows")
    func clockBehind() throws {
        var server = try restored()
        let behind = later(-20)
        let refused = try phone.device.maintain(at: behind).record
        #expect(throws: RecordError.rolledBack) { try server.accept(refused, at: later(10)) }
        let known = server.record
        let signed = try phone.device.maintain(serverKnows: known, at: behind).record
        #expect(signed.counter == known.counter + 1)
        try take(signed, &server, at: later(10))
        // For that same record, and for an older one, no new record is signed.
        for shown in [signed, known] {
            #expect(try phone.device.maintain(serverKnows: shown, at: behind).record == signed)
        }
        try take(try phone.device.revoke(at: behind), &server, at: later(10))
    }

    @Test("A record that shares only its number with the server's doesn't match it") func conflicting() throws {
        let record = try phone.device.enroll(at: later(0))
        let twin = try phone.twin(of: record)
        #expect(try phone.device.maintain(serverKnows: record, at: later(0)).record == record)
        let above = try phone.device.maintain(serverKnows: twin, at: later(0)).record
        #expect(above.counter == record.counter + 1)
        #expect(try phone.device.maintain(serverKnows: twin, at: later(0)).record == above)
    }

    @Test("A server can't raise the counter by itself, because the record must be the device's own, for this app")
    func hostileServer() throws {
        let record = try phone.device.enroll(at: later(0))
        func forged(_ topic: Topic, _ key: EnrollmentPrivateKey) throws -> DeviceRecord {
            try DeviceRecord(
                of: record.recipients, topic: topic, counter: RecordCounter.maximum, created: later(0),
                expires: later(9), signedBy: key)
        }
        #expect(throws: DeviceError.record(.foreignSigner)) {
            try phone.device.maintain(serverKnows: try forged(Phone.topic, EnrollmentPrivateKey()), at: later(1))
        }
        let own = try phone.enrollmentKey
        #expect(throws: DeviceError.record(.otherTopic)) {
            try phone.device.maintain(serverKnows: try forged("com.example.other", own), at: later(1))
        }
        #expect(try phone.device.maintain(at: later(1)).record == record)
    }

    @Test("After the highest counter, a device signs no other record, destroys stolen keys, and can still leave")
    func highestCounter() throws {
        _ = try phone.device.enroll(at: later(0))
        func stolen(_ counter: UInt64) throws -> DeviceRecord {
            try DeviceRecord(
                of: [DevicePrivateKey().recipient], topic: Phone.topic, counter: counter, created: later(0),
                expires: later(9), signedBy: phone.enrollmentKey)
        }
        let highest = RecordCounter.maximum
        let last = try phone.device.maintain(serverKnows: stolen(highest - 1), at: later(1)).record
        #expect(last.counter == highest)
        #expect(try phone.device.maintain(serverKnows: last, at: later(1)).record == last)
        #expect(throws: DeviceError.counterExhausted) {
            try phone.device.maintain(serverKnows: stolen(highest), at: later(1))
        }
        #expect(try phone.device.enroll(at: later(1)) == last)
        #expect(throws: DeviceError.counterExhausted) { try phone.device.revoke(at: later(2)) }
        #expect(try phone.stored.keys.map(\.recipient) != last.recipients)
        #expect(try phone.stored.enrollment(for: Phone.topic)?.record == last)
        #expect(try phone.device.leaveAccount(at: later(3)).counter == highest + 1)
        #expect(try phone.stored.keys.count == 1)
    }
}

extension Phone {
    var enrollmentKey: EnrollmentPrivateKey {
        get throws {
            let account = StoredEnrollment.account(Self.topic)
            let item = try #require(memory.items().first { $0.account == account })
            return try item.secret.withBytes { try EnrollmentPrivateKey(parsing: $0) }
        }
    }

    /// Another record with the same counter, as this device may have signed it before it was restored.
    fileprivate func twin(of record: DeviceRecord) throws -> DeviceRecord {
        try DeviceRecord(
            of: [DevicePrivateKey().recipient], topic: Self.topic, counter: record.counter, created: record.created,
            expires: record.expires, signedBy: try enrollmentKey)
    }
}
