import Foundation
import PushCore
import SealedPush
import TestSupport
import Testing

@testable import PushKeyring

@Suite("The doctor of a payload") struct PayloadDiagnosisTests {
    private let kept: KeptKeys
    private let now = KeptKeys.day(1)
    private let topic = KeptKeys.topic

    init() throws { kept = try KeptKeys(sealed: false) }

    private var keyring: Keyring { kept.keyring }
    private func alice() throws -> DevicePublicKey { try keyring.unverifiedRecipient(named: "alice-phone") }

    private func content(_ change: (inout Content) -> Void = { _ in }) -> [UInt8] {
        var content = Content(title: "Nobody-must-see-this", body: "nor this")
        content.id = .random()
        content.topic = topic
        content.sent = now
        change(&content)
        return content.json + [0x80, 0, 0, 0]
    }

    /// Seals from a sender of the keyring to one of its devices.
    private func seal(
        _ plaintext: [UInt8]? = nil, to recipient: DevicePublicKey? = nil, from sender: SenderPrivateKey? = nil,
        topic: Topic? = nil
    ) throws -> Envelope {
        let recipient = try recipient ?? alice()
        let sender = try sender ?? keyring.senderKey(named: "newsroom")
        return SealingContext(
            to: recipient, from: sender, info: EnvelopeInfo(topic: topic ?? self.topic)
        ).seal(plaintext ?? content())
    }

