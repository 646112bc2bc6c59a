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
    /// 1 to 16 distinct keys, newest first.
    public let keys: [PublicKey<Role>]
    /// The whole list, including the signature.
    let bytes: [UInt8]
}

/// A device's recipients, signed by its enrollment key, from which a server learns the device's keys. `EnrolledDevice` of
/// PushSender checks it at the right times. Source: Specification 11, type 1.
public typealias DeviceRecord = SignedList<DeviceRole>

/// An app's senders, signed by its authority, from which a device learns whom to trust. Source: Specification 11, type 2.
public typealias SenderSet = SignedList<SenderRole>

extension DeviceRecord {
    /// 1 to 16 distinct keys, newest first.
    public var recipients: [DevicePublicKey] { keys }
    /// The key that signed it.
    public var enrollment: EnrollmentPublicKey { signer }
}

extension SenderSet {
    /// 1 to 16 distinct keys, newest first.
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
        for key in keys { bytes += [key.algorithm.identifier] + key.bytes }
        bytes += key.sign(Self.signedMessage(bytes[...]))
        guard Self.byteCounts.contains(bytes.count) else { throw .malformed }
        self.init(
            signer: key.publicKey, counter: counter, created: created, expires: expires, keeps: keeps, topic: topic,
            keys: keys, bytes: bytes)
    }

    /// Parses `pushrecord.…`, at most 10,939 characters, and verifies its signature; about 200 µs.
    public init(parsing text: String) throws(RecordError) {
        guard let armoured = Self.armour.bytes(of: text) else { throw .malformed }
        guard let bytes = ArmouredText.removingChecksum(from: armoured) else { throw .wrongChecksum }
        try self.init(parsing: bytes)
    }

    private init(parsing bytes: [UInt8]) throws(RecordError) {
        guard Self.byteCounts.contains(bytes.count) else { throw .malformed }
        var reader = ByteReader(bytes)
        guard let type = reader.next(), let version = reader.next() else { throw .malformed }
        guard type == Self.type else { throw .wrongType }
        let signing = KeyAlgorithm.ed25519
        guard version == ListForm.version, let signerBytes = reader.take(signing.publicByteCount),
            let counter = reader.number(), counter <= RecordCounter.maximum,
            let created = reader.number().flatMap(Timestamp.init(parsing:)),
            let expires = reader.number().flatMap(Timestamp.init(parsing:)), created < expires,
            let keeps = reader.next().map(Int.init), ListForm.keeps(Role.kind).contains(keeps),
            let topic = reader.next().flatMap({ reader.take(Int($0)) }).flatMap(Topic.init(parsing:)),
            let keyCount = reader.next().map(Int.init), ListForm.keyCounts.contains(keyCount)
        else { throw .malformed }
        var keys: [PublicKey<Role>] = []
        for _ in 1...keyCount {
            guard let identifier = reader.next(),
                let algorithm = Role.kind.algorithms.first(where: { $0.identifier == identifier }),
                let key = reader.take(algorithm.publicByteCount).flatMap({ PublicKey<Role>($0, algorithm) })
            else { throw .malformed }
            keys.append(key)
        }
        let signed = bytes[..<reader.position]
        guard let signature = reader.take(Ed25519.signatureByteCount), reader.isAtEnd, Self.areAllowed(keys),
            // The curve check comes last, since it costs more than all the rest.
            let signer = PublicKey<Role.Signer>(signerBytes, signing)
        else { throw .malformed }
        guard signer.verify(signature, of: Self.signedMessage(signed)) else { throw .badSignature }
        guard keys.allSatisfy(\.algorithm.isAvailable) else { throw .unsupported }
        self.init(
            signer: signer, counter: counter, created: created, expires: expires, keeps: keeps, topic: topic,
            keys: keys, bytes: bytes)
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

    private static var armour: ArmouredText {
        let (shortest, longest) = (byteCounts.lowerBound, byteCounts.upperBound)
        let checksum = ArmouredText.checksumByteCount
        return ArmouredText(prefix: "pushrecord.", byteCounts: shortest + checksum...longest + checksum)
    }

    /// The maximum number of characters in its text.
    package static var maximumCharacterCount: Int { armour.characterCounts.upperBound }

    /// The allowed lengths, from a list of one key and a topic of one byte.
    private static var byteCounts: ClosedRange<Int> {
        let others = 5 + KeyAlgorithm.ed25519.publicByteCount + 3 * 8 + Ed25519.signatureByteCount
        let shortest = Role.kind.algorithms.map(\.publicByteCount).min() ?? 0
        return others + 1 + 1 + shortest...ListForm.maximumByteCount
    }
}

