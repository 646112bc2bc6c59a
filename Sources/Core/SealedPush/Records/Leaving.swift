import PushCore

/// A device's statement, signed by its enrollment key, that it is leaving its accounts at one service; no login needed.
///
/// Its counter invalidates all records signed before it, so a repeated statement has no effect later. Another service of the
/// app refuses it. A value always has a valid signature by the key it contains. Source: EnrollmentHTTP 6.
public struct Leaving: Hashable, Sendable, CustomStringConvertible {
    /// The key that signed it.
    public let enrollment: EnrollmentPublicKey
    /// Higher than in any record that the device signed before; at most 2^62.
    public let counter: UInt64
    /// The app that the device is leaving.
    public let topic: Topic
    /// The service that the device is leaving.
    public let service: ServiceName
    private let signature: [UInt8]

    /// Signs a statement for one app and service, by default the one that the topic names. The counter must be at most 2^62.
    public init(counter: UInt64, topic: Topic, service: ServiceName? = nil, signedBy key: EnrollmentPrivateKey) {
        precondition(counter <= Self.maximumCounter)
        let service = service ?? ServiceName(of: topic)
        enrollment = key.enrollment
        self.counter = counter
        (self.topic, self.service) = (topic, service)
        signature = key.sign(Self.message(Self.unsigned(enrollment, counter, service), topic))
    }

    /// Parses a ``description`` and verifies the signature for the app and service; about 200 µs.
    ///
    /// - Throws: `malformed`, `badSignature`, `otherService`.
    public init(parsing text: String, topic: Topic, service: ServiceName? = nil) throws(RecordError) {
        guard let bytes = Self.armor.bytes(of: text) else { throw .malformed }
        var reader = ByteReader(bytes)
        guard let key = reader.take(KeyAlgorithm.ed25519.publicByteCount), let counter = reader.number(),
            counter <= Self.maximumCounter, let length = reader.next(), let name = reader.take(Int(length)),
            let named = ServiceName(parsing: String(decoding: name, as: UTF8.self)),
            let signature = reader.take(Ed25519.signatureByteCount), reader.isAtEnd,
            let enrollment = EnrollmentPublicKey(key, .ed25519)
        else { throw .malformed }
        guard enrollment.verify(signature, of: Self.message(Self.unsigned(enrollment, counter, named), topic))
        else { throw .badSignature }
        guard named == service ?? ServiceName(of: topic) else { throw .otherService }
        (self.enrollment, self.counter, self.topic, self.service) = (enrollment, counter, topic, named)
        self.signature = Array(signature)
    }

    /// Whether to delete the device with this newest record, of whichever account: it has the same key and app, and its record
    /// was signed before the device left.
    public func ends(_ record: DeviceRecord) -> Bool {
        record.enrollment == enrollment && record.topic == topic && record.counter < counter
    }

    /// The text: `pushleaving.` and 142 to 347 characters.
    public var description: String { Self.armor.text(of: Self.unsigned(enrollment, counter, service) + signature) }

    private static func unsigned(
        _ enrollment: EnrollmentPublicKey, _ counter: UInt64, _ service: ServiceName
    ) -> [UInt8] {
        var bytes = enrollment.bytes
        bytes.append(bigEndian: counter)
        return bytes + counted(service.description)
    }

    private static func message(_ unsigned: [UInt8], _ topic: Topic) -> [UInt8] {
        Array("sealedpush/v1 leaving".utf8) + [0] + unsigned + counted(topic.description)
    }

    /// Returns the text after its length in one byte, so that a service and a topic can't share bytes.
    private static func counted(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + text.utf8 }

    package static let maximumCounter = RecordCounter.maximum + 1
    private static let armor = ArmoredText(
        prefix: "pushleaving.", byteCounts: 106...105 + Topic.maximumByteCount)
}
