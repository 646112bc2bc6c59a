internal import PushCore
internal import PushSender

/// A secret, stored outside the database, that proves that an outbox's rows were written by an authorized process.
///
/// An attacker who can write to the database but doesn't have the key can't make the server send anything that wasn't
/// enqueued. Nor can they make it seal to a key that wasn't registered. They can only delay, reorder, delete, and restore
/// earlier rows. See Docs/ThreatModel.md, Docs/Decisions/0040-rows-that-cant-be-forged.md.
///
/// Safe to use from many threads. Costs one hash for each row that is written, and two for each that is sent.
public final class OutboxKey: Sendable {
    private let secret: GuardedSecret

    /// Parses the text that ``withSecretText(_:)`` lends. Trailing white space is ignored.
    ///
    /// - Throws: `keyText` if the text is not an outbox key.
    public init(parsing text: [UInt8]) throws(OutboxError) {
        let words = text.split(whereSeparator: { $0 == 0x20 || $0 == 0x0a || $0 == 0x0d })
        guard words.count == 2, words[0].elementsEqual(Self.name), var bytes = Base64URL.decode(words[1]),
            bytes.count == Self.byteCount
        else { throw .keyText }
        defer { wipe(&bytes) }
        secret = GuardedSecret(count: Self.byteCount) { target in bytes.withUnsafeBytes { target.copyMemory(from: $0) }
        }
    }

    /// Generates a new key. It stays the same for the life of the outbox, even as sender keys change.
    public init() { secret = GuardedSecret(count: Self.byteCount) { SecureRandom.fill($0) } }

    /// Lends the key's text, one line, while `body` runs. The text is wiped afterward and must not escape.
    public func withSecretText<Answer, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        let start = Self.name.count + 1
        let end = start + Base64URL.textByteCount(of: Self.byteCount)
        let text = WipedBytes(count: end + 1) { text in
            text.copyBytes(from: Self.name + [0x20])
            secret.withBytes { Base64URL.write($0, to: UnsafeMutableRawBufferPointer(rebasing: text[start..<end])) }
            text[end] = 0x0a
        }
        return try text.withBytes(body)
    }

    private static let byteCount = 32
    private static let name = Array("sealed-push-outbox-key".utf8)
}

// MARK: Codes

extension OutboxKey {
    /// Returns the codes for a device's rows.
    package func codes(of device: RegisteredDevice) -> DeviceCodes {
        let row = DeviceRow(device)
        return DeviceCodes(
            pin: pin(row.name, user: row.user, topic: row.topic, row.key),
            address: row.address.map { address(row.name, topic: row.topic, carrier: row.carrier, $0) },
            enrollment: row.enrollment.map { enrollment in
                code("enrollment", [row.name, enrollment.key, enrollment.record, enrollment.proven].map { .text($0) })
            })
    }

    /// The value that an outbox with this key is marked with.
    var mark: [UInt8] { code("outbox", []) }

    package func accepts(_ stored: StoredDevice) -> Bool {
        let right = codes(of: stored.device)
        return stored.isSealedToItsKey
            && [(right.pin, stored.codes.pin), (right.enrollment, stored.codes.enrollment)].allSatisfy(Self.areEqual)
            && (right.address == nil || Self.areEqual(right.address, stored.codes.address))
    }

    func accepts(_ candidate: EnqueueBatch.Candidate) -> Bool {
        Self.areEqual(
            pin(
                candidate.names.device.description, user: candidate.names.user.description,
                topic: candidate.names.topic.description, candidate.key), candidate.code)
    }

    /// Returns `nil` if an entry and its address are authentic, or otherwise the reason for the dead letter.
    func fault(of lease: Lease) -> String? {
        let (entry, address) = (lease.entryRow, lease.request.address)
        let isWhere = Self.areEqual(
            self.address(
                entry.device ?? "", topic: entry.topic ?? "", carrier: address.carrier.description, address.bytes),
            entry.addressCode)
        return Self.areEqual(code(entry), entry.code) && isWhere ? nil : "forged"
    }

    package func code(_ entry: EntryRow) -> [UInt8] {
        code(
            "entry",
            [
                .text(entry.device ?? ""), .text(entry.topic ?? ""), .number(Int64(entry.priority)),
                entry.expiration.map { .number($0) } ?? .none, .text(entry.apnsID), .text(entry.collapseID),
                .bytes(entry.body), .text(entry.sender ?? ""),
            ])
    }

    private func pin(_ name: String, user: String, topic: String, _ key: SealingKey) -> [UInt8] {
        code(
            "pin",
            [
                .text(name), .text(user), .text(topic), key.recipient.map { .bytes($0.bytes) } ?? .none,
                .number(key.isVerified ? 1 : 0), .number(key.validFrom), .number(key.validUntil),
                key.keeps.map { .number($0) } ?? .none,
            ])
    }

    private func address(_ name: String, topic: String, carrier: String, _ address: [UInt8]) -> [UInt8] {
        code("address", [.text(name), .text(topic), .text(carrier), .bytes(address)])
    }

    private enum Field {
        case none
        case number(Int64)
        case text(String)
        case bytes([UInt8])
    }

    /// Returns the keyed BLAKE2b hash (32 bytes, RFC 7693) of the row type and its fields. Each field is preceded by one
    /// byte for its type and eight for its length.
    private func code(_ kind: String, _ fields: [Field]) -> [UInt8] {
        var message: [UInt8] = []
        for field in [.text(kind)] + fields {
            let (type, bytes): (UInt8, [UInt8]) =
                switch field {
                case .none: (0, [])
                case .number(let value): (1, Self.bytes(value))
                case .text(let text): (2, Array(text.utf8))
                case .bytes(let bytes): (3, bytes)
                }
            message += [type] + Self.bytes(Int64(bytes.count)) + bytes
        }
        return secret.withBytes { BLAKE2b.hash(message, key: $0, byteCount: 32) }
    }

    private static func bytes(_ value: Int64) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

    private static func areEqual(_ right: [UInt8]?, _ found: [UInt8]?) -> Bool {
        guard let right, let found else { return right == nil && found == nil }
        return ConstantTime.areEqual(right, found)
    }
}
