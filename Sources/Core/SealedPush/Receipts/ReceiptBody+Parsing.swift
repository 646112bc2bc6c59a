internal import PushCore

extension ReceiptBody {
    /// Whose receipt these bytes say they are: for finding the key, before anything is believed.
    package static func claimedID(of bytes: [UInt8]) throws(ReceiptError) -> ReceiptID {
        guard bytes.count == byteCount else { throw .wrongSize }
        guard bytes[0] == version else { throw .unknownVersion }
        return ReceiptID(Array(bytes[1..<17]))
    }

    /// Reads what was MACed under this key; whether it was, in constant time. What the MAC does not hold for is not looked at.
    package init(parsing bytes: [UInt8], key: UnsafeRawBufferPointer) throws(ReceiptError) {
        let id = try Self.claimedID(of: bytes)
        let (body, mac) = (Array(bytes.dropLast(Self.macByteCount)), Array(bytes.suffix(Self.macByteCount)))
        guard ConstantTime.areEqual(Self.mac(of: body, key: key), mac) else { throw .rejected }
        guard let seconds = Int64(exactly: Self.integer(body[33..<41])),
            let created = Timestamp(secondsSince1970: seconds), body[41] == Self.opened
        else { throw .malformed }
        self.init(
            id: id, number: Array(body[17..<33]), created: created,
            elapsedMilliseconds: UInt32(Self.integer(body[42..<46])),
            counts: (0..<Self.reasonCount).map { UInt16(Self.integer(body[(46 + 2 * $0)..<(48 + 2 * $0)])) })
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// Why a receipt is not counted. The codes are stable.
public enum ReceiptError: String, Error, CaseIterable, Sendable {
    /// Not 128 bytes.
    case wrongSize = "wrong-size"
    /// Of a later version.
    case unknownVersion = "unknown-version"
    /// Under none of the keys: forged, altered, or of a sender that is not among the receiver's.
    case rejected
    /// Made by a device, and not well-formed.
    case malformed
    /// Made more than 7 days ago.
    case tooOld = "too-old"
    /// Made in the future.
    case clock
}

extension ReceiptError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .wrongSize: "a receipt has 128 bytes"
        case .unknownVersion: "the receipt is of a later version"
        case .rejected: "the receipt is forged or altered, or its key comes from another sender's"
        case .malformed: "the receipt is not well-formed"
        case .tooOld: "the receipt was made more than 7 days ago"
        case .clock: "the receipt is dated more than 26 hours ahead"
        }
    }
}
