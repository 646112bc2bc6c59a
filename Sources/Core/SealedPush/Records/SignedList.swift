import PushCore

/// Keys that another key vouches for by its signature: a ``DeviceRecord`` or a ``SenderSet``.
///
/// A value is always one that the signer named in it has signed; whether that is the right one is for
/// ``check(pinned:topic:replacing:at:)``. There is nothing secret in it. At most 10,939 characters of text.
/// Source: Specification 11.
public struct SignedList<Role: ListedRole>: Hashable, Sendable {
    /// Who signed.
    public let signer: PublicKey<Role.Signer>
    /// Only rises, from one list of a signer to the next.
    public let counter: UInt64
    /// When it was signed.
    public let created: Timestamp
    /// The last second at which it is believed.
    public let expires: Timestamp
    /// For how many days the device keeps a retired key's secret, 1 to 31; 0 in a sender set.
    public let keeps: Int
    /// The app it is for.
    public let topic: Topic
    /// 1 to 16, none twice, newest first.
    public let keys: [PublicKey<Role>]
    /// The whole list, signature included.
    let bytes: [UInt8]
}

/// A device's recipients, signed by its enrollment key: what a server learns its keys from.
///
/// `EnrolledDevice`, of PushSender, checks it at the right moments. Source: Specification 11, type 1.
public typealias DeviceRecord = SignedList<DeviceRole>

/// The senders of an app, signed by its authority: what a device learns from whom to believe.
///
/// Source: Specification 11, type 2.
public typealias SenderSet = SignedList<SenderRole>

extension DeviceRecord {
    /// 1 to 16, none twice, newest first.
    public var recipients: [DevicePublicKey] { keys }
    /// Who signed.
    public var enrollment: EnrollmentPublicKey { signer }
}

extension SenderSet {
    /// 1 to 16, none twice, newest first.
    public var senders: [SenderPublicKey] { keys }
    /// Who signed.
    public var authority: AuthorityPublicKey { signer }
}

extension SignedList {
    /// Signs a new list.
    ///
    /// - Parameters:
    ///   - keys: 1 to 16, none twice, newest first.
    ///   - counter: higher than in any list that this key has signed for the topic before.
    ///   - expires: after `created`; from the next second on, the list is refused.
    ///   - keeps: for how many days the device keeps a retired key's secret, 1 to 31; nil for 30, or for a sender set.
    /// - Throws: `malformed` if a parameter breaks these rules, or the list has more than 8,192 bytes.
    public init(
        of keys: [PublicKey<Role>], topic: Topic, counter: UInt64, created: Timestamp, expires: Timestamp,
        keeps: Int? = nil, signedBy key: PrivateKey<Role.Signer>
    ) throws(RecordError) {
        let keeps = keeps ?? min(RotationRules.keeps, ListForm.keeps(Role.kind).upperBound)
        guard Self.areAllowed(keys), created < expires, ListForm.keeps(Role.kind).contains(keeps) else {
            throw .malformed
        }
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

    /// Reads `pushrecord.…`, at most 10,939 characters, and verifies its signature; about 200 µs.
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
            let counter = reader.number(), let created = reader.number().flatMap(Timestamp.init(parsing:)),
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
            // The curve last: it costs more than all the rest.
            let signer = PublicKey<Role.Signer>(signerBytes, signing)
        else { throw .malformed }
        guard signer.verify(signature, of: Self.signedMessage(signed)) else { throw .badSignature }
        guard keys.allSatisfy(\.algorithm.isAvailable) else { throw .unsupported }
        self.init(
            signer: signer, counter: counter, created: created, expires: expires, keeps: keeps, topic: topic,
            keys: keys, bytes: bytes)
    }

