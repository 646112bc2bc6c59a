internal import PushCore

/// A receipt's bytes as they are posted: always 128, so that the length reveals nothing. Source: ContentParts 16.2.
package struct ReceiptBody: Hashable, Sendable {
    /// How many seconds after its creation a receipt counts: 7 days. Source: ContentParts 16.5.
    package static let maximumAge: Int64 = 7 * 86_400
    /// How many seconds a server keeps receiving receipts for a retired sender key: a day more, for the clocks.
    package static let keyRetention = maximumAge + 86_400

    package let id: ReceiptID
    /// 16 bytes, the same for each receipt about one message, so that repeats are counted once.
    package let number: [UInt8]
    package let created: Timestamp
    package let elapsedMilliseconds: UInt32
    /// The counts, indexed by the reasons' numbers (``OpenError/Facts``), starting at 1.
    package var counts: [UInt16]

    package init(id: ReceiptID, number: [UInt8], created: Timestamp, elapsedMilliseconds: UInt32, counts: [UInt16]) {
        precondition(number.count == Self.numberByteCount && counts.count == Self.reasonCount)
        self.id = id
        self.number = number
        self.created = created
        self.elapsedMilliseconds = elapsedMilliseconds
        self.counts = counts
    }

    /// Creates a device's receipt about a message, with all counts at zero.
    package init(answering request: ReceiptRequest, about message: MessageID, created: Timestamp, elapsed: Duration) {
        let milliseconds = min(max(.zero, elapsed) / .milliseconds(1), Double(UInt32.max))
        self.init(
            id: request.id, number: Self.number(of: message, key: request.key), created: created,
            elapsedMilliseconds: UInt32(milliseconds), counts: [UInt16](repeating: 0, count: Self.reasonCount))
    }

    /// Returns the receipt number for a message: BLAKE2b-128(key, "sealedpush/v1 receipt number" ‖ 0 ‖ message ID).
    package static func number(of message: MessageID, key: [UInt8]) -> [UInt8] {
        let bytes = Array("sealedpush/v1 receipt number".utf8) + [0] + message.description.utf8
        return key.withUnsafeBytes { BLAKE2b.hash(bytes, key: $0, byteCount: numberByteCount) }
    }

    /// Returns the 128 bytes, MACed under the key that the message specified.
    package func bytes(key: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = [Self.version]
        bytes.reserveCapacity(Self.byteCount)
        bytes += id.bytes
        bytes += number
        bytes.append(bigEndian: created.secondsSince1970)
        bytes.append(Self.opened)
        bytes.append(bigEndian: elapsedMilliseconds)
        for count in counts { bytes.append(bigEndian: count) }
        return bytes + key.withUnsafeBytes { Self.mac(of: bytes, key: $0) }
    }

    static func mac(of bytes: [UInt8], key: UnsafeRawBufferPointer) -> [UInt8] {
        BLAKE2b.hash(Array("sealedpush/v1 receipt".utf8) + [0] + bytes, key: key, byteCount: macByteCount)
    }

    package static let byteCount = 128
    package static let reasonCount = 25
    package static let numberByteCount = 16
    static let macByteCount = 32
    static let version: UInt8 = 1
    static let opened: UInt8 = 1
}

extension ReceiptBody {
    /// Returns unauthenticated data from a receipt's bytes, for a caller that created them itself.
    package static func createdAndNumber(of bytes: [UInt8]) -> (secondsSince1970: UInt64, number: [UInt8]) {
        guard let fields = Fields(bytes) else { preconditionFailure("a receipt has \(byteCount) bytes") }
        return (fields.created, fields.number)
    }

    /// Returns the device that these bytes claim to be from, unauthenticated, to find its key.
    package static func claimedID(of bytes: [UInt8]) throws(ReceiptError) -> ReceiptID {
        ReceiptID(try known(bytes).id)
    }

    /// Parses bytes that were MACed under this key, which is checked in constant time and before any field except the version.
    package init(parsing bytes: [UInt8], key: UnsafeRawBufferPointer) throws(ReceiptError) {
        let fields = try Self.known(bytes)
        let (body, mac) = (Array(bytes.dropLast(Self.macByteCount)), Array(bytes.suffix(Self.macByteCount)))
        guard ConstantTime.areEqual(Self.mac(of: body, key: key), mac) else { throw .rejected }
        guard let created = Timestamp(parsing: fields.created), fields.outcome == Self.opened else { throw .malformed }
        self.init(
            id: ReceiptID(fields.id), number: fields.number, created: created,
            elapsedMilliseconds: UInt32(fields.elapsedMilliseconds), counts: fields.counts.map { UInt16($0) })
    }

    private static func known(_ bytes: [UInt8]) throws(ReceiptError) -> Fields {
        guard let fields = Fields(bytes) else { throw .wrongSize }
        guard fields.version == version else { throw .unknownVersion }
        return fields
    }

    /// The fields before the MAC, in their order. Nothing about them is checked.
    private struct Fields {
        let version: UInt8
        let id: [UInt8]
        let number: [UInt8]
        let created: UInt64
        let outcome: UInt8
        /// Four bytes.
        let elapsedMilliseconds: UInt64
        /// Two bytes each.
        let counts: [UInt64]

        /// Returns nil unless these are as many bytes as a receipt has.
        init?(_ bytes: [UInt8]) {
            var reader = ByteReader(bytes)
            guard bytes.count == ReceiptBody.byteCount,
                let version = reader.next(), let id = reader.take(ReceiptID.byteCount),
                let number = reader.take(ReceiptBody.numberByteCount), let created = reader.number(),
                let outcome = reader.next(), let elapsed = reader.number(byteCount: 4)
            else { return nil }
            self.version = version
            self.id = Array(id)
            self.number = Array(number)
            self.created = created
            self.outcome = outcome
            elapsedMilliseconds = elapsed
            counts = (0..<ReceiptBody.reasonCount).compactMap { _ in reader.number(byteCount: 2) }
        }
    }
}
