internal import PushCore
internal import SealedPush

/// A cache of public keys and records by their text: parsing and checking one takes longer than sealing for it. The same
/// text always has the same value. The cache is cleared when it reaches 4,096 strings. Thread-safe.
package final class ParsedTexts: Sendable {
    /// Keyed by the text's bytes, because different strings that look the same compare equal.
    private let values = Locked<[[UInt8]: any Sendable]>([:])

    package init() {}

    func value<Value: Sendable, Failure: Error>(
        _ text: String, _ parse: (String) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let key = Array(text.utf8)
        if let value = values.withLock({ $0[key] }) as? Value { return value }
        let value = try parse(text)
        values.withLock { values in
            if values.count >= 4_096 { values.removeAll() }
            values[key] = value
        }
        return value
    }

    func recipient(_ text: String) -> KnownRecipient? {
        try? value(text) { (text) throws(KeyTextError) in KnownRecipient(key: try DevicePublicKey(parsing: text)) }
    }
}
