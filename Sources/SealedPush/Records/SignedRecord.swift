import PushCrypto

/// What a device's record and a sender set have in common: keys, vouched for by a signature.
///
/// There is no unsigned value: whoever parses or signs one has it verified. Whether its signer is to be believed, and
/// whether it is still the newest, is for `check`. Source: Specification 11.
struct SignedRecord: Hashable, Sendable {
    let kind: Kind
    let signer: Ed25519PublicKey
    let counter: UInt64
    let created: Timestamp
    let expires: Timestamp
    let topic: Topic
    /// 1 to 16, none twice, newest first.
    let keys: [X25519PublicKey]
    /// The whole record, signature included.
    let bytes: [UInt8]

    /// What the keys are, and so who signs.
    enum Kind: UInt8, CaseIterable {
        case device = 1
        case senderSet = 2
    }

    static let keyCounts = 1...16
}

extension SignedRecord {
    /// Signs a new record.
    ///
    /// - Throws: `malformed` unless there are 1 to 16 keys, none twice, and it is created before it expires.
    init(
        _ kind: Kind, counter: UInt64, created: Timestamp, expires: Timestamp, topic: Topic, keys: [X25519PublicKey],
        signedBy key: borrowing Ed25519SecretKey
    ) throws(RecordError) {
        guard Self.areAllowed(keys), created < expires else { throw .malformed }
        var bytes = [kind.rawValue, Self.version]
        bytes += key.publicKey.bytes
        bytes.append(bigEndian: counter)
        bytes.append(bigEndian: UInt64(created.secondsSince1970))
        bytes.append(bigEndian: UInt64(expires.secondsSince1970))
        bytes.append(UInt8(topic.description.utf8.count))
        bytes += topic.description.utf8
        bytes.append(UInt8(keys.count))
        for key in keys { bytes += key.bytes }
        bytes += key.sign(Self.signedMessage(bytes[...]))
        self.init(
            kind: kind, signer: key.publicKey, counter: counter, created: created, expires: expires, topic: topic,
            keys: keys, bytes: bytes)
    }

    /// Reads a record of this kind from the bytes of its text, checksum taken off, and verifies its signature.
    init(parsing bytes: [UInt8], as kind: Kind) throws(RecordError) {
        guard Self.byteCounts.contains(bytes.count) else { throw .malformed }
        var reader = ByteReader(bytes)
        guard let type = reader.next(), let version = reader.next() else { throw .malformed }
        guard type == kind.rawValue else { throw .wrongType }
        guard version == Self.version,
            let signerBytes = reader.take(Ed25519PublicKey.byteCount),
            let counter = reader.number(),
            let created = reader.number().flatMap(Timestamp.init(parsing:)),
            let expires = reader.number().flatMap(Timestamp.init(parsing:)), created < expires,
            let topic = reader.next().flatMap({ reader.take(Int($0)) }).flatMap(Topic.init(parsing:)),
            let keyCount = reader.next().map(Int.init), Self.keyCounts.contains(keyCount),
            let keyBytes = reader.take(keyCount * X25519PublicKey.byteCount)
        else { throw .malformed }
        let signed = bytes[..<reader.position]
        guard let signature = reader.take(Ed25519.signatureByteCount), reader.isAtEnd else { throw .malformed }
        let keys = stride(from: keyBytes.startIndex, to: keyBytes.endIndex, by: X25519PublicKey.byteCount).compactMap {
            try? X25519PublicKey(keyBytes[$0..<$0 + X25519PublicKey.byteCount])
        }
        // The curve last: it costs more than all the rest.
        guard keys.count == keyCount, Self.areAllowed(keys), let signer = try? Ed25519PublicKey(signerBytes) else {
            throw .malformed
        }
        guard signer.verify(signature, of: Self.signedMessage(signed)) else { throw .badSignature }
        self.init(
            kind: kind, signer: signer, counter: counter, created: created, expires: expires, topic: topic, keys: keys,
            bytes: bytes)
    }

    private static func areAllowed(_ keys: [X25519PublicKey]) -> Bool {
        keyCounts.contains(keys.count) && Set(keys).count == keys.count
    }

    /// Specification 11.2: what the signature covers.
    private static func signedMessage(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        Array("sealedpush/v1 record".utf8) + [0] + bytes
    }

    private static let version: UInt8 = 0x01
    /// From one key and a topic of one byte to 16 keys and a topic of 155.
    static let byteCounts = 157...791
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
private struct ByteReader {
    private let bytes: [UInt8]
    private(set) var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    mutating func next() -> UInt8? { take(1)?.first }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= bytes.count - position else { return nil }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// Eight bytes, big endian.
    mutating func number() -> UInt64? { take(8)?.reduce(0) { $0 << 8 | UInt64($1) } }
}

extension Timestamp {
    fileprivate init?(parsing number: UInt64) {
        guard let seconds = Int64(exactly: number) else { return nil }
        self.init(secondsSince1970: seconds)
    }
}

extension Topic {
    fileprivate init?(parsing bytes: ArraySlice<UInt8>) { self.init(parsing: String(decoding: bytes, as: UTF8.self)) }
}

extension [UInt8] {
    /// Eight bytes.
    mutating func append(bigEndian number: UInt64) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
}
