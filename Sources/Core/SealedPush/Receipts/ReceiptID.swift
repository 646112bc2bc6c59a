internal import PushCore

/// A device, as its receipts name it: 16 bytes that tell nothing to anybody but the server that made them.
public struct ReceiptID: Hashable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    /// 16 bytes.
    package init(_ bytes: [UInt8]) {
        precondition(bytes.count == Self.byteCount)
        self.bytes = bytes
    }

    /// 32 small hexadecimal digits.
    public var description: String { Hex.encode(bytes) }

    package static let byteCount = 16
}
