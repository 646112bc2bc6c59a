internal import PushCore
import SealedPush

/// A row among the devices that isn't a registration as this library writes it. A send skips it, unless only its record is
/// invalid: a send reads no records.
public struct UnusableDevice: Hashable, Sendable {
    /// The reason why a row can't be used. The codes are stable.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Reason: String, Sendable {
        /// The names, the topic, the address, the keys, or the record aren't valid.
        case damaged
        /// The outbox has a key, and the row was written without it.
        case forged
    }

    /// The row's number, for ``Outbox/remove(row:)``.
    public let row: Int64
    /// The device's name, with escapes for everything that can't be seen: `\u{7}` for a character, `\xff` for a byte that
    /// isn't UTF-8. Ends in `…` if it was cut.
    public let name: String
    /// The user's name in the same form.
    public let user: String
    /// The reason why a send skips it.
    public let reason: Reason

    /// Returns nil if the device can be used.
    init?(_ found: FoundDevice, _ key: OutboxKey?) {
        guard let reason = found.obstacle(key) else { return nil }
        (row, self.reason) = (found.row, reason)
        (name, user) = (Self.escaped(found.name), Self.escaped(found.user))
    }

    static func escaped(_ bytes: [UInt8]) -> String {
        guard let whole = String(strictUTF8: bytes) else {
            let start = bytes.prefix(maximumByteCount).map { byte in
                (0x21...0x7e).contains(byte) && byte != backslash
                    ? String(UnicodeScalar(byte)) : "\\x\(Hex.encode([byte]))"
            }
            return start.joined() + (start.count < bytes.count ? "…" : "")
        }
        let text = whole.prefix(byteCount: maximumByteCount)
        let isVisible = VisibleText.isVisible(text)
        let escaped = text.unicodeScalars.map { scalar in
            let isPlain = VisibleText.isVisible(scalar) && scalar.value != backslash || isVisible && scalar == " "
            return isPlain ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
        }
        return escaped.joined() + (text.utf8.count < bytes.count ? "…" : "")
    }

    private static let backslash = UInt8(ascii: "\\")
    private static let maximumByteCount = 128
}
