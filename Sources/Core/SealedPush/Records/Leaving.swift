import PushCore

/// A device's statement, signed by its enrollment key, that it is leaving its accounts on a server; no login needed.
///
/// Its counter invalidates all records signed before it, so a repeated statement has no effect later. A value always has a
/// valid signature by the key it contains. Source: EnrollmentHTTP 6.
public struct Leaving: Hashable, Sendable, CustomStringConvertible {
    /// The key that signed it.
    public let enrollment: EnrollmentPublicKey
    /// Higher than in any record that the device signed before; at most 2^62.
    public let counter: UInt64
    /// The app that the device is leaving.
    public let topic: Topic
    private let signature: [UInt8]

    /// Signs a statement for one app. The counter must be at most 2^62.
    public init(counter: UInt64, topic: Topic, signedBy key: EnrollmentPrivateKey) {
        precondition(counter <= Self.maximumCounter)
        enrollment = key.enrollment
        self.counter = counter
        self.topic = topic
        signature = key.sign(Self.message(enrollment, counter, topic))
    }

    /// Parses a ``description`` and verifies the signature for the app; about 200 µs.
    ///
    /// - Throws: `malformed`, `badSignature`.
    public init(parsing text: String, topic: Topic) throws(RecordError) {
        guard let bytes = Self.armor.bytes(of: text) else { throw .malformed }
        var reader = ByteReader(bytes)
        guard let key = reader.take(KeyAlgorithm.ed25519.publicByteCount), let counter = reader.number(),
            counter <= Self.maximumCounter, let signature = reader.take(Ed25519.signatureByteCount), reader.isAtEnd,
            let enrollment = EnrollmentPublicKey(key, .ed25519)
        else { throw .malformed }
        guard enrollment.verify(signature, of: Self.message(enrollment, counter, topic)) else { throw .badSignature }
        (self.enrollment, self.counter, self.topic) = (enrollment, counter, topic)
        self.signature = Array(signature)
    }

    /// Whether to delete the device with this newest record, of whichever account: it has the same key and app, and its record
    /// was signed before the device left.
    public func ends(_ record: DeviceRecord) -> Bool {
        record.enrollment == enrollment && record.topic == topic && record.counter < counter
    }

    /// The text: `pushleaving.` and 139 characters.
    public var description: String {
        var bytes = enrollment.bytes
        bytes.append(bigEndian: counter)
        return Self.armor.text(of: bytes + signature)
    }

    private static func message(_ enrollment: EnrollmentPublicKey, _ counter: UInt64, _ topic: Topic) -> [UInt8] {
        var message = Array("sealedpush/v1 leaving".utf8) + [0] + enrollment.bytes
        message.append(bigEndian: counter)
        return message + [UInt8(topic.description.utf8.count)] + topic.description.utf8
    }

    package static let maximumCounter = RecordCounter.maximum + 1
    private static let armor = ArmoredText(prefix: "pushleaving.", byteCounts: 104...104)
}
