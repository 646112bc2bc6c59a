package import SealedPush

/// The device's enrollment key for one app as it is stored, `enrollment <topic>`, with the newest record it has signed.
package struct StoredEnrollment {
    package let item: ListedItem
    /// That of the newest record; 0 before the first. Nil where the item is damaged, so that it is not known.
    package let counter: UInt64?
    /// Nil before the first, and where it is damaged.
    let record: DeviceRecord?

    init(_ item: ListedItem) {
        self.item = item
        let members =
            JSONReader.object(item.attributes, maximumByteCount: DeviceRecord.maximumCharacterCount + 1_024) ?? [:]
        if case .integer(let number)? = members["counter"] {
            counter = UInt64(exactly: number)
        } else {
            counter = nil
        }
        if case .string(let text)? = members["record"] {
            record = try? DeviceRecord(parsing: text)
        } else {
            record = nil
        }
    }

    /// The item for one that is to be stored, before its first record.
    package static func item(_ key: EnrollmentPrivateKey, for topic: Topic) -> SecretItem {
        SecretItem(
            account: account(topic), attributes: attributes(counter: 0, record: nil),
            secret: key.withSecretText { ItemSecret(copying: $0) })
    }

    /// Nil where it is damaged, or gone.
    package func key(in items: any SecretItems) throws(SecretItemError) -> EnrollmentPrivateKey? {
        try items.secret(of: item)?.withBytes { try? EnrollmentPrivateKey(parsing: $0) }
    }

    static func account(_ topic: Topic) -> String { "enrollment \(topic)" }

    /// The counter stands beside the record, so that it survives one that can't be read.
    package static func attributes(counter: UInt64, record: DeviceRecord?) -> [UInt8] {
        var writer = JSONWriter(reservingByteCount: 1_200)
        writer.object { object in
            object.integer("counter", Int64(clamping: counter))
            object.string("record", record?.description)
        }
        return writer.bytes
    }
}