    private func payload(_ field: String) -> [UInt8] {
        Array(#"{"aps":{"alert":"x","mutable-content":1},"custom-encrypted-message":"\#(field)"}"#.utf8)
    }

    private func diagnose(
        _ envelope: Envelope, device: KeyName = "alice-phone", trusting: TrustedSenders? = nil,
        allowsAnonymous: Bool = false, at now: Timestamp? = nil
    ) throws -> PayloadDiagnosis {
        let diagnosis = try keyring.diagnose(
            payload(envelope.text), for: device, topic: topic, trusting: trusting, allowsAnonymous: allowsAnonymous,
            at: now ?? self.now)
        let bare = try keyring.diagnose(
            Array("\n \(envelope.text)\r\n".utf8), for: device, topic: topic, trusting: trusting,
            allowsAnonymous: allowsAnonymous, at: now ?? self.now)
        #expect(diagnosis.refusal == bare.refusal && diagnosis.cause == bare.cause && diagnosis.message == bare.message)
        #expect(diagnosis.hasPayload && !bare.hasPayload)
        check(diagnosis)
        return diagnosis
    }

    /// Checks what holds for every diagnosis.
    private func check(_ diagnosis: PayloadDiagnosis) {
        #expect(diagnosis.steps.map(\.name) == OpenError.Step.allCases)
        let failing = diagnosis.steps.firstIndex { $0.outcome == .failed }
        #expect((failing == nil) == (diagnosis.refusal == nil))
        #expect(failing.map { diagnosis.steps[$0].name } == diagnosis.refusal?.facts.step)
        for (index, step) in diagnosis.steps.enumerated() {
            let end = failing ?? diagnosis.steps.count - 1
            let outcome: PayloadDiagnosis.Step.Outcome =
                index < end ? .passed : index == failing ? .failed : .notReached
            #expect(step.outcome == outcome)
        }
        #expect(diagnosis.cause == nil || diagnosis.refusal != nil)
        #expect(!"\(diagnosis)".contains("must-see") && !"\(diagnosis)".contains("nor this"))
    }

    @Test("The doctor identifies a message that opens by ID and time only") func opens() throws {
        let diagnosis = try diagnose(seal())
        #expect(diagnosis.code == "opened" && diagnosis.refusal == nil)
        let message = try #require(diagnosis.message)
        #expect(message.sent == now && message.topic == topic && message.id != nil && message.expires == nil)
        #expect(try message.sender == keyring.sender(named: "newsroom"))
        #expect(diagnosis.matched?.senderName == "newsroom" && diagnosis.matched?.sender == message.sender)
        #expect(diagnosis.matched?.recipient == message.recipient && message.life.opensUntil == nil)
        let box = Envelope.sealingAnonymously(content(), to: message.recipient)
        #expect(try diagnose(box, allowsAnonymous: true).message?.sender == nil)
        let refused = try diagnose(box)
        #expect(refused.refusal == .anonymousNotAllowed)
    }

    @Test(
        "The doctor first reports that iOS doesn't start the extension: no visible text, or no mutable-content",
        arguments: [
            (#""alert":"x","mutable-content":0"#, .notMutable), (#""alert":"x","mutable-content":"1""#, .notMutable),
            (#""alert":"x""#, .notMutable), (#""mutable-content":1"#, .noAlert),
            (#""content-available":1"#, .background),
            (#""alert":"","mutable-content":1"#, .noAlert), (#""alert":{"title":""},"mutable-content":1"#, .noAlert),
            (#""alert":{"title-loc-key":"x"},"mutable-content":1"#, nil),
        ] as [(String, StartFault?)])
    func start(aps: String, fault: StartFault?) throws {
        let text = #"{"aps":{\#(aps)},"custom-encrypted-message":"\#(try seal().text)"}"#
        let diagnosis = try keyring.diagnose(Array(text.utf8), for: "alice-phone", topic: topic, at: now)
        #expect(diagnosis.startFault == fault && diagnosis.refusal == nil && diagnosis.hasPayload)
        #expect(diagnosis.code == (fault == nil ? "opened" : "not-started"))
    }

    @Test("a withdrawal in a background push needs no extension; other messages do") func background() throws {
        let withdrawal = try seal(content { $0.withdrawal = Content.Withdrawal(.thread("nina")) }).text
        let message = try seal().text
        for (aps, field, fault) in [
            (#""content-available":1"#, withdrawal, nil), (#""content-available":1"#, message, .background),
            (#""badge":1"#, withdrawal, .noAlert),
        ] as [(String, String, StartFault?)] {
            let text = #"{"aps":{\#(aps)},"custom-encrypted-message":"\#(field)"}"#
            let diagnosis = try keyring.diagnose(Array(text.utf8), for: "alice-phone", topic: topic, at: now)
            #expect(diagnosis.startFault == fault && diagnosis.refusal == nil && diagnosis.hasPayload)
        }
    }

    @Test(
        "The doctor reports what is malformed",
        arguments: [
            (#"{"aps":{"mutable-content":-},"custom-encrypted-message":"AQ"}"#, nil),
            ("", .envelope(.empty)), (" \n\t ", .envelope(.empty)), ("{", nil),
            ("[1]", nil), ("\"AQ\"", nil),
            ("{}", .field(.noField("custom-encrypted-message"))),
            (#"{"custom-encrypted-message":1}"#, .field(.noField("custom-encrypted-message"))),
            (#"{"custom-encrypted-message":null}"#, .field(.noField("custom-encrypted-message"))),
            (#"{"custom-encrypted-message":["AQ"]}"#, .field(.noField("custom-encrypted-message"))),
            (#"{"custom-encrypted-message":""}"#, .envelope(.empty)),
            (#"{"custom-encrypted-message":"AQ=="}"#, .envelope(.notBase64URL)),
            (#"{"custom-encrypted-message":"AQ"}"#, .envelope(.tooShort(byteCount: 1, minimum: 70))),
            (#"{"custom-encrypted-message":"_w"}"#, .envelope(.unknownSuite(0xff))),
            (#"{"custom-encrypted-message":"AQ""#, nil),
            ("\u{feff}{}", nil), ("AQ AQ", .envelope(.notBase64URL)),
            ("\u{1b}[2J", .envelope(.notBase64URL)), ("\u{202e}{}", .envelope(.notBase64URL)),
            (#"{"custom-encrypted-message":"A\u0000Q"}"#, .envelope(.notBase64URL)),
            (#"{"custom-encrypted-message":"\ud800"}"#, nil),
        ] as [(String, PayloadDiagnosis.Cause?)])
    func malformed(_ text: String, _ expected: PayloadDiagnosis.Cause?) throws {
        let diagnosis = try keyring.diagnose(Array(text.utf8), for: "alice-phone", topic: topic, at: now)
        let refusal = expected == .envelope(.unknownSuite(0xff)) ? OpenError.unknownSuite : .malformed
        #expect(diagnosis.refusal == refusal && diagnosis.message == nil)
        #expect(diagnosis.code == (diagnosis.startFault == nil ? refusal.rawValue : "not-started"))
        #expect(expected.map { diagnosis.cause == $0 } ?? isNotJSON(diagnosis) && diagnosis.envelope == nil)
        #expect(!"\(diagnosis)".contains("\u{1b}") && !"\(diagnosis)".contains("\u{202e}"))
        check(diagnosis)
    }

    /// The meaning of nil in these tables.
    private func isNotJSON(_ diagnosis: PayloadDiagnosis) -> Bool {
        if case .field(.notJSON)? = diagnosis.cause { true } else { false }
    }

    @Test("The doctor's work is bounded for a huge payload, deep nesting, and invalid UTF-8") func hostile() throws {
        let field = try seal().text
        let deep = { (depth: Int) in
            Array(
                (#"{"aps":{"alert":"x","mutable-content":1},"custom-encrypted-message":"\#(field)","x":"#
                    + String(repeating: "[", count: depth)
                    + String(repeating: "]", count: depth) + "}").utf8)
        }
        let cases: [([UInt8], PayloadDiagnosis.Cause?)] = [
            ([UInt8](repeating: 65, count: 65_537), .field(.tooLong(maximumByteCount: 65_536))),
            ([UInt8](repeating: 65, count: 50_000_000), .field(.tooLong(maximumByteCount: 65_536))),
            ([UInt8](repeating: UInt8(ascii: "{"), count: 65_536), nil),
            (deep(64), nil), (deep(30_000), nil),
            ([0xff, 0xfe, 0x7b], nil),
            ([UInt8](repeating: 65, count: 65_536), .envelope(.tooLong)),
        ]
        for (bytes, expected) in cases {
            let diagnosis = try keyring.diagnose(bytes, for: "alice-phone", topic: topic, at: now)
            #expect(diagnosis.refusal == .malformed)
            #expect(expected.map { diagnosis.cause == $0 } ?? isNotJSON(diagnosis))
            #expect("\(diagnosis)".utf8.count < 4_096)
        }
        // Other parts of a payload don't matter.
        #expect(try keyring.diagnose(deep(60), for: "alice-phone", topic: topic, at: now).code == "opened")
    }

    @Test("The doctor knows the recipient's key, and what happened to it") func unknownRecipient() throws {
        try kept.addEverything()
        let stranger = try diagnose(seal(to: DevicePrivateKey().recipient))
        #expect(stranger.refusal == .unknownRecipient && stranger.cause == .unknownKey)

        let bob = try diagnose(seal(to: keyring.unverifiedRecipient(named: "bob-phone")))
        #expect(bob.refusal == .unknownRecipient && bob.cause == .otherDevice("bob-phone", hasSecret: false))
        let own = try diagnose(seal(to: keyring.unverifiedRecipient(named: "old-phone")))
        #expect(own.cause == .otherDevice("old-phone", hasSecret: true))

        let entry = try keyring.entry(named: "old-phone")
        let erased = try #require(entry.keys.first { $0.life.state == .erased })
        let recipient = try #require(erased.key.device)
        let gone = try diagnose(seal(to: recipient), device: "old-phone")
        #expect(gone.refusal == .unknownRecipient)
        #expect(gone.cause == .ownKeyGone(erased.life) && erased.life.erased == KeptKeys.day(3))
        let revokedKey = try keyring.entry(named: "lost-phone").current
        let lost = try #require(revokedKey.key.device)
        let revoked = try diagnose(seal(to: lost), device: "lost-phone")
        #expect(revoked.cause == .ownKeyGone(revokedKey.life) && revokedKey.life.revoked == KeptKeys.day(1))
    }

    @Test("The doctor knows an untrusted sender, and the result of trusting it") func unknownSender() throws {
        let stranger = try diagnose(seal(from: SenderPrivateKey()))
        #expect(stranger.refusal == .unknownSender && stranger.cause == .stranger)
        try keyring.generateSender(named: "shop", at: now)
        let shop = try keyring.senderKey(named: "shop")
        func untrusted(
            _ sender: SenderPublicKey, _ name: KeyName?, _ verdict: OpenError? = nil
        ) -> PayloadDiagnosis.Cause {
            .untrusted(sender, name, hasAuthority: false, verdict: verdict)
        }
        let known = try diagnose(seal(from: shop))
        #expect(known.refusal == .unknownSender && known.cause == untrusted(shop.sender, "shop"))
        // Trusted or not, the app that it was sealed for comes first.
        try keyring.generateDevice(named: "other-phone", topic: "com.example.other", at: now)
        let elsewhere = try diagnose(seal(from: shop, topic: "com.example.other"))
        #expect(elsewhere.refusal == .unknownSender && elsewhere.cause == .otherApp("com.example.other"))
        let late = try diagnose(seal(from: shop), at: KeptKeys.day(40))
        #expect(late.cause == untrusted(shop.sender, "shop", .tooOld))
        let third = try diagnose(seal(from: shop, topic: "com.example.third"))
        #expect(third.cause == untrusted(shop.sender, "shop", .rejected))
        // Known only from another app's list.
        let weather = SenderPrivateKey()
        try keyring.trust(.sender(weather.sender), for: "com.example.weather", at: now)
        #expect(try diagnose(seal(from: weather)).cause == untrusted(weather.sender, nil))
    }

    @Test("it knows a sender set that has expired, isn't valid yet, or lacks the sender") func senderSets() throws {
        let authority = try keyring.generateAuthority(named: "authority", at: now)
        let newsroom = try keyring.sender(named: "newsroom")
        let set = try keyring.signSenderSet(of: [newsroom], topic: topic, by: "authority", lifetime: 86_400, at: now)
        try keyring.trust(.authority(authority), for: topic, at: now)
        try keyring.trust(.senderSet(set), for: topic, at: now)
        let envelope = try seal()
        #expect(try diagnose(envelope).code == "opened")
        let expired = try diagnose(envelope, at: KeptKeys.day(3))
        #expect(expired.refusal == .unknownSender && expired.cause == .senderSetOutOfTime(set))
        let early = try diagnose(envelope, at: now.advanced(bySeconds: -27 * 3_600))
        #expect(early.refusal == .unknownSender && early.cause == .senderSetOutOfTime(set))

        try keyring.generateSender(named: "shop", at: now)
        let next = try keyring.signSenderSet(
            of: [keyring.sender(named: "shop")], topic: topic, by: "authority", lifetime: 86_400, at: now)
        try keyring.trust(.senderSet(next), for: topic, at: now)
        let replaced = try diagnose(envelope)
        #expect(replaced.refusal == .unknownSender)
        #expect(replaced.cause == .untrusted(newsroom, "newsroom", hasAuthority: true, verdict: nil))
    }

    @Test("The doctor distinguishes a message sealed for another app from an altered one") func rejected() throws {
        try keyring.trust(.sender(SenderPrivateKey().sender), for: "com.example.other", at: now)
        let other = try diagnose(seal(topic: "com.example.other"))
        #expect(other.refusal == .rejected && other.cause == .otherApp("com.example.other"))
        let unknown = try diagnose(seal(topic: "com.example.unknown"))
        #expect(unknown.refusal == .rejected && unknown.cause == .altered)
        var bytes = try seal().bytes
        bytes[bytes.count - 1] ^= 1
        let altered = try diagnose(Envelope(parsing: bytes))
        #expect(altered.refusal == .rejected && altered.cause == .altered && altered.message == nil)
        let recipient = try alice()
        var box = Envelope.sealingAnonymously(content(), to: recipient).bytes
        box[60] ^= 1
        #expect(try diagnose(Envelope(parsing: box), allowsAnonymous: true).cause == .altered)
    }

    @Test("The doctor reports the time and the limit for a message that is too early or too late") func times() throws {
        let hour: Int64 = 3_600
        let ahead = now.advanced(bySeconds: 27 * hour)
        let clock = try diagnose(seal(content { $0.sent = ahead }))
        #expect(clock.refusal == .clock && clock.now == now && clock.message?.sent == ahead)
        let old = try diagnose(seal(), at: now.advanced(bySeconds: 31 * 86_400 + 5 * hour))
        #expect(old.refusal == .tooOld && old.message?.sent == now)
        let expires = now.advanced(bySeconds: hour)
        let expired = try diagnose(seal(content { $0.expires = expires }), at: now.advanced(bySeconds: 2 * hour))
        #expect(expired.refusal == .expired && expired.message?.expires == expires)
    }

    @Test("The doctor reports a retired key, a different inner topic, and malformed content") func content() throws {
        let envelope = try seal()
        let recipient = try alice()
        try keyring.rotate("alice-phone", at: now.advanced(bySeconds: -10_000))
        try keyring.confirm("alice-phone", at: now.advanced(bySeconds: -9_000))
        let retired = try diagnose(envelope)
        #expect(retired.refusal == .keyRetired)
        #expect(retired.message?.sent == now)
        let life = try #require(retired.message?.life)
        #expect(life.retired == now.advanced(bySeconds: -9_000))
        let early = try diagnose(seal(content { $0.sent = now.advanced(bySeconds: -2_000) }, to: recipient))
        #expect(early.code == "opened" && early.message?.life == life)

        let topic = try diagnose(seal(content { $0.topic = "com.example.other" }))
        #expect(topic.refusal == .topic && topic.message?.topic == "com.example.other")
        for (plaintext, error) in [
            ([UInt8](repeating: 0, count: 9), nil), (Array("{}".utf8) + [0x80], .missing("alert")),
        ] as [([UInt8], ContentError?)] {
            let diagnosis = try diagnose(seal(plaintext))
            #expect(diagnosis.refusal == .malformedContent && diagnosis.cause == .content(error))
        }
    }

    @Test("The doctor throws if the device's keys aren't available, whatever the payload") func noKeys() throws {
        let ask = { (keyring: Keyring, name: KeyName) in _ = try keyring.diagnose([], for: name, topic: topic, at: now)
        }
        #expect(throws: KeyringError.notFound("nobody")) { try ask(keyring, "nobody") }
        #expect(throws: KeyringError.noSecret("bob-phone")) { try ask(keyring, "bob-phone") }
        #expect(throws: KeyringError.wrongKind("newsroom", expected: .device)) { try ask(keyring, "newsroom") }
        let sealed = try KeptKeys()
        #expect(throws: KeyringError.needsSecret(.key)) { try ask(Keyring(folder: sealed.root), "alice-phone") }
        #expect(try sealed.keyring.diagnose([], for: "alice-phone", topic: topic, at: now).refusal == .malformed)
    }

    @Test("it agrees with the opener for random messages, corruptions, and times") func sameVerdict() throws {
        try kept.addEverything()
        var random = SeededGenerator()
        let devices: [KeyName] = ["alice-phone", "old-phone", "lost-phone"]
        var recipients = [DevicePrivateKey().recipient]
        for name in devices + ["bob-phone"] {
            for case .device(let recipient) in try keyring.entry(named: name).keys.map(\.key) {
                recipients.append(recipient)
            }
        }
        let senders = [try keyring.senderKey(named: "newsroom"), SenderPrivateKey()]
        let list = try keyring.trustList().trustedSenders(for: topic)
        let codes: Set<String> = [
            "opened", "malformed", "unknown-recipient", "unknown-sender", "anonymous-not-allowed", "rejected",
            "malformed-content", "topic", "key-retired", "clock", "too-old", "expired",
        ]
        var seen: [String: Int] = [:]
        // Continue until each code was seen: the rarest is one round in 50, so 5,000 without it mean that it can't occur.
        for round in 0..<5000 where round < Thoroughness.count(60, thorough: 700) || !codes.isSubset(of: seen.keys) {
            let offset = [0, 0, 0, -40, -2, 2].randomElement(using: &random) ?? 0
            let sent = KeptKeys.day(Int64.random(in: 0...28, using: &random))
            let at = sent.advanced(bySeconds: Int64(-offset) * 86_400)
            let plaintext = content {
                $0.sent = sent
                if Bool.random(using: &random) { $0.expires = sent.advanced(bySeconds: 86_400) }
                if Int.random(in: 0..<9, using: &random) == 0 { $0.topic = "com.example.other" }
            }
            let device = devices.randomElement(using: &random) ?? devices[0]
            let own = try keyring.deviceKeys(named: device)
            let recipient =
                own.randomElement(using: &random).flatMap {
                    Int.random(in: 0..<5, using: &random) > 0 ? $0.identity.recipient : nil
                } ?? recipients.randomElement(using: &random) ?? recipients[0]
            var bytes = Envelope.sealingAnonymously(plaintext, to: recipient).bytes
            if Int.random(in: 0..<5, using: &random) > 0 {
                let sender = senders[Int.random(in: 0..<9, using: &random) / 8]
                bytes = try seal(
                    Int.random(in: 0..<9, using: &random) == 0 ? [1, 0x80] : plaintext, to: recipient, from: sender
                ).bytes
            }
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1 where Bool.random(using: &random): bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
            default: break
            }
            var payload = payload(Base64URL.encode(bytes))
            if Int.random(in: 0..<8, using: &random) == 0 {
                payload[Int.random(in: payload.indices, using: &random)] = UInt8.random(in: 32..<127, using: &random)
            }
            let allowsAnonymous = Bool.random(using: &random)
            let trusted: TrustedSenders? = Bool.random(using: &random) ? nil : TrustedSenders([senders[0].sender])
            let diagnosis = try keyring.diagnose(
                payload, for: device, topic: topic, trusting: trusted, allowsAnonymous: allowsAnonymous, at: at)
            let opener = Opener(
                topic: topic, keys: InMemoryKeyStore(own, senderSet: try keyring.trustList().senderSet(for: topic)),
                trusting: trusted ?? list,
                allowsAnonymous: allowsAnonymous)
            #expect(diagnosis.refusal == verdict(on: payload, opener, at: at))
            check(diagnosis)
            seen[diagnosis.refusal?.rawValue ?? "opened", default: 0] += 1
        }
        // Only a change of the first byte makes a suite that nobody knows.
        #expect(Set(seen.keys).subtracting(["unknown-suite"]) == codes, "\(seen)")
    }

    /// The payload as a device receives it.
    private func verdict(on payload: [UInt8], _ opener: Opener, at now: Timestamp) -> OpenError? {
        let object = try? JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any]
        do throws(OpenError) {
            let envelope = try Envelope(field: object?["custom-encrypted-message"] as? String)
            _ = try opener.open(envelope, at: now)
            return nil
        } catch { return error }
    }
}
