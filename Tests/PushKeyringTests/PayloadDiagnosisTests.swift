import Foundation
import PushCrypto
import SealedPush
import TestSupport
import Testing

@testable import PushKeyring

@Suite("The doctor of a payload")
struct PayloadDiagnosisTests {
    private let kept: KeptKeys
    private let now = KeptKeys.day(1)
    private let topic = KeptKeys.topic

    init() throws { kept = try KeptKeys(sealed: false) }

    private var keyring: Keyring { kept.keyring }

    private func content(_ change: (inout Content) -> Void = { _ in }) -> [UInt8] {
        var content = Content(title: "Nobody-must-see-this", body: "nor this")
        content.id = .random()
        content.topic = topic
        content.sent = now
        change(&content)
        return content.json + [0x80, 0, 0, 0]
    }

    /// From a sender of the keyring to a device of it.
    private func seal(
        _ plaintext: [UInt8]? = nil, to recipient: Recipient? = nil, from sender: SenderKey? = nil, topic: Topic? = nil
    ) throws -> Envelope {
        let recipient = try recipient ?? #require(try keyring.deviceKeys(named: "alice-phone").first).identity.recipient
        let sender = try sender ?? keyring.senderKey(named: "newsroom")
        let context = HPKEContext(
            sendingTo: recipient.publicKey, from: sender.secretKey,
            info: HPKEInfo(Envelope.info(topic: topic ?? self.topic)))
        return Envelope.sealing(
            plaintext ?? content(), to: recipient, from: sender.sender, in: context, sequenceNumber: 0)
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
        #expect(diagnosis == bare)
        check(diagnosis)
        return diagnosis
    }

    /// What holds for every diagnosis.
    private func check(_ diagnosis: PayloadDiagnosis) {
        #expect(diagnosis.steps.map(\.name) == PayloadDiagnosis.Step.Name.allCases)
        let failing = diagnosis.steps.firstIndex { $0.outcome == .failed }
        #expect((failing == nil) == (diagnosis.refusal == nil))
        #expect(failing.map { diagnosis.steps[$0].name } == diagnosis.refusal?.step)
        for (index, step) in diagnosis.steps.enumerated() {
            let end = failing ?? diagnosis.steps.count - 1
            let outcome: PayloadDiagnosis.Step.Outcome =
                index < end ? .passed : index == failing ? .failed : .notReached
            #expect(step.outcome == outcome && !step.words.isEmpty)
        }
        #expect(!diagnosis.advice.isEmpty)
        #expect(!"\(diagnosis)".contains("must-see") && !"\(diagnosis)".contains("nor this"))
    }

    /// The words of the step that fails.
    private func words(_ diagnosis: PayloadDiagnosis) -> String {
        diagnosis.steps.first { $0.outcome == .failed }?.words ?? ""
    }

    @Test("says that it opens, by ID and time alone")
    func opens() throws {
        let diagnosis = try diagnose(seal())
        #expect(diagnosis.code == "opened" && diagnosis.refusal == nil)
        let message = try #require(diagnosis.message)
        #expect(message.sent == now && message.topic == topic && message.id != nil && message.expires == nil)
        #expect(try message.sender == keyring.sender(named: "newsroom"))
        #expect(diagnosis.steps.contains { $0.words.contains("(newsroom)") })
        #expect(Set(diagnosis.steps.map(\.words)).count == diagnosis.steps.count, "no step says what another one says")
        let box = Envelope.sealingAnonymously(content(), to: message.recipient)
        #expect(try diagnose(box, allowsAnonymous: true).message?.sender == nil)
        let refused = try diagnose(box)
        #expect(refused.refusal == .anonymousNotAllowed && words(refused).contains("no sender"))
    }