    /// Whether this list is to be believed now, by whoever pinned a signer and knows an earlier list.
    ///
    /// A known list counts whoever has signed it: where several signers are pinned at once, going back and forth between
    /// them must not bring an old list back. The signature was verified when the value was made. Source: Specification 11.3.
    ///
    /// - Parameters:
    ///   - signer: a device's enrollment, as pinned inside the app's login, or the app's own authority, compiled into it;
    ///     never taken from the list itself.
    ///   - topic: the app's own.
    ///   - known: the newest list so far of any signer that is still pinned, kept beside the keys. Of another topic, it
    ///     counts as none.
    /// - Throws: in this order `foreignSigner`, `otherTopic`, `expired`, `notYetValid`, `rolledBack`, `conflicting`.
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

    /// Specification 11.2: what the signature covers.
    private static func signedMessage(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        Array("sealedpush/v1 record".utf8) + [0] + bytes
    }

    /// What the keys are, and so who signs.
    private static var type: UInt8 { Role.kind == .device ? 1 : 2 }

    private static var armour: ArmouredText {
        let (shortest, longest) = (byteCounts.lowerBound, byteCounts.upperBound)
        let checksum = ArmouredText.checksumByteCount
        return ArmouredText(prefix: "pushrecord.", byteCounts: shortest + checksum...longest + checksum)
    }

    /// The most characters of its text.
    package static var maximumCharacterCount: Int { armour.characterCounts.upperBound }

    /// From one key and a topic of one byte on.
    private static var byteCounts: ClosedRange<Int> {
        let others = 5 + KeyAlgorithm.ed25519.publicByteCount + 3 * 8 + Ed25519.signatureByteCount
        let shortest = Role.kind.algorithms.map(\.publicByteCount).min() ?? 0
        return others + 1 + 1 + shortest...ListForm.maximumByteCount
    }
}

extension SignedList: CustomStringConvertible {
    /// The text that ``init(parsing:)`` reads: one for each list.
    public var description: String { Self.armour.text(of: ArmouredText.appendingChecksum(to: bytes)) }
}

/// The limits of a list. Source: Specification 11.1.
enum ListForm {
    static let version: UInt8 = 2
    static let keyCounts = 1...16
    static let maximumByteCount = 8_192

    /// For how many days retired secrets may be kept; a sender set has none.
    static func keeps(_ kind: KeyKind) -> ClosedRange<Int> { kind == .device ? 1...31 : 0...0 }
}

/// The counters of signed records, which only rise: a device's in its records, an authority's in its sender sets.
package enum RecordCounter {
    /// One more than the last, and no less than the time in seconds since 1970. Source: Specification 11.1.5.
    ///
    /// The reason is what comes back from a backup, or from a copied folder: its last counter is older than what servers
    /// and apps have seen, and they refuse whatever counts less. The clock tells a higher one without asking them, as
    /// nobody signs more than once a second for long.
    package static func next(after last: UInt64?, at now: Timestamp) -> UInt64 {
        let (next, isOverflow) = (last ?? 0).addingReportingOverflow(1)
        return isOverflow ? .max : max(next, UInt64(now.secondsSince1970))
    }
}

/// Reads bytes from the front; returns nil, and stays where it is, when there are too few.
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

    /// Eight bytes, big endian.
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

/// Why a signed record is not believed, or can't be made. The codes are stable. Never holds anything of the record.
///
/// Source: Specification 11.3.
public enum RecordError: String, Error, CaseIterable, Sendable {
    /// Not in the form of Specification 11.1.
    case malformed
    /// A typing or copying error.
    case wrongChecksum = "wrong-checksum"
    /// A record of another kind than the one that is expected here.
    case wrongType = "wrong-type"
    /// Not signed by the key that it names.
    case badSignature = "bad-signature"
    /// Signed by another key than the pinned one.
    case foreignSigner = "foreign-signer"
    /// Made for another app.
    case otherTopic = "other-topic"
    /// Made more than 26 hours ahead of now.
    case notYetValid = "not-yet-valid"
    /// Past its end.
    case expired
    /// Older than the record that is known already.
    case rolledBack = "rolled-back"
    /// As new as the record that is known already, and not the same.
    case conflicting
    /// None of its recipients has answered a challenge yet.
    case unproven
    /// It names a hybrid key, and no library here has ML-KEM.
    case unsupported
}

