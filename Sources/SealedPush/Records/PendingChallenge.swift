import PushCrypto
internal import _PushBase

/// A server's question whether a device holds a recipient's key, until it is answered or ten minutes have passed.
///
/// Send ``text`` to the device and keep the value; ``EnrolledDevice/prove(_:answer:at:)`` takes it with the answer. It holds
/// no secret: of the answer it keeps the hash only. Source: Specification 11.5.
public struct PendingChallenge: Hashable, Sendable {
    /// Which key is asked for.
    public let recipient: Recipient
    /// The device that is to prove it has the key.
    public let enrolment: Enrolment
    /// The last second at which an answer counts.
    public let expires: Timestamp
    private let answerHash: [UInt8]
    private let envelope: Envelope

    /// Asks whether the device of this enrolment holds the recipient's key; about 150 µs.
    ///
    /// - Parameters:
    ///   - recipient: from the device's record.
    ///   - enrolment: the pinned one. It is sealed into the challenge, and the device answers for no other: so nobody
    ///     enrols another's key as their own by passing its challenge on.
    ///   - topic: the app's own.
    ///   - sender: one that the device trusts.
    public init(
        to recipient: Recipient, of enrolment: Enrolment, topic: Topic, from sender: SenderKey, at now: Timestamp
    ) {
        let context = HPKEContext(
            sendingTo: recipient.x25519, from: sender.x25519, info: Challenge.info(topic: topic))
        let random = WipedBytes(count: Challenge.randomByteCount) { SecureRandom.fill($0) }
        self.init(to: recipient, of: enrolment, from: sender.sender, in: context, random: random, at: now)
    }

    /// The same with given randomness, for known answers.
    init(
        to recipient: Recipient, of enrolment: Enrolment, from sender: Sender, in context: borrowing HPKEContext,
        random: borrowing WipedBytes, at now: Timestamp
    ) {
        self.recipient = recipient
        self.enrolment = enrolment
        expires = now.advanced(bySeconds: Challenge.lifetime)
        var plaintext = [UInt8](repeating: 0, count: Challenge.plaintextByteCount)
        plaintext.withUnsafeMutableBytes { plaintext in
            random.withBytes { plaintext.copyMemory(from: $0) }
            UnsafeMutableRawBufferPointer(rebasing: plaintext[Challenge.randomByteCount...])
                .copyBytes(from: enrolment.bytes)
        }
        envelope = .sealing(plaintext, to: recipient, from: sender, in: context, sequenceNumber: 0)
        wipe(&plaintext)
        var answer = random.withBytes { Challenge.answer(random: $0, recipient: recipient, enrolment: enrolment) }
        answerHash = Self.hash(of: answer)
        wipe(&answer)
    }

    /// What the device is sent: `pushchallenge.…`.
    public var text: String { ArmouredText.challenge.text(of: envelope.bytes) }

    /// Returns if this is the answer, in time.
    ///
    /// - Throws: `late`, `malformed` or `wrongAnswer`.
    func check(_ answer: String, at now: Timestamp) throws(ChallengeError) {
        guard now <= expires else { throw .late }
        guard let answer = ArmouredText.answer.bytes(of: answer) else { throw .malformed }
        guard ConstantTime.areEqual(Self.hash(of: answer), answerHash) else { throw .wrongAnswer }
    }

    private static func hash(of answer: [UInt8]) -> [UInt8] { BLAKE2b.hash(answer, byteCount: hashByteCount) }
    private static let hashByteCount = 32
}

extension PendingChallenge {
    /// For keeping where the answer may reach another process: `pushpending.…`, 323 characters, without a line end.
    /// Not secret, but whoever can change it where it is kept can make any answer count.
    public var storedText: String {
        var bytes = enrolment.bytes + recipient.bytes
        bytes.append(bigEndian: UInt64(expires.secondsSince1970))
        bytes += answerHash + envelope.bytes
        return ArmouredText.pending.text(of: ArmouredText.appendingChecksum(to: bytes))
    }

    /// Reads what ``storedText`` gave.
    ///
    /// - Throws: `malformed` for anything else. Whether it is still in time is seen when the answer comes.
    public init(parsing text: String) throws(ChallengeError) {
        guard let bytes = ArmouredText.pending.bytes(of: text).flatMap(ArmouredText.removingChecksum) else {
            throw .malformed
        }
        guard let enrolment = Enrolment(bytes[..<32], .ed25519), let recipient = Recipient(bytes[32..<64], .x25519),
            let expires = Timestamp(secondsSince1970: bytes[64..<72].reduce(0) { $0 << 8 | Int64($1) }),
            let envelope = try? Envelope(parsing: Array(bytes[104...])), envelope.suite == .authenticated
        else { throw .malformed }
        self.enrolment = enrolment
        self.recipient = recipient
        self.expires = expires
        self.envelope = envelope
        answerHash = Array(bytes[72..<104])
    }
}

extension ArmouredText {
    /// Enrolment, recipient, expiry, hash of the answer, envelope, checksum.
    fileprivate static let pending = ArmouredText(
        prefix: "pushpending.",
        byteCounts: lengthened(challenge.byteCounts, by: 32 + 32 + 8 + 32 + checksumByteCount))
}
