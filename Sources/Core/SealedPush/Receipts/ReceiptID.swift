internal import PushCore

/// A device's name in its receipts: 16 bytes that have meaning only for the server that created them.
public struct ReceiptID: Hashable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        precondition(bytes.count == Self.byteCount)
        self.bytes = bytes
    }

    /// 32 lowercase hexadecimal digits.
    public var description: String { Hex.encode(bytes) }

    package static let byteCount = 16
}
