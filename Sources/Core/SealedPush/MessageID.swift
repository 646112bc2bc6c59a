package import PushCore

/// A message's ID: a lowercase UUID.
public struct MessageID: Hashable, Sendable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    /// Returns a random ID (UUID version 4, RFC 9562).
    public static func random() -> MessageID { MessageID(SecureRandom.pair().0) }

    package init(_ random: Bytes16) { self = random.withBytes { MessageID(bytes: $0, version: 4) } }

    /// Returns nil unless the text is 8-4-4-4-12 lowercase hexadecimal digits.
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

    /// Creates a UUID of the given version from 16 bytes: 4 for random ones, 8 for custom ones.
    package init(bytes: UnsafeRawBufferPointer, version: UInt8) {
        precondition(bytes.count == Self.byteCount)
        let high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        let low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        self.high = high & ~0xf000 | UInt64(version) << 12
        self.low = low & (UInt64.max >> 2) | 1 << 63
    }

    public var description: String {
        String(unsafeUninitializedCapacity: Self.textByteCount) { text in
            write(to: UnsafeMutableRawBufferPointer(text))
            return Self.textByteCount
        }
    }

    /// Writes the 36 characters, as ASCII.
    package func write(to text: UnsafeMutableRawBufferPointer) {
        precondition(text.count == Self.textByteCount)
        for place in [8, 13, 18, 23] { text[place] = UInt8(ascii: "-") }
        func write(_ digits: UInt64, at place: Int) {
            text.storeBytes(of: digits.bigEndian, toByteOffset: place, as: UInt64.self)
        }
        func write(_ digits: UInt64, at places: (Int, Int)) {
            text.storeBytes(of: UInt32(digits >> 32).bigEndian, toByteOffset: places.0, as: UInt32.self)
            text.storeBytes(of: UInt32(truncatingIfNeeded: digits).bigEndian, toByteOffset: places.1, as: UInt32.self)
        }
        write(Self.digits(of: high >> 32), at: 0)
        write(Self.digits(of: high & 0xffff_ffff), at: (9, 14))
        write(Self.digits(of: low >> 32), at: (19, 24))
        write(Self.digits(of: low & 0xffff_ffff), at: 28)
    }

    /// Returns the eight hexadecimal digits of 32 bits, one per byte.
    private static func digits(of bits: UInt64) -> UInt64 {
        var nibbles = (bits | bits << 16) & 0x0000_ffff_0000_ffff
        nibbles = (nibbles | nibbles << 8) & 0x00ff_00ff_00ff_00ff
        nibbles = (nibbles | nibbles << 4) & 0x0f0f_0f0f_0f0f_0f0f
        let ones: UInt64 = 0x0101_0101_0101_0101
        // 1 in each byte that is ten or more.
        let letters = (nibbles &+ 118 &* ones) >> 7 & ones
        return nibbles &+ UInt64(UInt8(ascii: "0")) &* ones &+ 39 &* letters
    }

    private static let byteCount = 16
    package static let textByteCount = 36
}