extension SignedList: CustomStringConvertible {
    /// The text that ``init(parsing:)`` parses: exactly one for each list.
    public var description: String { Self.armour.text(of: ArmouredText.appendingChecksum(to: bytes)) }
}

/// The limits of a list. Source: Specification 11.1.
enum ListForm {
    static let version: UInt8 = 2
    static let keyCounts = 1...16
    static let maximumByteCount = 8_192

    /// Returns the allowed days for keeping retired secrets; a sender set has none.
    static func keeps(_ kind: KeyKind) -> ClosedRange<Int> { kind == .device ? 1...31 : 0...0 }
}

/// The increasing counters of signed records: a device's in its records, an authority's in its sender sets.
package enum RecordCounter {
    /// Returns one more than the last counter, but at least the time in seconds since 1970. Source: Specification 11.1.5.
    /// The time is needed after a restored backup or copied folder. Its last counter is older than the one that servers and
    /// apps have seen, and they reject lower counters. The clock provides a higher one without asking them, since no one
    /// signs more than once per second for long. After the maximum, returns one that no list can have.
    package static func next(after last: UInt64?, at now: Timestamp) -> UInt64 {
        let next = min(last ?? 0, maximum) + 1
        return max(next, UInt64(now.secondsSince1970))
    }

    /// The highest counter of a list. A leaving may have one more, so that it outranks every record.
    package static let maximum: UInt64 = 1 << 62 - 1
}

/// Reads bytes from the front. If there are too few, returns nil and doesn't advance.
package struct ByteReader {
    private let bytes: [UInt8]
    package private(set) var position = 0

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    package mutating func next() -> UInt8? { take(1)?.first }

    package mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= bytes.count - position else { return nil }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// Reads eight bytes, big endian.
    package mutating func number() -> UInt64? { take(8)?.reduce(0) { $0 << 8 | UInt64($1) } }
}

extension Timestamp {
    package init?(parsing number: UInt64) {
        guard let seconds = Int64(exactly: number) else { return nil }
        self.init(secondsSince1970: seconds)
    }
}

extension Topic {
    fileprivate init?(parsing bytes: ArraySlice<UInt8>) { self.init(parsing: String(decoding: bytes, as: UTF8.self)) }
}

extension [UInt8] {
    package mutating func append(bigEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}

/// A reason why a signed record isn't accepted or can't be created. The codes are stable. Contains no part of the record.
/// Source: Specification 11.3.
public enum RecordError: String, Error, CaseIterable, Sendable {
    /// Not in the form of Specification 11.1.
    case malformed
    /// A typing or copying error.
    case wrongChecksum = "wrong-checksum"
    /// Not the expected type of record.
    case wrongType = "wrong-type"
    /// Not signed by the key that it names.
    case badSignature = "bad-signature"
    /// Not signed by the pinned key.
    case foreignSigner = "foreign-signer"
    /// For another app.
    case otherTopic = "other-topic"
    /// Created more than 26 hours in the future.
    case notYetValid = "not-yet-valid"
    /// Past its expiry.
    case expired
    /// Older than the known record.
    case rolledBack = "rolled-back"
    /// A different record with the known record's counter.
    case conflicting
    /// None of its recipients has answered a challenge yet.
    case unproven
    /// It names a hybrid key, but no library here has ML-KEM.
    case unsupported
}

extension RecordError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .malformed:
            """
            the record is malformed; its text must begin with pushrecord. and contain no spaces, it must name 1 to 16 distinct \
            keys, and it must expire after it was created
            """
        case .wrongChecksum: "the record was altered or truncated in transit; copy all of it again"
        case .wrongType: "this is the wrong type of record; a device record and a sender set can't replace each other"
        case .badSignature: "the record is not signed by the key it names; it was altered or forged"
        case .foreignSigner: "the record is not signed by the pinned key; ask its owner which key is right"
        case .otherTopic: "the record is for another app: its topic differs"
        case .notYetValid: "the record was created more than 26 hours ahead of this clock; compare the two clocks"
        case .expired: "the record has expired; ask for a new one"
        case .rolledBack: "the record is older than the known one; ask for the newest"
        case .conflicting:
            "two different records have this counter; have a new one signed with a higher counter"
        case .unproven: "none of the record's recipients has answered a challenge yet; send one"
        case .unsupported:
            "the record names a hybrid key, which needs ML-KEM; use libsodium 1.0.22 or this package's Server trait"
        }
    }
}

