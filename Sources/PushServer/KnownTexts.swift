internal import SealedPush
internal import _PushBase

/// Keys and records that were read before, by their text: to read and check them takes longer than to seal.
///
/// They are public, and the same text always means the same. Of each kind there are at most 4,096, a few MB in all; then it
/// begins anew. Safe from many threads.
final class KnownTexts: Sendable {
    private let recipients = Known<Text, KnownRecipient>()
    private let enrolments = Known<Text, Enrolment>()
    private let records = Known<Text, DeviceRecord>()
    private let keys = Known<Recipient, KnownRecipient>()

    func recipient(_ text: String) -> KnownRecipient? {
        try? recipients.value(Text(text: text)) { KnownRecipient(key: try Recipient(parsing: text)) }
    }

    func recipient(_ key: Recipient) -> KnownRecipient { keys.value(key) { KnownRecipient(key: key) } }

    func enrolment(_ text: String) -> Enrolment? {
        try? enrolments.value(Text(text: text)) { try Enrolment(parsing: text) }
    }

    func record(_ text: String) throws -> DeviceRecord {
        try records.value(Text(text: text)) { try DeviceRecord(parsing: text) }
    }

    /// Equal to itself alone: a string also equals others that look the same.
    private struct Text: Hashable {
        let text: String

        static func == (one: Text, other: Text) -> Bool {
            one.text.utf8.count == other.text.utf8.count && one.text == other.text
        }
    }

    private final class Known<Key: Hashable & Sendable, Value: Sendable>: Sendable {
        private let values = Locked<[Key: Value]>([:])

        func value(_ key: Key, _ make: () throws -> Value) rethrows -> Value {
            if let value = values.withLock({ $0[key] }) { return value }
            let value = try make()
            values.withLock { values in
                if values.count >= 4_096 { values.removeAll() }
                values[key] = value
            }
            return value
        }
    }
}

/// A device's key, and its text.
final class KnownRecipient: Sendable {
    let key: Recipient
    let text: String

    init(key: Recipient) {
        self.key = key
        text = key.description
    }
}
