import PushSender
import PushServiceTesting
import TestSupport
import Testing

@testable import PushService
@testable import SealedPush

/// Attempts to make a hybrid phone receive messages that aren't hybrid. Source: Specification 3.8.7; ThreatModel 3.
@Suite("A phone that has become hybrid") struct DowngradeTests {
    private let phone: Phone
    private let start = Phone.start
    /// An hour later, when the hybrid key is confirmed.
    private let now = Phone.start.advanced(bySeconds: 3_600)
    /// The record that the server knew before.
    private let before: EnrolledDevice
    private let server: EnrolledDevice

    init() throws {
        let classical = try Phone()
        try classical.ledger.begin(floor: start.advanced(bySeconds: -60), asksForNewKey: false)
        var server = try EnrolledDevice(pinning: classical.device.enroll(at: start), topic: Phone.topic, at: start)
        try Self.prove(&server, classical, at: start)
        before = server
        phone = classical.making(.hybrid)
        try server.accept(phone.device.maintain(at: now).record, at: now)
        try Self.prove(&server, phone, at: now)
        self.server = server
        phone.markers.mark(try server.recipient(at: now).recipient, at: now)
    }

    private static func prove(_ server: inout EnrolledDevice, _ phone: Phone, at now: Timestamp) throws {
        for recipient in server.unproven {
            let challenge = PendingChallenge(
                to: recipient, of: server.enrollment, topic: Phone.topic, from: phone.sender, at: now)
            try server.prove(challenge, answer: phone.device.answer(challenge: challenge.text, at: now), at: now)
        }
    }

    private func sealer(requiresHybrid: Bool = false) -> Sealer {
        Sealer(
            sender: phone.sender, topic: Phone.topic, safeDefault: "You have a new message!",
            requiresHybrid: requiresHybrid)
    }

    private func seal(to device: EnrolledDevice, by sealer: Sealer, sent: Timestamp) throws -> Envelope {
        var content = Content(body: "b")
        content.sent = sent
        return try sealer.seal(content, to: device.recipient(at: sent)).envelope
    }

    /// Returns the reason for the refusal; nil if the message is shown.
    private func refusal(_ envelope: [UInt8], at now: Timestamp, allowsAnonymous: Bool = false) -> OpenError? {
        guard let envelope = try? Envelope(parsing: envelope) else { return .malformed }
        let opener = Opener(
            topic: Phone.topic, keys: DeviceKeys(phone.items), trusting: phone.configuration.trusted,
            allowsAnonymous: allowsAnonymous)
        do throws(OpenError) { _ = try opener.open(envelope, at: now) } catch { return error }
        return nil
    }

    @Test("Hybrid pushes that a carrier altered aren't shown: another suite, missing parts, or one half only")
    func carrier() throws {
        let hybrid = try server.recipient(at: now).recipient
        let half = try #require(DevicePublicKey(Array(hybrid.bytes.suffix(32)), .x25519))
        let envelope = try seal(to: server, by: sealer(), sent: now)
        #expect(envelope.suite.recipientKeys == .hybrid)
        #expect(refusal(envelope.bytes, at: now) == nil)
        let suites: [Envelope.Suite] = [.authenticated, .anonymous]
        for suite in UInt8.min...UInt8.max where suite != envelope.bytes[0] {
            let header = [suite] + envelope.bytes[1..<53]
            for sealed in [envelope.bytes[53...], envelope.bytes[1_141...]] {
                #expect(refusal(header + sealed, at: now, allowsAnonymous: true) != nil)
                for suite in suites where suite.rawValue == header[0] {
                    for recipient in [half, hybrid, try before.recipient(at: start).recipient] {
                        let hint = suite.hint(enc: envelope.enc, recipient: recipient).bytes
                        let named = [header[0]] + hint + header[5...] + sealed
                        #expect(refusal(named, at: now, allowsAnonymous: true) != nil)
                    }
                }
            }
        }
        // Anyone can seal to the X25519 half of a public key.
        let anonymous = Envelope.sealingAnonymously(Array("{}".utf8), to: half)
        #expect(refusal(anonymous.bytes, at: now, allowsAnonymous: true) == .unknownRecipient)
        // Even the sender's own key doesn't open the half.
        let toHalf = try phone.seal(to: half, sent: now)
        #expect(refusal(toHalf.bytes, at: now) == .unknownRecipient)
    }