/// Public bytes as text: a prefix that identifies their type, then strict base64url without padding.
package struct ArmouredText {
    let prefix: String
    let byteCounts: ClosedRange<Int>

    var characterCounts: ClosedRange<Int> {
        let count = { prefix.utf8.count + Base64URL.textByteCount(of: $0) }
        return count(byteCounts.lowerBound)...count(byteCounts.upperBound)
    }

    package func text(of bytes: [UInt8]) -> String { prefix + Base64URL.encode(bytes) }

    /// Returns nil if the prefix or length is wrong, which is checked first, or if the text isn't canonical.
    package func bytes(of text: String) -> [UInt8]? {
        guard characterCounts.contains(text.utf8.count), text.utf8.starts(with: prefix.utf8) else { return nil }
        return Base64URL.decode(text.utf8.dropFirst(prefix.utf8.count))
    }

    /// Returns the bytes, followed by the first four of their SHA-256.
    package static func appendingChecksum(to bytes: [UInt8]) -> [UInt8] { bytes + checksum(of: bytes[...]) }

    /// Returns the bytes before the checksum, or nil if the checksum is wrong.
    package static func removingChecksum(from bytes: [UInt8]) -> [UInt8]? {
        let content = bytes.dropLast(checksumByteCount)
        guard bytes.suffix(checksumByteCount) == checksum(of: content) else { return nil }
        return Array(content)
    }

    package static let checksumByteCount = 4

    private static func checksum(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        bytes.withUnsafeBytes { SHA256.hash($0) }.prefix(checksumByteCount)
    }
}

/// The senders that a device trusts: those built into its app, and authorities that may replace them.
///
/// The built-in senders apply until the first sender set of a pinned authority arrives. After that, only those in the
/// newest set do, so that a stolen key can be removed without updating the app. The built-in senders don't return when
/// a set expires: an attacker who holds back the next set must not bring an old key back. Source: Specification 11.
public struct TrustedSenders: Hashable, Sendable {
    /// The built-in senders, most likely first.
    public let senders: [SenderPublicKey]
    /// The authorities whose sender sets replace the built-in senders.
    public let authorities: [AuthorityPublicKey]

    /// Creates the trust that an app is built with.
    public init(_ senders: [SenderPublicKey], authorities: [AuthorityPublicKey] = []) {
        self.senders = senders
        self.authorities = authorities
    }

    /// Returns the senders that are trusted now, in the order of trying. `set` is the newest set of these authorities that
    /// the device has accepted, from its key store.
    package func senders(following set: SenderSet?, topic: Topic, at now: Timestamp) -> [SenderPublicKey] {
        // A set by an authority that the app no longer pins is ignored.
        guard let set, authorities.contains(set.authority), set.topic == topic else { return senders }
        do throws(RecordError) {
            try check(set, topic: topic, replacing: set, at: now)
            return set.senders
        } catch { return [] }
    }

    /// Checks whether to accept a set: signed by a pinned authority, for this app, valid, and no older than the known one.
    public func check(
        _ set: SenderSet, topic: Topic, replacing known: SenderSet?, at now: Timestamp
    ) throws(RecordError) {
        guard let authority = authorities.first(where: { $0 == set.authority }) else { throw .foreignSigner }
        // A set by an authority that the app no longer pins is ignored, or a stolen key could block the counter forever.
        let known = known.flatMap { authorities.contains($0.authority) ? $0 : nil }
        try set.check(pinned: authority, topic: topic, replacing: known, at: now)
    }
}
