import Foundation
import TestSupport

@testable import PushCore
@testable import PushSender
@testable import SealedPush

/// A device, a sender it trusts, and an app, with what is needed to seal from one to the other.
struct Exchange: Sendable {
    static let topic: Topic = "com.example.app"
    static let now = Timestamp(secondsSince1970: 1_760_000_000)!

    var identity = DevicePrivateKey()
    var senderKey = SenderPrivateKey()
    var now = Exchange.now

    /// Returns an opener; if `keys` is nil, with the one identity.
    func opener(
        keys: (any KeyStore)? = nil, trusting senders: [SenderPublicKey]? = nil, allowsAnonymous: Bool = false
    ) -> Opener {
        Opener(
            topic: Self.topic, keys: keys ?? InMemoryKeyStore([DeviceKey(identity, created: now)]),
            trusting: senders ?? [senderKey.sender], allowsAnonymous: allowsAnonymous)
    }

    /// Returns content that opens, with changes.
    func content(_ change: (inout Content) -> Void = { _ in }) -> Content {
        var content = Content(title: "Hello", body: "A message")
        content.id = .random()
        content.topic = Self.topic
        content.sent = now
        change(&content)
        return content
    }

    func context(topic: Topic = Exchange.topic) -> SealingContext {
        SealingContext(to: identity.recipient, from: senderKey, info: EnvelopeInfo(topic: topic))
    }

    func seal(_ plaintext: [UInt8], topic: Topic = Exchange.topic) -> Envelope { context(topic: topic).seal(plaintext) }

    func seal(_ content: Content, topic: Topic = Exchange.topic) -> Envelope {
        seal(padded(content.json), topic: topic)
    }

    func sealAnonymously(_ content: Content) -> Envelope {
        Envelope.sealingAnonymously(padded(content.json), to: identity.recipient)
    }

    /// Returns the content and its padding, up to the next 256 bytes.
    func padded(_ content: [UInt8]) -> [UInt8] {
        let count = content.count + 1
        return content + [0x80] + [UInt8](repeating: 0, count: (256 - count % 256) % 256)
    }
}

/// Returns the code with which `envelope` is refused, or nil if it opens.
func refusal(_ opener: Opener, _ envelope: Envelope, at now: Timestamp = Exchange.now) -> OpenError? {
    refusal { () throws(OpenError) in _ = try opener.open(envelope, at: now) }
}

/// A store with a fixed answer.
struct FixedKeyStore: KeyStore {
    var keys: [DeviceKey] = []
    var error: KeyStoreError?

    func keys(matching isWanted: (DevicePublicKey) -> Bool) throws(KeyStoreError) -> [DeviceKey] {
        if let error { throw error }
        return keys
    }
}

extension PrivateKey {
    /// Creates a key from given bytes, since the public interface reads only text.
    convenience init(secret: [UInt8]) throws {
        let prefix = Role.kind.secretPrefix(Role.kind.algorithms[0])
        try self.init(parsing: ReferenceBech32.encode(prefix, bytes: secret).uppercased())
    }

    var secretText: String { withSecretText { String(decoding: $0, as: UTF8.self) } }
    var secretBytes: [UInt8] { withBytes { Array($0) } }
}

/// A vector in which two keys have the same hint; only the second one opens it.
struct SharedHint {
    let envelope: Envelope
    let identities: [DevicePrivateKey]
    let senders: [SenderPublicKey]
    let ephemeral: [UInt8]
    /// nil in an anonymous vector.
    let sender: SenderPrivateKey?

    init(_ name: String) throws {
        let vector = try NamedLines(Checkout.folder.appending(path: "Tests/Vectors/good-\(name)-sharing-hint.txt"))
        try self.init(vector)
    }

    static func anonymous() throws -> SharedHint {
        let path = "Tests/Vectors/good-identities-sharing-hint-anonymous.txt"
        return try SharedHint(try NamedLines(Checkout.folder.appending(path: path)))
    }

    private init(_ vector: NamedLines) throws {
        envelope = try Envelope(parsing: try vector.required("field"))
        identities = try vector.numbered("identity").map { try DevicePrivateKey(parsing: $0) }
        senders = try vector.numbered("sender").map { try SenderPublicKey(parsing: $0) }
        ephemeral = Hex.decode(try vector.required("ephemeral-secret")) ?? []
        sender = try vector["sender-secret"].flatMap(Hex.decode).map { try SenderPrivateKey(secret: $0) }
    }
}

/// A device with an enrollment key and recipients, the server with which it enrolls, and their clock.
struct Enrolling: Sendable {
    static let topic = Exchange.topic
    static let now = Exchange.now

    let enrollmentKey = EnrollmentPrivateKey()
    let senderKey = SenderPrivateKey()
    /// Oldest first.
    var identities = [DevicePrivateKey()]

    var enrollment: EnrollmentPublicKey { enrollmentKey.enrollment }
    var recipients: [DevicePublicKey] { identities.reversed().map(\.recipient) }

    func record(
        of recipients: [DevicePublicKey]? = nil, topic: Topic = Self.topic, counter: UInt64 = 7,
        created: Timestamp = Self.now, expires: Timestamp = Self.now.advanced(bySeconds: 90 * 86_400),
        keeps: Int? = nil
    ) throws(RecordError) -> DeviceRecord {
        try DeviceRecord(
            of: recipients ?? self.recipients, topic: topic, counter: counter, created: created, expires: expires,
            keeps: keeps, signedBy: enrollmentKey)
    }

    func device() throws(RecordError) -> EnrolledDevice {
        try EnrolledDevice(pinning: try record(), topic: Self.topic, at: Self.now)
    }

    func challenge(
        to recipient: DevicePublicKey? = nil, of enrollment: EnrollmentPublicKey? = nil, topic: Topic = Self.topic,
        at now: Timestamp = Self.now
    ) -> PendingChallenge {
        PendingChallenge(
            to: recipient ?? recipients[0], of: enrollment ?? self.enrollment, topic: topic, from: senderKey, at: now)
    }

    /// Returns the device's answer to a challenge's text.
    func answer(
        _ text: String, enrollment: EnrollmentPublicKey? = nil, topic: Topic = Self.topic, keys: (any KeyStore)? = nil,
        trusting senders: [SenderPublicKey]? = nil
    ) throws(ChallengeError) -> String {
        try Challenge.answer(
            text, enrollment: enrollment ?? self.enrollment, topic: topic, keys: keys ?? store,
            trusting: senders ?? [senderKey.sender])
    }

    var store: InMemoryKeyStore { InMemoryKeyStore(identities.map { DeviceKey($0, created: Self.now) }) }
}
