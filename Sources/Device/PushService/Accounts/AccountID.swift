internal import PushCore

/// The number of an account on this device: random, and never used for another account, even one with the same name.
public struct AccountID: Hashable, Sendable, CustomStringConvertible {
    /// Sixteen lowercase hexadecimal digits.
    public let description: String

    /// Creates a new number.
    package init() { description = Hex.encode(SecureRandom.bytes(count: 8)) }

    /// Returns nil unless the text is such a number.
    package init?(parsing text: some StringProtocol) {
        guard let bytes = Hex.decode(text), bytes.count == 8, Hex.encode(bytes) == text else { return nil }
        description = String(text)
    }
}
