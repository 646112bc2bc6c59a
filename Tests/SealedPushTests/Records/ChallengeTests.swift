import TestSupport
import Testing

@testable import PushCore
@testable import PushSender
@testable import SealedPush

/// Specification 11.5.
@Suite("A challenge") struct ChallengeTests {
    private let enrolling = Enrolling()
    private let now = Enrolling.now

    /// Returns the code with which the device doesn't answer.
    private func silence(
        _ text: String, enrollment: EnrollmentPublicKey? = nil, topic: Topic = Enrolling.topic,
        keys: (any KeyStore)? = nil, trusting senders: [SenderPublicKey]? = nil
    ) -> ChallengeError? {
        refusal { () throws(ChallengeError) in
            _ = try enrolling.answer(text, enrollment: enrollment, topic: topic, keys: keys, trusting: senders)
        }
    }

    /// Returns the code with which the server rejects an answer.
    private func refused(_ answer: String, to challenge: PendingChallenge, at now: Timestamp = Enrolling.now)
        -> ChallengeError?
    { refusal { () throws(ChallengeError) in try challenge.check(answer, at: now) } }

    @Test("A device that has the key answers, and the answer counts") func answered() throws {
        let challenge = enrolling.challenge()
        #expect(challenge.text.hasPrefix("pushchallenge.") && challenge.text.utf8.count == 192)
        let answer = try enrolling.answer(challenge.text)
        #expect(answer.hasPrefix("pushanswer.") && answer.utf8.count == 54)
        #expect(refused(answer, to: challenge) == nil)
    }

    @Test("A challenge is different each time, and so is its answer: one to an earlier challenge does not count")
    func replayed() throws {
        let (first, second) = (enrolling.challenge(), enrolling.challenge())
        #expect(first.text != second.text)
        let answer = try enrolling.answer(first.text)
        #expect(refused(answer, to: first) == nil)
        #expect(refused(answer, to: second) == .wrongAnswer)
    }

    @Test("A challenge that is relayed to another device is not answered there, although it opens")
    func relayed() throws {
        // Mallory enrolls with their own record, which names this device's key, and relays the challenge.
        let mallory = EnrollmentPrivateKey()
        let challenge = enrolling.challenge(of: mallory.enrollment)
        #expect(silence(challenge.text) == .foreignEnrollment)
        // This device's answer to its own challenge doesn't answer Mallory's.
        let own = enrolling.challenge()
        let answer = try enrolling.answer(own.text)
        #expect(refused(answer, to: challenge) == .wrongAnswer)
    }

    @Test("An answer is bound to recipient and enrollment, whatever the random bytes are") func binding() {
        let random = WipedBytes(count: 32)
        let (recipient, enrollment) = (enrolling.recipients[0], enrolling.enrollment)
        func answer(_ recipient: DevicePublicKey, _ enrollment: EnrollmentPublicKey) -> [UInt8] {
            random.withBytes { Challenge.answer(random: $0, recipient: recipient, enrollment: enrollment) }
        }
        let right = answer(recipient, enrollment)
        #expect(right == answer(recipient, enrollment))
        #expect(right != answer(DevicePrivateKey().recipient, enrollment))
        #expect(right != answer(recipient, EnrollmentPrivateKey().enrollment))
    }

    @Test("A challenge is not answered by a device without the key, for another app, or for an untrusted sender")
    func silences() {
        let text = enrolling.challenge().text
        #expect(silence(text) == nil)
        #expect(silence(text, keys: Enrolling().store) == .unknownRecipient)
        #expect(silence(text, keys: InMemoryKeyStore([])) == .unknownRecipient)
        #expect(silence(text, topic: "com.example.other") == .rejected)
        #expect(silence(text, trusting: []) == .unknownSender)
        #expect(silence(text, trusting: [SenderPrivateKey().sender]) == .unknownSender)
        #expect(silence(text, trusting: [SenderPrivateKey().sender, enrolling.senderKey.sender]) == nil)
        let careless = FixedKeyStore(keys: [DeviceKey(DevicePrivateKey(), created: now)])
        #expect(silence(text, keys: careless) == .unknownRecipient)
        #expect(silence(text, keys: FixedKeyStore(error: .locked)) == .locked)
        #expect(silence(text, keys: FixedKeyStore(error: .unavailable("disk"))) == .keysUnavailable)
    }

