import PushCore
import PushSender
import PushServiceTesting
import TestSupport
import Testing

@testable import PushService
@testable import SealedPush

/// What a later suite would bring along, as far as anybody can tell: nothing on a message's way knows it.
///
/// A device's key is two keys of X25519 and 1,177 bytes that follow from them, so that its text has 2,000 characters. `enc`
/// is as long as two keys; both agreements go into the context.
private enum TwoKeys {
    static let suite = Envelope.Suite(
        identifier: 0x7f, name: "two keys", recipientKeys: keys, senderKeys: .x25519Seed,
        encByteCount: 2 * half, tagByteCount: ChaCha20Poly1305.tagByteCount,
        method: .authenticated(
            isSafe: { enc in halves.allSatisfy { KeyAlgorithm.x25519.accepts(enc[$0]) } },
            sending: { recipient, sender, info in
                let first = Ephemeral()
                let second = Ephemeral()
                return HPKEContext(
                    enc: first.enc.bytes + second.enc.bytes,
                    sharedSecret: combined(
                        first.agree(recipient.half(0), sender), second.agree(recipient.half(1), sender)), info: info,
                    isSending: true)
            },
            receiving: { enc, identity, sender, info in
                func agree(_ number: Int) -> WipedBytes {
                    let enc = X25519PublicKey(checked: UnsafeRawBufferPointer(rebasing: enc[halves[number]]))
                    return AuthenticatedKEM.decapsulate(
                        enc, with: Half(key: identity, number: number), from: sender.x25519)
                }
                return HPKEContext(
                    enc: Array(enc), sharedSecret: combined(agree(0), agree(1)), info: info, isSending: false)
            }))

    static let keys = KeyAlgorithm(
        identifier: 0x7f, label: "two", publicByteCount: publicByteCount, secretByteCount: 2 * half,
        isSafe: { key in
            halves.allSatisfy { KeyAlgorithm.x25519.accepts(key[$0]) }
                && key[(2 * half)...].elementsEqual(rest(of: key))
        },
        publicKey: { secret in
            let both = halves.flatMap { X25519.publicKey(of: UnsafeRawBufferPointer(rebasing: secret[$0])).bytes }
            return both + both.withUnsafeBytes { rest(of: $0) }
        })

    static let half = 32
    static let halves = [0..<half, half..<2 * half]
    private static let publicByteCount = 1_241

    private static func rest(of key: UnsafeRawBufferPointer) -> [UInt8] {
        var rest = [UInt8](repeating: 0, count: publicByteCount - 2 * half)
        rest.withUnsafeMutableBytes { rest in
            let both = UnsafeRawBufferPointer(rebasing: key[..<(2 * half)])
            HKDF.expand(both, info: both, into: rest)
        }
        return rest
    }

    private static func combined(_ first: borrowing WipedBytes, _ second: borrowing WipedBytes) -> WipedBytes {
        WipedBytes(count: half) { output in
            first.withBytes { first in
                second.withBytes { HKDF.extract(salt: first, inputKeyMaterial: $0, into: output) }
            }
        }
    }

    private struct Ephemeral: ~Copyable {
        let secret = WipedBytes(count: half) { SecureRandom.fill($0) }
        var enc: X25519PublicKey { secret.withBytes { X25519.publicKey(of: $0) } }

        func agree(_ recipient: X25519PublicKey, _ sender: SenderPrivateKey) -> WipedBytes {
            AuthenticatedKEM.encapsulate(to: recipient, from: sender.x25519, ephemeral: secret, enc: enc)
        }
    }
}

extension KeyAlgorithm {
    fileprivate func accepts(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool { DevicePublicKey(bytes, self) != nil }
}

extension DevicePublicKey {
    fileprivate func half(_ number: Int) -> X25519PublicKey {
        bytes[TwoKeys.halves[number]].withUnsafeBytes { X25519PublicKey(checked: $0) }
    }
}

private struct Half: X25519Secret {
    let key: DevicePrivateKey
    let number: Int

    var publicKey: X25519PublicKey { key.recipient.half(number) }

    func withScalar<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try key.withBytes { (secret) throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: secret[TwoKeys.halves[number]]))
        }
    }
}

/// Runs `body` where the suite is known, and is that of new keys.
private func whereKnown<Answer>(_ body: () throws -> Answer) rethrows -> Answer {
    try Envelope.Suite.$known.withValue([TwoKeys.suite, .authenticated, .anonymous], operation: body)
}

@Suite("A suite that nobody has foreseen") struct OtherSuiteTests {
    private let phone: Phone
    private let start = Phone.start

