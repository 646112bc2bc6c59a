internal import PushCore

/// The device's side of a challenge, which proves to a server that the device holds a recipient's key.
/// Source: Specification 11.5.
public enum Challenge {
    /// Answers a challenge if a trusted sender sent it to this very device.
    ///
    /// Takes about 120 µs per key pair tried, at most 16 pairs. The answer reveals only that the device holds the key, and
    /// is worthless to any other server or device.
    ///
    /// - Parameters:
    ///   - text: `pushchallenge.…`, as sent by the server.
    ///   - enrollment: the device's own enrollment key. Challenges about any other key aren't answered.
    ///   - topic: the app's own topic.
    ///   - keys: the device's keys. Only active keys are used.
    ///   - senders: the trusted senders.
    /// - Returns: `pushanswer.…`, for the server.
    /// - Throws: `malformed`, `unknownRecipient`, `locked`, `keysUnavailable`, `unknownSender`, `rejected`, or
    ///   `foreignEnrollment`.
    public static func answer(
        _ text: String, enrollment: EnrollmentPublicKey, topic: Topic, keys: any KeyStore,
        trusting senders: [SenderPublicKey]
    ) throws(ChallengeError) -> String {
        guard let bytes = ArmoredText.challenge.bytes(of: text), let envelope = try? Envelope(parsing: bytes),
            envelope.suite.isAuthenticated, envelope.plaintextByteCount == plaintextByteCount
        else { throw .malformed }
        let pairs = try identities(for: envelope, in: keys).flatMap { identity in
            senders.filter { envelope.matches($0, sealingTo: identity.recipient) }.map { (identity, $0) }
        }
        guard !pairs.isEmpty else { throw .unknownSender }
        let info = info(topic: topic)
        for (identity, sender) in pairs.prefix(Envelope.maximumPairCount) {
            var plaintext = WipedBytes(count: plaintextByteCount)
            let isOpen = plaintext.withMutableBytes {
                envelope.open(with: identity, from: sender, info: info, into: $0)
            }
            guard isOpen else { continue }
            return try plaintext.withBytes { (plaintext) throws(ChallengeError) in
                let (random, named) = (plaintext[..<randomByteCount], plaintext[randomByteCount...])
                guard named.elementsEqual(enrollment.bytes) else { throw .foreignEnrollment }
                let answer = answer(
                    random: UnsafeRawBufferPointer(rebasing: random), recipient: identity.recipient,
                    enrollment: enrollment)
                return ArmoredText.answer.text(of: answer)
            }
        }
        throw .rejected
    }

    /// Returns the device's matching keys to try, in order. Only active keys count, since others must not get new messages.
    private static func identities(
        for envelope: Envelope, in keys: any KeyStore
    ) throws(ChallengeError) -> [DevicePrivateKey] {
        let found: [DeviceKey]
        do {
            found = try keys.keys(matching: envelope.matches)
        } catch {
            switch error {
            case .locked: throw .locked
            case .unavailable: throw .keysUnavailable
            }
        }
        let matching = found.filter { $0.life.state == .active && envelope.matches($0.identity.recipient) }
        guard !matching.isEmpty else { throw .unknownRecipient }
        return matching.sorted(by: DeviceKey.isTriedBefore).map(\.identity)
    }
}

extension Challenge {
    /// Specification 11.5: differs from a message's info, so that neither opens as the other.
    package static func info(topic: Topic) -> EnvelopeInfo { EnvelopeInfo("sealedpush/v1 challenge", topic) }

    /// BLAKE2b-256(random; "sealedpush/v1 answer" ‖ 0x00 ‖ recipient ‖ enrollment).
    package static func answer(
        random: UnsafeRawBufferPointer, recipient: DevicePublicKey, enrollment: EnrollmentPublicKey
    ) -> [UInt8] {
        let message = Array("sealedpush/v1 answer".utf8) + [0] + recipient.bytes + enrollment.bytes
        return BLAKE2b.hash(message, key: random, byteCount: answerByteCount)
    }

    package static let randomByteCount = 32
    static let answerByteCount = 32
    package static let plaintextByteCount = randomByteCount + KeyAlgorithm.ed25519.publicByteCount
}

extension ArmoredText {
    package static var challenge: ArmoredText {
        ArmoredText(prefix: "pushchallenge.") { Challenge.plaintextByteCount + $0.overheadByteCount }
    }
    package static let answer = ArmoredText(
        prefix: "pushanswer.", byteCounts: Challenge.answerByteCount...Challenge.answerByteCount)

    /// Creates a form that allows the lengths needed by any of the suites.
    package init(prefix: String, _ byteCount: (Envelope.Suite) -> Int) {
        let counts = Envelope.Suite.provingSender.map(byteCount)
        self.init(prefix: prefix, byteCounts: (counts.min() ?? 0)...(counts.max() ?? 0))
    }
}
