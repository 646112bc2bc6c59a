import PushSender
import PushServiceTesting
import TestSupport
import Testing

@testable import PushCore
@testable import PushService
@testable import SealedPush

@Suite("The hybrid suite") struct HybridSuiteTests {
    private let phone: Phone
    private let start = Phone.start

    init() throws {
        phone = try Phone()
        try phone.ledger.begin(floor: start.advanced(bySeconds: -60), asksForNewKey: false)
    }

    /// Returns the reason for refusing a push; nil if it's shown.
    private func refusal(_ payload: SealedPayload, _ identifier: String, at now: Timestamp) -> OpenError? {
        let environment = DeviceEnvironment(keychain: { _ in nil }, appGroup: { _ in nil }, now: { now })
        let opening = PushOpening(phone.configuration, environment: environment)
        let shown = opening.present(field: payload.envelope.text, requestIdentifier: identifier)
        opening.tidy(after: shown)
        return shown.reason
    }

    private func content(at now: Timestamp) -> Content {
        var content = Content(title: "Nina", body: "Lunch at one?")
        content.sent = now
        return content
    }

    @Test("The hybrid suite works for keys, records, challenges, sealing, opening, the ledger, markers, and rotation")
    func life() throws {
        // An older phone, whose key the server has proven.
        let before = try phone.device.enroll(at: start)
        var server = try EnrolledDevice(pinning: before, topic: Phone.topic, at: start)
        func prove(at now: Timestamp) throws {
            for recipient in server.unproven {
                let challenge = PendingChallenge(
                    to: recipient, of: server.enrollment, topic: Phone.topic, from: phone.sender, at: now)
                let kept = try PendingChallenge(parsing: challenge.storedText)
                #expect(kept == challenge)
                try server.prove(kept, answer: try phone.device.answer(challenge: challenge.text, at: now), at: now)
            }
        }
        try prove(at: start)
        let old = try server.recipient(at: start)

        // The app's next version makes hybrid keys.
        let now = start.advanced(bySeconds: 3_600)
        let done = try phone.making(.hybrid).device.maintain(at: now)
        let record = done.record
        #expect(done.rotated == record.recipients[0])
        #expect(try DeviceRecord(parsing: record.description) == record)
        #expect(record.recipients.map(\.algorithm) == [.hybrid, .x25519])
        #expect(record.recipients[0].description.count == 1_634)
        #expect(record.recipients[1] == old.recipient)
        try server.accept(record, at: now)
        try prove(at: now)
        let new = try server.recipient(at: now)
        #expect(new.recipient == record.recipients[0])

        let sealer = Sealer(sender: phone.sender, topic: Phone.topic, safeDefault: "You have a new message!")
        let (first, second) = (
            try sealer.seal(content(at: now), to: new), try sealer.seal(content(at: now), to: new)
        )
        #expect(first.envelope.bytes[0] == 0x03)
        #expect(first.envelope.bytes.count == 256 + 1_157)
        #expect(first.envelope.enc == second.envelope.enc)
        #expect(first.envelope.number != second.envelope.number)
        #expect(refusal(first, "one", at: now) == nil)
        #expect(refusal(first, "another", at: now) == .replayed)
        #expect(refusal(second, "two", at: now) == nil)
        // The old key still opens messages, under its own suite, from the same sealer.
        let older = try sealer.seal(content(at: now), to: old)
        #expect(older.envelope.suite == .authenticated)
        #expect(refusal(older, "three", at: now) == nil)
        // However long the content is, it's cut to fit this device, and cut less for the other one.
        let cutting = Sealer(
            sender: phone.sender, topic: Phone.topic, safeDefault: "You have a new message!", fit: .truncate)
        let long = try cutting.seal(Content(body: String(repeating: "b", count: 9_000)), to: new)
        #expect(long.json.count == 4_096 && long.envelope.plaintextByteCount == 1_845)
        let less = try cutting.seal(Content(body: String(repeating: "b", count: 9_000)), to: old)
        #expect(less.json.count == 4_096 && less.envelope.plaintextByteCount == 2_933)

        #expect(phone.markers.time(of: new.recipient, at: now) == now)
        _ = try phone.making(.hybrid).device.maintain(at: now)
        #expect(try phone.stored.keys.map(\.life.state) == [.active, .retired])
    }

    @Test("A missing library with ML-KEM is refused with a reason of its own") func unavailable() throws {
        let identity = DevicePrivateKey(.hybrid)
        let record = try DeviceRecord(
            of: [identity.recipient], topic: Phone.topic, counter: 1, created: start,
            expires: start.advanced(bySeconds: 60), signedBy: EnrollmentPrivateKey())
        #expect(try DevicePublicKey(parsing: identity.recipient.description) == identity.recipient)
        let secret = identity.withSecretText { Array($0) }
        #expect(try DevicePrivateKey(parsing: secret).recipient == identity.recipient)
        MLKEM768.$isHidden.withValue(true) {
            #expect(throws: KeyTextError.unsupported) { try DevicePublicKey(parsing: identity.recipient.description) }
            #expect(throws: KeyTextError.unsupported) { try DevicePrivateKey(parsing: secret) }
            #expect(throws: RecordError.unsupported) { try DeviceRecord(parsing: record.description) }
            #expect {
                try phone.making(.hybrid).device.enroll(at: start)
            } throws: { error in
                guard case .unavailable(let words)? = error as? DeviceError else { return false }
                return words.contains("ML-KEM")
            }
        }
    }

    @Test("Keys and envelopes of different suites with the same ID don't open each other")
    func otherKeys() throws {
        let (plain, identity) = (DevicePrivateKey(), DevicePrivateKey(.hybrid))
        func open(_ envelope: Envelope, _ identity: DevicePrivateKey) -> OpenError? {
            let keys = CarelessKeys(key: DeviceKey(identity, created: start))
            let opener = Opener(topic: Phone.topic, keys: keys, trusting: [phone.sender.sender])
            do throws(OpenError) { _ = try opener.open(envelope, at: start) } catch { return error }
            return nil
        }
        let (new, old) = (
            try phone.seal(to: identity.recipient, sent: start), try phone.seal(to: plain.recipient, sent: start)
        )
        #expect(open(new, identity) == nil && open(old, plain) == nil)
        // The hints are inserted by hand, as by an attacker who knows the keys.
        #expect(open(try new.naming(plain.recipient), plain) == .unknownRecipient)
        #expect(open(try old.naming(identity.recipient), identity) == .unknownRecipient)
    }
}

private struct CarelessKeys: KeyStore {
    let key: DeviceKey
    func keys(matching isWanted: (DevicePublicKey) -> Bool) -> [DeviceKey] { [key] }
}

extension Envelope {
    fileprivate func naming(_ recipient: DevicePublicKey) throws -> Envelope {
        try Envelope(parsing: [bytes[0]] + suite.hint(enc: enc, recipient: recipient).bytes + bytes[5...])
    }
}