    @Test(
        "says what is malformed",
        arguments: [
            (#"{"aps":{"mutable-content":-},"custom-encrypted-message":"AQ"}"#, "no JSON"),
            ("", "empty"), (" \n\t ", "empty"), ("{", "no JSON"), ("[1]", "no object"), ("\"AQ\"", "no object"),
            ("{}", "has no"), (#"{"custom-encrypted-message":1}"#, "no string"),
            (#"{"custom-encrypted-message":null}"#, "no string"),
            (#"{"custom-encrypted-message":["AQ"]}"#, "no string"),
            (#"{"custom-encrypted-message":""}"#, "empty"), (#"{"custom-encrypted-message":"AQ=="}"#, "base64url"),
            (#"{"custom-encrypted-message":"AQ"}"#, "cut"), (#"{"custom-encrypted-message":"_w"}"#, "unknown suite ff"),
            (#"{"custom-encrypted-message":"AQ""#, "no JSON"), ("\u{feff}{}", "byte order mark"),
            ("AQ AQ", "base64url"), ("\u{1b}[2J", "base64url"), ("\u{202e}{}", "base64url"),
            (#"{"custom-encrypted-message":"A\u0000Q"}"#, "base64url"),
            (#"{"custom-encrypted-message":"\ud800"}"#, "no"),
        ])
    func malformed(_ text: String, _ expected: String) throws {
        let diagnosis = try keyring.diagnose(Array(text.utf8), for: "alice-phone", topic: topic, at: now)
        #expect(diagnosis.refusal == .malformed && diagnosis.code == "malformed" && diagnosis.message == nil)
        #expect(words(diagnosis).contains(expected), "\(words(diagnosis))")
        #expect(!"\(diagnosis)".contains("\u{1b}") && !"\(diagnosis)".contains("\u{202e}"))
        check(diagnosis)
    }

    @Test("is bounded: a huge payload, deep nesting, no UTF-8")
    func hostile() throws {
        let field = try seal().text
        let deep = { (depth: Int) in
            Array(
                (#"{"custom-encrypted-message":"\#(field)","x":"# + String(repeating: "[", count: depth)
                    + String(repeating: "]", count: depth) + "}").utf8)
        }
        let cases: [([UInt8], String)] = [
            ([UInt8](repeating: 65, count: 65_537), "65536 bytes"),
            ([UInt8](repeating: 65, count: 50_000_000), "65536 bytes"),
            ([UInt8](repeating: UInt8(ascii: "{"), count: 65_536), "no JSON"), (deep(64), "64 levels"),
            (deep(30_000), "64 levels"), ([0xff, 0xfe, 0x7b], "UTF-8"),
            ([UInt8](repeating: 65, count: 65_536), "longer"),
        ]
        for (bytes, expected) in cases {
            let diagnosis = try keyring.diagnose(bytes, for: "alice-phone", topic: topic, at: now)
            #expect(diagnosis.refusal == .malformed && words(diagnosis).contains(expected), "\(words(diagnosis))")
            #expect("\(diagnosis)".utf8.count < 4_096)
        }
        // What other parts of a payload hold is no matter.
        #expect(try keyring.diagnose(deep(60), for: "alice-phone", topic: topic, at: now).code == "opened")
    }

    @Test("knows whose key it was sealed for, and what became of it")
    func unknownRecipient() throws {
        try kept.addEverything()
        let stranger = try diagnose(seal(to: Identity().recipient))
        #expect(stranger.refusal == .unknownRecipient && words(stranger).contains("another device"))

        let bob = try diagnose(seal(to: keyring.unverifiedRecipient(named: "bob-phone")))
        #expect(bob.refusal == .unknownRecipient && words(bob).contains("bob-phone"))
        #expect(bob.advice.contains("not in this keyring"))
        let own = try diagnose(seal(to: keyring.unverifiedRecipient(named: "old-phone")))
        #expect(words(own).contains("old-phone") && own.advice.contains("open it as old-phone"))

        let entry = try keyring.entry(named: "old-phone")
        let erased = try #require(entry.keys.first { $0.life.state == .erased })
        guard case .device(let recipient) = erased.key else { return }
        let gone = try diagnose(seal(to: recipient), device: "old-phone")
        #expect(gone.refusal == .unknownRecipient)
        #expect(words(gone).contains("of old-phone was erased on \(TimeWords.day(KeptKeys.day(3)))"))
        guard case .device(let lost) = try keyring.entry(named: "lost-phone").key else { return }
        let revoked = try diagnose(seal(to: lost), device: "lost-phone")
        #expect(words(revoked).contains("of lost-phone was revoked on \(TimeWords.day(KeptKeys.day(1)))"))
    }

    @Test("knows the sender who is not trusted, and what trusting would bring")
    func unknownSender() throws {
        let stranger = try diagnose(seal(from: SenderKey()))
        #expect(stranger.refusal == .unknownSender && words(stranger).contains("does not know"))
        try keyring.generateSender(named: "shop", at: now)
        let shop = try keyring.senderKey(named: "shop")
        let known = try diagnose(seal(from: shop))
        #expect(known.refusal == .unknownSender)
        #expect(words(known).contains("as shop has") && words(known).contains("it would open"))
        let folder = keyring.folder.relativePath
        #expect(known.advice.contains("trust add shop --topic com.example.app --keyring \(folder)`"))
        // Trusted or not: what it was sealed for comes first.
        try keyring.generateDevice(named: "other-phone", topic: "com.example.other", at: now)
        let elsewhere = try diagnose(seal(from: shop, topic: "com.example.other"))
        #expect(elsewhere.refusal == .unknownSender)
        #expect(words(elsewhere).contains("sealed for the app com.example.other, not for com.example.app"))
        #expect(!elsewhere.advice.contains("trust add"))
        let late = try diagnose(seal(from: shop), at: KeptKeys.day(40))
        #expect(words(late).contains("it would end with too-old"))
        // Known from another app's list only.
        let weather = SenderKey()
        try keyring.trust(.sender(weather.sender), for: "com.example.weather", at: now)
        #expect(try words(diagnose(seal(from: weather))).contains(weather.sender.description))
    }

    @Test("knows a sender set that has expired, is not valid yet, or lacks the sender")
    func senderSets() throws {
        let authority = try keyring.generateAuthority(named: "authority", at: now)
        let newsroom = try keyring.sender(named: "newsroom")
        let set = try keyring.signSenderSet(
            of: [newsroom], topic: topic, by: "authority", lifetime: 86_400, at: now)
        try keyring.trust(.authority(authority), for: topic, at: now)
        try keyring.trust(.senderSet(set), for: topic, at: now)
        let envelope = try seal()
        #expect(try diagnose(envelope).code == "opened")
        let expired = try diagnose(envelope, at: KeptKeys.day(3))
        #expect(expired.refusal == .unknownSender && words(expired).contains("expired on"))
        let early = try diagnose(envelope, at: now.advanced(bySeconds: -27 * 3_600))
        #expect(early.refusal == .unknownSender && words(early).contains("ahead of this clock"))

        try keyring.generateSender(named: "shop", at: now)
        let next = try keyring.signSenderSet(
            of: [keyring.sender(named: "shop")], topic: topic, by: "authority", lifetime: 86_400, at: now)
        try keyring.trust(.senderSet(next), for: topic, at: now)
        let replaced = try diagnose(envelope)
        #expect(replaced.refusal == .unknownSender && words(replaced).contains("sender set"))
        #expect(replaced.advice.contains("authority sign a set"))
    }

    @Test("tells what was sealed for another app from what was altered")
    func rejected() throws {
        try keyring.trust(.sender(SenderKey().sender), for: "com.example.other", at: now)
        let other = try diagnose(seal(topic: "com.example.other"))
        #expect(other.refusal == .rejected && words(other).contains("the app com.example.other"))
        let unknown = try diagnose(seal(topic: "com.example.unknown"))
        #expect(unknown.refusal == .rejected && words(unknown).contains("altered"))
        var bytes = try seal().bytes
        bytes[bytes.count - 1] ^= 1
        let altered = try diagnose(Envelope(parsing: bytes))
        #expect(altered.refusal == .rejected && words(altered).contains("altered") && altered.message == nil)
        let recipient = try #require(try keyring.deviceKeys(named: "alice-phone").first).identity.recipient
        var box = Envelope.sealingAnonymously(content(), to: recipient).bytes
        box[20] ^= 1
        #expect(try words(diagnose(Envelope(parsing: box), allowsAnonymous: true)).contains("altered"))
    }

    @Test("gives both times, and the difference, for what comes too early or too late")
    func times() throws {
        let hour: Int64 = 3_600
        let clock = try diagnose(seal(content { $0.sent = now.advanced(bySeconds: 27 * hour) }))
        #expect(clock.refusal == .clock)
        #expect(words(clock).contains("2025-10-11 11:53:20 UTC") || words(clock).contains("1 day 3 hours ahead"))
        #expect(words(clock).contains(TimeWords.moment(now)))
        let old = try diagnose(seal(), at: now.advanced(bySeconds: 31 * 86_400 + 5 * hour))
        #expect(old.refusal == .tooOld && words(old).contains("31 days 5 hours ago"))
        let expired = try diagnose(
            seal(content { $0.expires = now.advanced(bySeconds: hour) }), at: now.advanced(bySeconds: 2 * hour))
        #expect(expired.refusal == .expired && words(expired).contains("1 hour ago"))
        #expect(expired.message?.expires == now.advanced(bySeconds: hour))
    }

    @Test("tells of a retired key, of another topic within, and of content that is none")
    func content() throws {
        let envelope = try seal()
        let recipient = try #require(try keyring.deviceKeys(named: "alice-phone").first).identity.recipient
        try keyring.rotate("alice-phone", at: now.advanced(bySeconds: -10_000))
        try keyring.confirm("alice-phone", at: now.advanced(bySeconds: -9_000))
        let retired = try diagnose(envelope)
        #expect(retired.refusal == .keyRetired)
        #expect(words(retired).contains("retired on \(TimeWords.moment(now.advanced(bySeconds: -9_000)))"))
        let early = try diagnose(
            seal(content { $0.sent = now.advanced(bySeconds: -2_000) }, to: recipient))
        #expect(early.code == "opened" && early.steps.contains { $0.words.contains("is retired, and opens") })

        let topic = try diagnose(seal(content { $0.topic = "com.example.other" }))
        #expect(topic.refusal == .topic && words(topic).contains("com.example.other"))
        for (plaintext, expected) in [
            ([UInt8](repeating: 0, count: 9), "padding"), (Array("{}".utf8) + [0x80], "has no"),
            (Array("must-see".utf8) + [0x80], "JSON"),
        ] {
            let diagnosis = try diagnose(seal(plaintext))
            #expect(
                diagnosis.refusal == .malformedContent && words(diagnosis).contains(expected), "\(words(diagnosis))")
        }
    }

    @Test("throws where the device's keys can't be had, whatever the payload")
    func noKeys() throws {
        let ask = { (keyring: Keyring, name: KeyName) in
            _ = try keyring.diagnose([], for: name, topic: topic, at: now)
        }
        #expect(throws: KeyringError.notFound("nobody")) { try ask(keyring, "nobody") }
        #expect(throws: KeyringError.noSecret("bob-phone")) { try ask(keyring, "bob-phone") }
        #expect(throws: KeyringError.wrongKind("newsroom", expected: .device)) { try ask(keyring, "newsroom") }
        let sealed = try KeptKeys()
        #expect(throws: KeyringError.needsSecret(.key)) { try ask(Keyring(folder: sealed.root), "alice-phone") }
        #expect(try sealed.keyring.diagnose([], for: "alice-phone", topic: topic, at: now).refusal == .malformed)
    }

    @Test("always ends as the opener does, over random messages, corruptions and times")
    func sameVerdict() throws {
        try kept.addEverything()
        var random = SeededGenerator()
        let devices: [KeyName] = ["alice-phone", "old-phone", "lost-phone"]
        var recipients = [Identity().recipient]
        for name in devices + ["bob-phone"] {
            for case .device(let recipient) in try keyring.entry(named: name).keys.map(\.key) {
                recipients.append(recipient)
            }
        }
        let senders = [try keyring.senderKey(named: "newsroom"), SenderKey()]
        let list = try keyring.trustList().trustedSenders(for: topic)
        let codes: Set<String> = [
            "opened", "malformed", "unknown-recipient", "unknown-sender", "anonymous-not-allowed", "rejected",
            "malformed-content", "topic", "key-retired", "clock", "too-old", "expired",
        ]
        var seen: [String: Int] = [:]
        // On until each code was seen.
        for round in 0..<700 where round < Thoroughness.count(60, thorough: 700) || seen.count < codes.count {
            let offset = [0, 0, 0, -40, -2, 2].randomElement(using: &random) ?? 0
            let sent = KeptKeys.day(Int64.random(in: 0...14, using: &random))
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
                )
                .bytes
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
            let trusted: TrustedSenders? =
                Bool.random(using: &random) ? nil : TrustedSenders([senders[0].sender])
            let diagnosis = try keyring.diagnose(
                payload, for: device, topic: topic, trusting: trusted, allowsAnonymous: allowsAnonymous, at: at)
            let opener = Opener(
                topic: topic, keys: KeyringStore(keyring, device: device), trusting: trusted ?? list,
                allowsAnonymous: allowsAnonymous)
            #expect(diagnosis.refusal == verdict(on: payload, opener, at: at))
            check(diagnosis)
            seen[diagnosis.code, default: 0] += 1
        }
        #expect(Set(seen.keys) == codes, "\(seen)")
    }

    /// As a device comes to it.
    private func verdict(on payload: [UInt8], _ opener: Opener, at now: Timestamp) -> OpenError? {
        let object = try? JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any]
        guard let field = object?["custom-encrypted-message"] as? String, let envelope = try? Envelope(parsing: field)
        else { return .malformed }
        do throws(OpenError) {
            _ = try opener.open(envelope, at: now)
            return nil
        } catch {
            return error
        }
    }
}