    @Test("A challenge is answered only by an active key") func states() {
        let text = enrolling.challenge().text
        let identity = enrolling.identities[0]
        func silence(_ change: (inout KeyLife) -> Void) -> ChallengeError? {
            var life = KeyLife(created: now)
            change(&life)
            return self.silence(text, keys: FixedKeyStore(keys: [DeviceKey(identity, life: life)]))
        }
        #expect(silence { _ in } == nil)
        #expect(silence { $0.confirm(at: now) } == nil)
        #expect(silence { $0.retire(at: now) } == .unknownRecipient)
        #expect(silence { $0.revoke(at: now) } == .unknownRecipient)
    }

    @Test("A challenge is tried under at most 16 pairs of keys") func pairs() throws {
        let shared = try SharedHint("senders")
        var device = enrolling
        device.identities = shared.identities
        let sender = try #require(shared.sender)
        let hpke = HPKEContext(
            sendingTo: device.recipients[0].x25519, from: sender.x25519,
            info: Challenge.info(topic: Enrolling.topic).classical,
            ephemeral: WipedBytes(count: 32) { $0.copyBytes(from: shared.ephemeral) })
        let context = SealingContext(hpke, to: device.recipients[0], from: sender.sender)
        let challenge = PendingChallenge(
            to: device.recipients[0], of: device.enrollment, in: context,
            random: WipedBytes(count: 32) { SecureRandom.fill($0) }, at: now)
        func answer(behind count: Int) throws(ChallengeError) -> String {
            let decoys = [SenderPublicKey](repeating: shared.senders[0], count: count)
            return try device.answer(challenge.text, trusting: decoys + [sender.sender])
        }
        #expect(refused(try answer(behind: 15), to: challenge) == nil)
        #expect(throws: ChallengeError.rejected) { try answer(behind: 16) }
    }