    init() throws {
        phone = try Phone()
        try phone.ledger.begin(floor: start.advanced(bySeconds: -60), asksForNewKey: false)
    }

    /// What a push that arrives ends with; nil where it is shown.
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

    @Test("passes through a device's life: key, record, challenge, sealing, opening, ledger, marker, rotation")
    func life() throws {
        // A phone from before, whose server has proven its key.
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

        try whereKnown {
            let now = start.advanced(bySeconds: 3_600)
            let record = try phone.device.rotate(at: now)
            #expect(try DeviceRecord(parsing: record.description) == record)
            #expect(record.recipients.map(\.algorithm) == [TwoKeys.keys, .x25519])
            #expect(record.recipients[0].description.count == 2_000)
            #expect(record.recipients[1] == old.recipient)
            try server.accept(record, at: now)
            try prove(at: now)
            let new = try server.recipient(at: now)
            #expect(new.recipient == record.recipients[0])

            let sealer = Sealer(sender: phone.sender, topic: Phone.topic, safeDefault: "You have a new message!")
            let (first, second) = (
                try sealer.seal(content(at: now), to: new), try sealer.seal(content(at: now), to: new)
            )
            #expect(first.envelope.bytes[0] == 0x7f)
            #expect(first.envelope.enc.count == 64)
            #expect(first.envelope.enc == second.envelope.enc)
            #expect(first.envelope.number != second.envelope.number)
            #expect(refusal(first, "one", at: now) == nil)
            #expect(refusal(first, "another", at: now) == .replayed)
            #expect(refusal(second, "two", at: now) == nil)
            // The old key still opens, under its own suite, and by the same sealer.
            let older = try sealer.seal(content(at: now), to: old)
            #expect(older.envelope.suite == .authenticated)
            #expect(refusal(older, "three", at: now) == nil)
            // However long the content is, there is room for the longest suite.
            let cutting = Sealer(sender: phone.sender, topic: Phone.topic, safeDefault: "A message", fit: .truncate)
            let long = try cutting.seal(Content(body: String(repeating: "b", count: 9_000)), to: new)
            #expect(long.json.count <= 4_096)

            #expect(phone.markers.time(of: new.recipient, at: now) == now)
            _ = try phone.device.maintain(at: now)
            #expect(try phone.stored.keys.map(\.life.state) == [.active, .retired])
        }
    }

    @Test("has key text, records and envelopes that are refused where it is not known") func unknown() throws {
        let (identity, record, envelope) = try whereKnown {
            let identity = DevicePrivateKey()
            let record = try DeviceRecord(
                of: [identity.recipient], topic: Phone.topic, counter: 1, created: start,
                expires: start.advanced(bySeconds: 60), signedBy: EnrollmentPrivateKey())
            let envelope = try phone.seal(to: identity.recipient, sent: start)
            #expect(try DevicePublicKey(parsing: identity.recipient.description.uppercased()) == identity.recipient)
            #expect(
                try DevicePrivateKey(parsing: identity.withSecretText { Array($0) }).recipient == identity.recipient)
            return (identity, record.description, envelope)
        }
        #expect(throws: KeyTextError.tooLong) { try DevicePublicKey(parsing: identity.recipient.description) }
        #expect(throws: KeyTextError.tooLong) { try DevicePrivateKey(parsing: identity.withSecretText { Array($0) }) }
        #expect(throws: RecordError.malformed) { try DeviceRecord(parsing: record) }
        #expect(throws: EnvelopeError.unknownSuite(0x7f)) { try Envelope(parsing: envelope.text) }
    }

    @Test("opens under no key of another suite that has the same ID, nor another's envelope under its own")
    func otherKeys() throws {
        let plain = DevicePrivateKey()
        try whereKnown {
            let identity = DevicePrivateKey()
            func open(_ envelope: Envelope, _ identity: DevicePrivateKey) -> Opener.Refusal? {
                let keys = CarelessKeys(key: DeviceKey(identity, created: start))
                let opener = Opener(topic: Phone.topic, keys: keys, trusting: [phone.sender.sender])
                do throws(Opener.Refusal) { _ = try opener.open(envelope, at: start) } catch { return error }
                return nil
            }
            let (new, old) = (
                try phone.seal(to: identity.recipient, sent: start), try phone.seal(to: plain.recipient, sent: start)
            )
            #expect(open(new, identity) == nil && open(old, plain) == nil)
            // The hints are put in by hand, as an attacker would who knows the keys.
            #expect(open(try new.naming(plain.recipient), plain) == .unknownRecipient)
            #expect(open(try old.naming(identity.recipient), identity) == .unknownRecipient)
        }
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
