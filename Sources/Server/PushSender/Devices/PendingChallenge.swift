internal import PushCore
public import SealedPush

/// A server's challenge to a device to prove that it holds a recipient's key. It's pending for at most ten minutes.
///
/// Send ``text`` to the device, keep the value, and pass it with the answer to ``EnrolledDevice/prove(_:answer:at:)``. It
/// contains no secret, because it keeps only the answer's hash. Source: Specification 11.5.
public struct PendingChallenge: Hashable, Sendable {
    /// The key in question.
    public let recipient: DevicePublicKey
    /// The device that must prove that it has the key.
    public let enrollment: EnrollmentPublicKey
    /// The last second at which an answer is accepted.
    public let expires: Timestamp
    private let answerHash: [UInt8]
    private let envelope: Envelope

    /// Creates a challenge for the device with this enrollment to prove that it holds the recipient's key. Takes about 150 µs.
    ///
    /// - Parameters:
    ///   - recipient: The key from the device's record.
    ///   - enrollment: The pinned key. It's sealed into the challenge, and the device answers only for its own key. That
    ///     keeps an attacker from enrolling another device's key by forwarding its challenge.
    ///   - topic: The app's topic.
    ///   - sender: A sender that the device trusts.
    ///   - now: The current time.
    public init(
        to recipient: DevicePublicKey, of enrollment: EnrollmentPublicKey, topic: Topic, from sender: SenderPrivateKey,
        at now: Timestamp
    ) {
        let context = SealingContext(to: recipient, from: sender, info: Challenge.info(topic: topic))
        let random = WipedBytes(count: Challenge.randomByteCount) { SecureRandom.fill($0) }
        self.init(to: recipient, of: enrollment, in: context, random: random, at: now)
    }

    /// Creates a challenge from given randomness, for known-answer tests.
    init(
        to recipient: DevicePublicKey, of enrollment: EnrollmentPublicKey, in context: borrowing SealingContext,
        number: HPKENumber? = nil, random: borrowing WipedBytes, at now: Timestamp
    ) {
        self.recipient = recipient
        self.enrollment = enrollment
        expires = now.advanced(bySeconds: Self.lifetime)
        var plaintext = [UInt8](repeating: 0, count: Challenge.plaintextByteCount)
        plaintext.withUnsafeMutableBytes { plaintext in
            random.withBytes { plaintext.copyMemory(from: $0) }
            UnsafeMutableRawBufferPointer(rebasing: plaintext[Challenge.randomByteCount...])
                .copyBytes(from: enrollment.bytes)
        }
        envelope = context.seal(plaintext, number: number)
        wipe(&plaintext)
        var answer = random.withBytes { Challenge.answer(random: $0, recipient: recipient, enrollment: enrollment) }
        answerHash = Self.hash(of: answer)
        wipe(&answer)
    }

    /// The text to send to the device: `pushchallenge.…`.
    public var text: String { ArmoredText.challenge.text(of: envelope.bytes) }

    /// Returns normally if the answer is right and in time. Throws `late`, `malformed`, or `wrongAnswer`.
    func check(_ answer: String, at now: Timestamp) throws(ChallengeError) {
        guard now <= expires else { throw .late }
        guard let answer = ArmoredText.answer.bytes(of: answer) else { throw .malformed }
        guard ConstantTime.areEqual(Self.hash(of: answer), answerHash) else { throw .wrongAnswer }
    }

    private static func hash(of answer: [UInt8]) -> [UInt8] { BLAKE2b.hash(answer, byteCount: hashByteCount) }
    private static let hashByteCount = 32
    /// How long an answer is accepted, in seconds.
    private static let lifetime: Int64 = 600
}

extension PendingChallenge {
    /// The text to store if another process may receive the answer: `pushpending.…`. It has 323 characters, or 3,352 for a
    /// hybrid key, and no line end. It isn't secret, but anyone who can change it in storage can make any answer count.
    public var storedText: String {
        var bytes = enrollment.bytes + recipient.bytes
        bytes.append(bigEndian: UInt64(expires.secondsSince1970))
        bytes += answerHash + envelope.bytes
        return ArmoredText.pending.text(of: ArmoredText.appendingChecksum(to: bytes))
    }

    /// Creates a challenge from its ``storedText``.
    ///
    /// - Throws: `malformed` for any other text. The expiration is checked only when the answer arrives.
    public init(parsing text: String) throws(ChallengeError) {
        guard let bytes = ArmoredText.pending.bytes(of: text).flatMap(ArmoredText.removingChecksum) else {
            throw .malformed
        }
        for suite in Envelope.Suite.provingSender {
            guard let challenge = PendingChallenge(bytes, suite) else { continue }
            self = challenge
            return
        }
        throw .malformed
    }

    private init?(_ bytes: [UInt8], _ suite: Envelope.Suite) {
        var reader = ByteReader(bytes)
        guard
            let enrollment = reader.take(KeyAlgorithm.ed25519.publicByteCount).flatMap({
                EnrollmentPublicKey($0, .ed25519)
            }),
            let recipient = reader.take(suite.recipientKeys.publicByteCount)
                .flatMap({ DevicePublicKey($0, suite.recipientKeys) }),
            let expires = reader.number().flatMap(Timestamp.init(parsing:)),
            let answerHash = reader.take(Self.hashByteCount),
            let envelope = try? Envelope(parsing: Array(bytes[reader.position...])), envelope.suite == suite,
            envelope.plaintextByteCount == Challenge.plaintextByteCount
        else { return nil }
        self.enrollment = enrollment
        self.recipient = recipient
        self.expires = expires
        self.envelope = envelope
        self.answerHash = Array(answerHash)
    }

    /// The size of the enrollment, recipient, expiry, and answer hash. The envelope and the checksum follow.
    fileprivate static func byteCount(before suite: Envelope.Suite) -> Int {
        KeyAlgorithm.ed25519.publicByteCount + suite.recipientKeys.publicByteCount + 8 + hashByteCount
    }
}

extension ArmoredText {
    fileprivate static var pending: ArmoredText {
        ArmoredText(prefix: "pushpending.") { suite in
            PendingChallenge.byteCount(before: suite) + Challenge.plaintextByteCount + suite.overheadByteCount
                + ArmoredText.checksumByteCount
        }
    }
}
