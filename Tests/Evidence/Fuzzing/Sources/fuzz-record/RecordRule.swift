import FuzzSupport
import SealedPush

/// A signed record: a second implementation of parsing and checking in Specification 11.1 to 11.3.
struct RecordRule: Hashable {
    let signer: [UInt8]
    let counter: UInt64
    let created: Int64
    let expires: Int64
    let topic: [UInt8]
    /// The keys of known algorithms.
    let keys: [[UInt8]]
    private let bytes: [UInt8]

    /// Performs steps 1 to 5 of 11.3.1.
    ///
    /// - Parameter type: 1 or 2.
    static func read(_ text: String, type: UInt8) -> Result<RecordRule, RecordError> {
        let prefix = "pushrecord."
        guard (190...10_939).contains(text.utf8.count), text.utf8.starts(with: prefix.utf8),
            let all = Base64URLRule.decode(String(decoding: text.utf8.dropFirst(prefix.utf8.count), as: UTF8.self))
        else { return .failure(.malformed) }
        let bytes = Array(all.dropLast(4))
        guard RawSigning.sha256(bytes).prefix(4) == all.suffix(4) else { return .failure(.wrongChecksum) }
        guard bytes[0] == type else { return .failure(.wrongType) }
        guard bytes[1] == 3 else { return .failure(.unsupported) }
        guard let record = RecordRule(form: bytes) else { return .failure(.malformed) }
        guard record.isSigned else { return .failure(.badSignature) }
        return record.keys.isEmpty ? .failure(.unsupported) : .success(record)
    }

    /// Returns the text of any bytes, with a valid checksum.
    static func text(of bytes: [UInt8]) -> String {
        "pushrecord." + Base64URLRule.encode(bytes + RawSigning.sha256(bytes).prefix(4))
    }

    /// Returns the signed message for a record's bytes up to the signature.
    static func message(_ bytes: some Sequence<UInt8>) -> [UInt8] { Array("sealedpush/v1 record\0".utf8) + bytes }

    /// Returns nil if the bytes break 11.1.1, 11.1.2, or 8.6.
    private init?(form bytes: [UInt8]) {
        guard bytes.count >= 130 else { return nil }
        let topicEnd = 60 + Int(bytes[59])
        guard (1...155).contains(bytes[59]), topicEnd < bytes.count, bytes.count <= 8_192 else { return nil }
        guard bytes[0] == 1 ? (1...31).contains(bytes[58]) : bytes[58] == 0 else { return nil }
        let count = Int(bytes[topicEnd])
        guard (1...16).contains(count) else { return nil }
        var (keys, listed, place) = ([[UInt8]](), Set<[UInt8]>(), topicEnd + 1)
        for _ in 1...count {
            guard place + 3 < bytes.count else { return nil }
            let length = Int(bytes[place + 1]) << 8 + Int(bytes[place + 2])
            let end = place + 3 + length
            guard length > 0, end <= bytes.count else { return nil }
            listed.insert(Array(bytes[place..<end]))
            let knownLength = bytes[place] == 1 ? 32 : bytes[place] == 3 && bytes[0] == 1 ? 1_216 : nil
            guard length == knownLength ?? length else { return nil }
            if knownLength != nil { keys.append(Array(bytes[place + 3..<end])) }
            place = end
        }
        guard bytes.count == place + 64 else { return nil }
        func number(_ offset: Int) -> UInt64 { bytes[offset..<offset + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        guard number(34) < 1 << 62, number(42) < number(50), number(50) <= 253_402_300_799 else { return nil }
        self.bytes = bytes
        signer = Array(bytes[2..<34])
        counter = number(34)
        created = Int64(number(42))
        expires = Int64(number(50))
        topic = Array(bytes[60..<topicEnd])
        self.keys = keys
        guard topic.allSatisfy(Self.topicCharacters.contains), listed.count == count,
            keys.allSatisfy(X25519Rule.isSafe(device:)), Ed25519Rule.isSafe(signer)
        else { return nil }
    }

    private static let topicCharacters = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-".utf8)

    /// Whether the signature is valid by 11.2, strictly: S is below L.
    private var isSigned: Bool {
        let signature = Array(bytes.suffix(64))
        let isCanonical = signature[32...].reversed().lexicographicallyPrecedes(Ed25519Rule.groupOrder.reversed())
        return isCanonical && RawSigning.isSignature(signature, of: Self.message(bytes.dropLast(64)), by: signer)
    }

    /// Performs steps 6 to 11 of 11.3.1; returns nil if the record must be accepted.
    func reason(pinned: [UInt8], topic: String, now: Int64, known: RecordRule?) -> RecordError? {
        if signer != pinned { return .foreignSigner }
        if self.topic != Array(topic.utf8) { return .otherTopic }
        if now > expires { return .expired }
        if created - now > 93_600 { return .notYetValid }
        guard let known, known.topic == self.topic else { return nil }
        if counter < known.counter { return .rolledBack }
        return counter == known.counter && bytes != known.bytes ? .conflicting : nil
    }
}
