import PushCore

/// Keys that another key vouches for by its signature: a ``DeviceRecord`` or a ``SenderSet``.
///
/// A value always has a valid signature by the signer it names; ``check(pinned:topic:replacing:at:)`` decides whether that
/// is the right signer. It contains no secrets. Its text has at most 10,939 characters. Source: Specification 11.
public struct SignedList<Role: ListedRole>: Hashable, Sendable {
    /// The key that signed it.
    public let signer: PublicKey<Role.Signer>
    /// A counter that increases with each list that the signer signs.
    public let counter: UInt64
    /// The time of signing.
    public let created: Timestamp
    /// The last second at which it is valid.
    public let expires: Timestamp
    /// The number of days for which the device keeps a retired key's secret, 1 to 31; 0 in a sender set.
    public let keeps: Int
    /// The app that the list is for.
    public let topic: Topic
    /// The keys of known algorithms, newest first: 1 to 16, and distinct.
    public let keys: [PublicKey<Role>]
    /// Whether it also lists keys of algorithms that this version doesn't know. They are skipped, but stay in the list.
    package let hasUnknownKeys: Bool
    /// The whole list, including the signature.
    let bytes: [UInt8]
}

/// A device's recipients, signed by its enrollment key, from which a server learns the device's keys. `EnrolledDevice` of
/// PushSender checks it at the right times. Source: Specification 11, type 1.
public typealias DeviceRecord = SignedList<DeviceRole>

/// An app's senders, signed by its authority, from which a device learns whom to trust. Source: Specification 11, type 2.
public typealias SenderSet = SignedList<SenderRole>

extension DeviceRecord {
    /// Same as ``SignedList/keys``.
    public var recipients: [DevicePublicKey] { keys }
    /// The key that signed it.
    public var enrollment: EnrollmentPublicKey { signer }
}

extension SenderSet {
    /// Same as ``SignedList/keys``.
    public var senders: [SenderPublicKey] { keys }
    /// The key that signed it.
    public var authority: AuthorityPublicKey { signer }
}

extension SignedList {
    /// Signs a new list.
    ///
    /// - Parameters:
    ///   - keys: 1 to 16 distinct keys, newest first.
    ///   - topic: the app's topic.
    ///   - counter: higher than in any list that this key signed for the topic before, and below 2^62.
    ///   - created: the time now.
    ///   - expires: later than `created`; the list is invalid after this second.
    ///   - keeps: how many days the device keeps a retired key's secret, 1 to 31; nil for 30, or for a sender set.
    ///   - key: the signing key, which receivers pin.
    /// - Throws: `malformed` if a parameter breaks these rules, or if the list is larger than 8,192 bytes.
    public init(
        of keys: [PublicKey<Role>], topic: Topic, counter: UInt64, created: Timestamp, expires: Timestamp,
        keeps: Int? = nil, signedBy key: PrivateKey<Role.Signer>
    ) throws(RecordError) {
        let keeps = keeps ?? min(RotationRules.keeps, ListForm.keeps(Role.kind).upperBound)
        guard Self.areAllowed(keys), counter <= RecordCounter.maximum, created < expires,
            ListForm.keeps(Role.kind).contains(keeps)
        else { throw .malformed }
        var bytes = [Self.type, ListForm.version]
        bytes += key.publicKey.bytes
        bytes.append(bigEndian: counter)
        bytes.append(bigEndian: UInt64(created.secondsSince1970))
        bytes.append(bigEndian: UInt64(expires.secondsSince1970))
        bytes.append(UInt8(keeps))
        bytes.append(UInt8(topic.description.utf8.count))
        bytes += topic.description.utf8
        bytes.append(UInt8(keys.count))
        for key in keys {
            bytes.append(key.algorithm.identifier)
            bytes.append(bigEndian: UInt16(key.bytes.count))
            bytes += key.bytes
        }
        bytes += key.sign(Self.signedMessage(bytes[...]))
        guard Self.byteCounts.contains(bytes.count) else { throw .malformed }
        self.init(
            signer: key.publicKey, counter: counter, created: created, expires: expires, keeps: keeps, topic: topic,
            keys: keys, hasUnknownKeys: false, bytes: bytes)
    }

    /// Parses `pushrecord.…`, at most 10,939 characters, and verifies its signature; about 200 µs.
    ///
    /// - Throws: `malformed`, `wrongChecksum`, `wrongType`, `unsupported`, or `badSignature`.
    public init(parsing text: String) throws(RecordError) {
        guard let armored = Self.armor.bytes(of: text) else { throw .malformed }
        guard let bytes = ArmoredText.removingChecksum(from: armored) else { throw .wrongChecksum }
        try self.init(parsing: bytes)
    }

