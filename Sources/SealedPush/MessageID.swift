import PushCrypto
internal import _PushBase

/// A message's ID: a UUID in small letters.
public struct MessageID: Hashable, Sendable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    /// A new random ID (UUID version 4, RFC 9562).
    public static func random() -> MessageID {
        MessageID(bytes: SecureRandom.bytes(count: 16), version: 4)
    }

    /// Nil unless the text is 8-4-4-4-12 small hexadecimal digits.
    public init?(parsing text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == Self.textByteCount else { return nil }
        var value: (high: UInt64, low: UInt64) = (0, 0)
        var digitCount = 0
        for (index, byte) in bytes.enumerated() {
            switch index {
            case 8, 13, 18, 23:
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            default: break
            }
            guard let digit = Hex.value(byte), !(UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte) else {
                return nil
            }
            if digitCount < 16 { value.high = value.high << 4 | UInt64(digit) }
            if digitCount >= 16 { value.low = value.low << 4 | UInt64(digit) }
            digitCount += 1
        }
        (high, low) = value
    }

    /// 16 bytes shaped as a UUID of the given version: 4 for random ones, 8 for those of our own making.
    package init(bytes: [UInt8], version: UInt8) {
        precondition(bytes.count == 16)
        let high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        let low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
        self.high = high & ~0xf000 | UInt64(version) << 12
        self.low = low & (UInt64.max >> 2) | 1 << 63
    }

    public var description: String { String(decoding: text, as: UTF8.self) }

    /// The 36 characters, as ASCII.
    package var text: [UInt8] {
        let digits = Hex.digits
        return [UInt8](unsafeUninitializedCapacity: Self.textByteCount) { text, count in
            for digit in 0..<32 {
                // Behind 8, 12, 16 and 20 digits.
                if digit & 3 == 0, (8...20).contains(digit) {
                    text[count] = UInt8(ascii: "-")
                    count += 1
                }
                let word = digit < 16 ? high : low
                text[count] = digits[Int(word >> (60 - 4 * UInt64(digit & 15)) & 15)]
                count += 1
            }
        }
    }

    private static let textByteCount = 36
}
