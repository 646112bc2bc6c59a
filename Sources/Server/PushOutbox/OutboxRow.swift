internal import PushCore
package import SealedPush

/// A store's row. Throws `damaged` if a column has the wrong type or is NULL, because the database was tampered with.
package protocol OutboxRow {
    func optionalInt(_ column: String) throws(OutboxError) -> Int64?
    /// Returns a text's bytes, which may not be UTF-8.
    func optionalTextBytes(_ column: String) throws(OutboxError) -> [UInt8]?
    func optionalBytes(_ column: String) throws(OutboxError) -> [UInt8]?
    func optionalBool(_ column: String) throws(OutboxError) -> Bool?
    /// Returns the recipient key, from the column `recipient`, or `nil` if there is none.
    func recipient() throws(OutboxError) -> DevicePublicKey?
}

extension OutboxRow {
    package func optionalText(_ column: String) throws(OutboxError) -> String? {
        guard let bytes = try optionalTextBytes(column) else { return nil }
        return try known(String(strictUTF8: bytes))
    }

    package func int(_ column: String) throws(OutboxError) -> Int64 { try known(optionalInt(column)) }
    package func text(_ column: String) throws(OutboxError) -> String { try known(optionalText(column)) }
    package func bytes(_ column: String) throws(OutboxError) -> [UInt8] { try known(optionalBytes(column)) }
    package func bool(_ column: String) throws(OutboxError) -> Bool { try known(optionalBool(column)) }

    /// Returns a count, clamped to 0 through 2^40, so that sums of counts can't overflow.
    package func count(_ column: String) throws(OutboxError) -> Int { Int(min(max(try int(column), 0), 1 << 40)) }

    package func recipient() throws(OutboxError) -> DevicePublicKey? {
        guard let bytes = try optionalBytes("recipient") else { return nil }
        return try known(DevicePublicKey(bytes: bytes))
    }

    package func outcome() throws(OutboxError) -> MessageOutcome {
        (try int("device"), try optionalText("name"), try text("outcome"), try count("count"))
    }

    /// Returns the time in a column of milliseconds since 1970.
    func time(_ column: String) throws(OutboxError) -> Timestamp { Timestamp(clamping: try int(column) / 1_000) }

    private func known<Value>(_ value: Value?) throws(OutboxError) -> Value {
        guard let value else { throw .damaged }
        return value
    }
}