    private init(parsing bytes: [UInt8]) throws(RecordError) {
        guard Self.byteCounts.contains(bytes.count) else { throw .malformed }
        var reader = ByteReader(bytes)
        guard let type = reader.next(), let version = reader.next() else { throw .malformed }
        guard type == Self.type else { throw .wrongType }
        // Nothing else of another version is known, not even the signature's place.
        guard version == ListForm.version else { throw .unsupported }
        let signing = KeyAlgorithm.ed25519
        guard let signerBytes = reader.take(signing.publicByteCount),
            let counter = reader.number(), counter <= RecordCounter.maximum,
            let created = reader.number().flatMap(Timestamp.init(parsing:)),
            let expires = reader.number().flatMap(Timestamp.init(parsing:)), created < expires,
            let keeps = reader.next().map(Int.init), ListForm.keeps(Role.kind).contains(keeps),
            let topic = reader.next().flatMap({ reader.take(Int($0)) }).flatMap(Topic.init(parsing:)),
            let keyCount = reader.next().map(Int.init), ListForm.keyCounts.contains(keyCount)
        else { throw .malformed }
        var keys: [PublicKey<Role>] = []
        var listed: Set<ArraySlice<UInt8>> = []
        for _ in 1...keyCount {
            let start = reader.position
            guard let identifier = reader.next(), let byteCount = reader.number(byteCount: 2).map(Int.init),
                byteCount > 0, let keyBytes = reader.take(byteCount),
                listed.insert(bytes[start..<reader.position]).inserted
            else { throw .malformed }
            guard let algorithm = Role.kind.algorithms.first(where: { $0.identifier == identifier }) else { continue }
            guard let key = PublicKey<Role>(keyBytes, algorithm) else { throw .malformed }
            keys.append(key)
        }
        let signed = bytes[..<reader.position]
        guard let signature = reader.take(Ed25519.signatureByteCount), reader.isAtEnd,
            // The curve check comes last, since it costs more than all the rest.
            let signer = PublicKey<Role.Signer>(signerBytes, signing)
        else { throw .malformed }
        guard signer.verify(signature, of: Self.signedMessage(signed)) else { throw .badSignature }
        guard !keys.isEmpty, keys.allSatisfy(\.algorithm.isAvailable) else { throw .unsupported }
        self.init(
            signer: signer, counter: counter, created: created, expires: expires, keeps: keeps, topic: topic,
            keys: keys, hasUnknownKeys: keys.count < keyCount, bytes: bytes)
    }

    /// Checks that this list is valid now, for a caller that pinned a signer and knows an earlier list.
    ///
    /// A known list counts no matter who signed it: if several signers are pinned, alternating between them must not bring
    /// an old list back. The signature was verified when the value was created. Source: Specification 11.3.
    ///
    /// - Parameters:
    ///   - signer: a device's enrollment key, as pinned within the app's login, or the app's own authority, compiled into
    ///     it; never taken from the list itself.
    ///   - topic: the app's own topic.
    ///   - known: the newest list so far by any signer pinned now, stored with the keys; ignored if it's for another topic.
    ///   - now: the time now.
    /// - Throws: in this order, `foreignSigner`, `otherTopic`, `expired`, `notYetValid`, `rolledBack`, `conflicting`.
    public func check(
        pinned signer: PublicKey<Role.Signer>, topic: Topic, replacing known: Self?, at now: Timestamp
    ) throws(RecordError) {
        guard self.signer == signer else { throw .foreignSigner }
        guard self.topic == topic else { throw .otherTopic }
        guard now <= expires else { throw .expired }
        guard created.seconds(since: now) <= TimeRules.maximumLead(isAnonymous: false) else { throw .notYetValid }
        guard let known, known.topic == topic else { return }
        guard counter >= known.counter else { throw .rolledBack }
        guard counter > known.counter || bytes == known.bytes else { throw .conflicting }
    }

    private static func areAllowed(_ keys: [PublicKey<Role>]) -> Bool {
        ListForm.keyCounts.contains(keys.count) && Set(keys).count == keys.count
    }

    /// The bytes that the signature covers. Specification 11.2.
    private static func signedMessage(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        Array("sealedpush/v1 record".utf8) + [0] + bytes
    }

    /// The type of the keys, which also determines who signs them.
    private static var type: UInt8 { Role.kind == .device ? 1 : 2 }

    private static var armor: ArmoredText {
        let (shortest, longest) = (byteCounts.lowerBound, byteCounts.upperBound)
        let checksum = ArmoredText.checksumByteCount
        return ArmoredText(prefix: "pushrecord.", byteCounts: shortest + checksum...longest + checksum)
    }

    /// The maximum number of characters in its text.
    package static var maximumCharacterCount: Int { armor.characterCounts.upperBound }

    /// The allowed lengths, from a list of one key of one byte and a topic of one byte.
    private static var byteCounts: ClosedRange<Int> {
        let others = 5 + KeyAlgorithm.ed25519.publicByteCount + 3 * 8 + Ed25519.signatureByteCount
        return others + 1 + 4...ListForm.maximumByteCount
    }
}

extension SignedList: CustomStringConvertible {
    /// The text that ``init(parsing:)`` parses: exactly one for each list.
    public var description: String { Self.armor.text(of: ArmoredText.appendingChecksum(to: bytes)) }
}

extension Timestamp {
    package init?(parsing number: UInt64) {
        guard let seconds = Int64(exactly: number) else { return nil }
        self.init(secondsSince1970: seconds)
    }
}

extension Topic {
    init?(parsing bytes: ArraySlice<UInt8>) { self.init(parsing: String(decoding: bytes, as: UTF8.self)) }
}

extension [UInt8] {
    package mutating func append(bigEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}