    @Test(
        "A thief of the server's list can't make the phone classical: not by an older, forged, or shortened record"
    )
    func stolenList() throws {
        var server = server
        #expect(throws: RecordError.rolledBack) { try server.accept(before.record, at: now) }
        let recipients = [try before.recipient(at: start).recipient]
        let own = try DeviceRecord(
            of: recipients, topic: Phone.topic, counter: server.record.counter + 1, created: now,
            expires: now.advanced(bySeconds: 86_400), signedBy: EnrollmentPrivateKey())
        #expect(throws: RecordError.foreignSigner) { try server.accept(own, at: now) }
        // Cut out the hybrid key, which has its algorithm's byte and length in front.
        var bytes = server.record.bytes
        let place = try #require(bytes.firstRange(of: [0x03, 0x04, 0xC0] + server.record.recipients[0].bytes))
        bytes.removeSubrange(place)
        bytes[place.lowerBound - 1] = 1
        let cut = "pushrecord." + Base64URL.encode(ArmoredText.appendingChecksum(to: bytes))
        #expect(throws: RecordError.badSignature) { try DeviceRecord(parsing: cut) }
        #expect(try server.recipient(at: now).recipient.isHybrid)
        // A proof counts only for the record's keys, and a retired key can't be proven again.
        let retired = try phone.device.maintain(at: now).record
        let loaded = try EnrolledDevice(loading: server.enrollment, record: retired, proven: recipients)
        #expect(throws: RecordError.unproven) { try loaded.recipient(at: now) }
        let challenge = PendingChallenge(
            to: recipients[0], of: server.enrollment, topic: Phone.topic, from: phone.sender, at: now)
        #expect(throws: ChallengeError.unknownRecipient) {
            try phone.device.answer(challenge: challenge.text, at: now)
        }
    }

    @Test("A server restored from a backup reaches the phone for two hours, or not at all if either end is strict")
    func backup() throws {
        _ = try phone.device.maintain(at: now)
        let late = now.advanced(bySeconds: 7_201)
        #expect(refusal(try seal(to: before, by: sealer(), sent: now).bytes, at: now) == nil)
        #expect(refusal(try seal(to: before, by: sealer(), sent: late).bytes, at: late) == .keyRetired)
        let strict = sealer(requiresHybrid: true)
        #expect(throws: SealError.notHybrid) { try seal(to: before, by: strict, sent: now) }
        #expect(refusal(try seal(to: server, by: strict, sent: now).bytes, at: now) == nil)

        let done = try phone.making(.hybridOnly).device.maintain(at: now)
        #expect(done.erased == [try before.recipient(at: start).recipient])
        #expect(try phone.stored.keys.map(\.recipient.isHybrid) == [true])
        #expect(refusal(try seal(to: before, by: sealer(), sent: now).bytes, at: now) == .unknownRecipient)
        #expect(refusal(try seal(to: server, by: sealer(), sent: now).bytes, at: now) == nil)
    }

    @Test("An older version of the app signs a record without the key of a later algorithm, which it can't have")
    func laterAlgorithm() throws {
        let phone = try Phone()
        let record = try phone.device.enroll(at: start)
        let stored = try #require(try phone.stored.enrollment(for: Phone.topic))
        let later = try record.adding([1], signedBy: #require(try stored.key(in: phone.items)))
        let attributes = StoredEnrollment.attributes(counter: later.counter, record: later)
        try phone.items.replace(stored.item, attributes: attributes)
        let newer = try phone.device.enroll(at: start)
        #expect(newer.counter > record.counter && newer.recipients == record.recipients && !newer.hasUnknownKeys)
        #expect(try phone.device.enroll(at: start) == newer)
    }

    @Test("A phone under the strictest policy loses no push, keeping its classical key until a hybrid one is confirmed")
    func unconfirmed() throws {
        let phone = try Phone()
        try phone.ledger.begin(floor: start.advanced(bySeconds: -60), asksForNewKey: false)
        let old = try phone.device.enroll(at: start).recipients[0]
        let strict = phone.making(.hybridOnly)
        for _ in 1...3 {
            let done = try strict.device.maintain(at: now)
            #expect(done.erased.isEmpty && done.record.recipients.map(\.isHybrid) == [true, false])
            #expect(try phone.open(phone.seal(to: old, sent: now), at: now).recipient == old)
        }
        phone.markers.mark(try strict.device.maintain(at: now).record.recipients[0], at: now)
        #expect(try strict.device.maintain(at: now).erased == [old])
    }
}
