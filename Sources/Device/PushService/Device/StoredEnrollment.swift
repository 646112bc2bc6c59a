package import SealedPush

/// The device's enrollment key for one app as it's stored, `enrollment <topic>`, with the newest record it has signed.
package struct StoredEnrollment {
    package let item: ListedItem
    /// The counter of the newest record; 0 before the first. Nil if the item is damaged, so the counter is unknown.
    package let counter: UInt64?
    /// Nil before the first record, or if it's damaged.
    let record: DeviceRecord?

    init(_ item: ListedItem) {
        self.item = item
        let limit = DeviceRecord.maximumCharacterCount + 1_024
        let members = JSONReader.object(item.attributes, maximumByteCount: limit) ?? [:]
        counter = members["counter"]?.integer.flatMap { UInt64(exactly: $0) }
        record = members["record"]?.string.flatMap { try? DeviceRecord(parsing: $0) }
    }

    /// Makes the item for storing a key, before its first record.
    package static func item(_ key: EnrollmentPrivateKey, for topic: Topic) -> SecretItem {
        SecretItem(
            account: account(topic), attributes: attributes(counter: 0, record: nil),
            secret: key.withSecretText { ItemSecret(copying: $0) })
    }

    /// Returns nil if the key is damaged or gone.
    package func key(in items: any SecretItems) throws(SecretItemError) -> EnrollmentPrivateKey? {
        try items.secret(of: item)?.withBytes { try? EnrollmentPrivateKey(parsing: $0) }
    }

    static func account(_ topic: Topic) -> String { "enrollment \(topic)" }

    /// The counter is stored beside the record, so that it survives a record that can't be read.
    package static func attributes(counter: UInt64, record: DeviceRecord?) -> [UInt8] {
        var writer = JSONWriter(reservingByteCount: 1_200)
        writer.object { object in
            object.integer("counter", Int64(counter))
            object.string("record", record?.description)
        }
        return writer.bytes
    }
}