extension RecordError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .malformed:
            """
            this is no well-formed record: its text begins with pushrecord. and has no spaces, it names 1 to 16 keys, none \
            twice, and it ends after it was made
            """
        case .wrongChecksum: "the record was altered or cut on the way: copy it again, as a whole"
        case .wrongType: "this is another kind of record: a device's and a sender set can't stand for one another"
        case .badSignature: "the record is not signed by the key it names: it was altered or forged"
        case .foreignSigner: "the record is signed by another key than the pinned one: ask its owner which is right"
        case .otherTopic: "the record is for another app: its topic differs"
        case .notYetValid: "the record was made more than 26 hours ahead of this clock: compare the two clocks"
        case .expired: "the record has expired: ask for a new one"
        case .rolledBack: "the record is older than the one that is known already: ask for the newest"
        case .conflicting:
            "there are two different records with this counter: have a new one signed, with a higher counter"
        case .unproven: "none of the record's recipients has answered a challenge yet: send one"
        case .unsupported:
            "the record names a hybrid key, which needs ML-KEM: libsodium 1.0.22, or this package's trait Server"
        }
    }
}

/// Public bytes as text: a prefix that says what they are, then base64url without padding, strictly.
package struct ArmouredText {
    let prefix: String
    let byteCounts: ClosedRange<Int>

    var characterCounts: ClosedRange<Int> {
        let count = { prefix.utf8.count + Base64URL.textByteCount(of: $0) }
        return count(byteCounts.lowerBound)...count(byteCounts.upperBound)
    }

    package func text(of bytes: [UInt8]) -> String { prefix + Base64URL.encode(bytes) }

    /// Nil for another prefix, another length, or what is not canonical; the length is looked at first.
    package func bytes(of text: String) -> [UInt8]? {
        guard characterCounts.contains(text.utf8.count), text.utf8.starts(with: prefix.utf8) else { return nil }
        return Base64URL.decode(text.utf8.dropFirst(prefix.utf8.count))
    }

    /// The bytes, and the first four of their SHA-256.
    package static func appendingChecksum(to bytes: [UInt8]) -> [UInt8] { bytes + checksum(of: bytes[...]) }

    /// The bytes before the checksum; nil where it is another's.
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

/// Whom a device believes: senders that its app has built in, and authorities that may replace them.
///
/// Until the first sender set of a pinned authority arrives, the senders count. From then on only those of the newest set
/// do, so that a stolen key goes out of use without an update of the app. A set that has expired is not followed by the
/// built-in senders again: who can hold back the next one must not bring an old key back. Source: Specification 11.
public struct TrustedSenders: Hashable, Sendable {
    /// Most likely first.
    public let senders: [SenderPublicKey]
    public let authorities: [AuthorityPublicKey]

    public init(_ senders: [SenderPublicKey], authorities: [AuthorityPublicKey] = []) {
        self.senders = senders
        self.authorities = authorities
    }

    /// Who is believed now, in the order of trying.
    ///
    /// - Parameter set: the newest that the device has accepted, from its key store.
    package func senders(following set: SenderSet?, topic: Topic, at now: Timestamp) -> [SenderPublicKey] {
        // A set of an authority that the app no longer pins does not count.
        guard let set, authorities.contains(set.authority), set.topic == topic else { return senders }
        do throws(RecordError) {
            try check(set, topic: topic, replacing: set, at: now)
            return set.senders
        } catch { return [] }
    }

    /// Returns if a set is to be accepted: signed by a pinned authority, for this app, valid now, and not older than the
    /// one that is known.
    public func check(
        _ set: SenderSet, topic: Topic, replacing known: SenderSet?, at now: Timestamp
    ) throws(RecordError) {
        guard let authority = authorities.first(where: { $0 == set.authority }) else { throw .foreignSigner }
        // A set of an authority that the app no longer pins does not count, or a stolen key could hold the counter up for ever.
        let known = known.flatMap { authorities.contains($0.authority) ? $0 : nil }
        try set.check(pinned: authority, topic: topic, replacing: known, at: now)
    }
}