    @Test("A challenge with any bit flipped, or cut, is not answered") func flippedChallenge() throws {
        let text = enrolling.challenge().text
        for flipped in text.bitFlips() { #expect(silence(flipped) != nil) }
        for count in 0..<text.count {
            #expect(silence(String(text.prefix(count))) == .malformed)
            #expect(silence(String(text.suffix(count))) == .malformed)
        }
        for wrong in [text + "A", text + "=", " " + text, text + "\n", text + text] {
            #expect(silence(wrong) == .malformed)
        }
    }

    @Test("An answer with any bit flipped, cut, or longer is rejected") func flippedAnswer() throws {
        let challenge = enrolling.challenge()
        let answer = try enrolling.answer(challenge.text)
        for flipped in answer.bitFlips() {
            #expect([.malformed, .wrongAnswer].contains(refused(flipped, to: challenge)))
        }
        var bytes = try #require(Base64URL.decode(answer.utf8.dropFirst(11)))
        for bit in 0..<256 {
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(refused("pushanswer." + Base64URL.encode(bytes), to: challenge) == .wrongAnswer)
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        }
        for count in 0..<answer.count {
            #expect(refused(String(answer.prefix(count)), to: challenge) == .malformed)
        }
        for wrong in ["", answer + "A", answer + "=", " " + answer, answer + "\n", challenge.text] {
            #expect(refused(wrong, to: challenge) == .malformed)
        }
    }

    @Test("A challenge accepts an answer for ten minutes") func late() throws {
        let challenge = enrolling.challenge()
        let answer = try enrolling.answer(challenge.text)
        #expect(challenge.expires == now.advanced(bySeconds: 600))
        #expect(refused(answer, to: challenge, at: now.advanced(bySeconds: 600)) == nil)
        #expect(refused(answer, to: challenge, at: now.advanced(bySeconds: 601)) == .late)
        #expect(refused("", to: challenge, at: now.advanced(bySeconds: 601)) == .late)
    }

    @Test("A challenge never opens as a message, nor a message as a challenge, although keys and form are the same")
    func messages() throws {
        let identity = enrolling.identities[0]
        let exchange = Exchange(identity: identity, senderKey: enrolling.senderKey)
        let text = enrolling.challenge().text
        let envelope = try Envelope(parsing: String(text.dropFirst("pushchallenge.".count)))
        #expect(refusal(exchange.opener(), envelope) == .rejected)
        // A message whose plaintext is a challenge's.
        let plaintext = [UInt8](repeating: 5, count: 32) + enrolling.enrollment.bytes
        let message = exchange.seal(plaintext)
        #expect(message.text.count + 14 == text.count)
        #expect(silence("pushchallenge." + message.text) == .rejected)
        // The same plaintext under the challenge's info is answered, so only the info makes the difference.
        let right = SealingContext(
            to: identity.recipient, from: enrolling.senderKey, info: Challenge.info(topic: Enrolling.topic)
        ).seal(plaintext)
        #expect(silence("pushchallenge." + right.text) == nil)
    }

    @Test("A challenge in a sealed box, which anyone can create, is not answered") func anonymous() {
        // As long as a challenge: the box adds sixteen bytes less.
        let plaintext = [UInt8](repeating: 5, count: 32) + enrolling.enrollment.bytes
        for count in [64, 80] {
            let padded = plaintext + [UInt8](repeating: 0, count: count - 64)
            let box = Envelope.sealingAnonymously(padded, to: enrolling.recipients[0])
            #expect(silence("pushchallenge." + box.text) == .malformed)
        }
    }

    @Test("A huge or random challenge is rejected in bounded time, and so is an answer") func hostile() {
        var random = SeededGenerator()
        let challenge = enrolling.challenge()
        let time = processorTime {
            for character in ["A", "é"] {
                let huge = String(repeating: character, count: 20_000_000)
                #expect(silence("pushchallenge." + huge) == .malformed)
                #expect(refused("pushanswer." + huge, to: challenge) == .malformed)
                #expect(throws: ChallengeError.malformed) { try PendingChallenge(parsing: "pushpending." + huge) }
            }
        }
        #expect(time < .seconds(5))
        for _ in 0..<2_000 {
            let text = "pushchallenge." + Base64URL.encode([1] + random.bytes(132))
            #expect([.unknownRecipient, .malformed].contains(silence(text)))
        }
    }

    @Test("A challenge can be stored as text between two runs, and works as before") func stored() throws {
        let challenge = enrolling.challenge()
        let text = challenge.storedText
        let read = try PendingChallenge(parsing: text)
        #expect(read == challenge)
        #expect(read.text == challenge.text && read.storedText == text)
        let answer = try enrolling.answer(read.text)
        #expect(refused(answer, to: read) == nil)
        #expect(refused(answer, to: read, at: now.advanced(bySeconds: 601)) == .late)
        // It doesn't reveal the answer.
        let answerBytes = try #require(Base64URL.decode(answer.utf8.dropFirst(11)))
        let bytes = try #require(Base64URL.decode(text.utf8.dropFirst(12)))
        for start in 0...bytes.count - 8 { #expect(!answerBytes.starts(with: bytes[start..<start + 8])) }
        for flipped in text.bitFlips() {
            #expect(throws: ChallengeError.malformed) { try PendingChallenge(parsing: flipped) }
        }
        // Of another length, with a valid checksum.
        let body = try #require(ArmoredText.removingChecksum(from: bytes))
        for other in [[], Array(body.dropLast()), body + [0], body + body] {
            let text = "pushpending." + Base64URL.encode(ArmoredText.appendingChecksum(to: other))
            #expect(throws: ChallengeError.malformed) { try PendingChallenge(parsing: text) }
        }
        for count in 0..<text.count {
            #expect(throws: ChallengeError.malformed) { try PendingChallenge(parsing: String(text.prefix(count))) }
        }
    }

    @Test("Each error about a challenge has its own code and sentence") func errors() {
        #expect(
            ChallengeError.allCases.map(\.rawValue) == [
                "malformed", "unknown-recipient", "locked", "keys-unavailable", "unknown-sender", "rejected",
                "foreign-enrollment", "not-in-record", "late", "wrong-answer",
            ])
        #expect(Set(ChallengeError.allCases.map(\.description)).count == 10)
    }
}

#if os(Linux)
import TestSupport
import Testing

@testable import PushCore
@testable import PushSender
@testable import SealedPush

@Suite("After a challenge was made and answered, the process's memory", .serialized) struct ChallengeWipingTests {
    private let enrolling = Enrolling()

    /// Every C function is called once before: the first call goes through the dynamic linker, which saves the registers
    /// on the stack, including any part of a secret in them.
    init() throws { _ = try enrolling.answer(enrolling.challenge().text) }

    @Test("Memory has no copy of a challenge's random bytes") func random() throws {
        let scan = MemoryScan()
        let challenge = challenge(from: scan)
        let afterMaking = scan.copyCount()
        #expect(afterMaking == 0)
        let answer = try enrolling.answer(challenge.text)
        let afterAnswer = scan.copyCount()
        #expect(afterAnswer == 0)
        try challenge.check(answer, at: Enrolling.now)
    }

    private func challenge(from scan: MemoryScan) -> PendingChallenge {
        let context = SealingContext(
            to: enrolling.recipients[0], from: enrolling.senderKey, info: Challenge.info(topic: Enrolling.topic))
        let random = WipedBytes(count: 32) { $0.copyMemory(from: UnsafeRawBufferPointer(scan.secret)) }
        return PendingChallenge(
            to: enrolling.recipients[0], of: enrolling.enrollment, in: context, random: random, at: Enrolling.now)
    }
}
#endif
