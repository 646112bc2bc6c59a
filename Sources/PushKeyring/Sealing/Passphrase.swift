internal import PushCrypto

/// A passphrase: 1 to 1,024 bytes, in guarded memory that is wiped with the last reference; never printed.
public final class Passphrase: Sendable, CustomStringConvertible {
    private let secret: GuardedSecret

    /// Copies the bytes, without one line end behind them; nil for none, or more than 1,024. The caller wipes its own.
    public init?(_ bytes: [UInt8]) {
        var count = bytes.count
        if count > 0, bytes[count - 1] == UInt8(ascii: "\n") { count -= 1 }
        if count > 0, bytes[count - 1] == UInt8(ascii: "\r") { count -= 1 }
        guard (1...Self.maximumByteCount).contains(count) else { return nil }
        byteCount = count
        secret = GuardedSecret(count: count) { $0.copyBytes(from: bytes[..<count]) }
    }

    func withBytes<Answer>(_ body: (UnsafeRawBufferPointer) -> Answer) -> Answer { secret.withBytes(body) }

    /// 1 to 1,024.
    package let byteCount: Int

    public var description: String { "Passphrase" }

    static let maximumByteCount = 1_024
}
