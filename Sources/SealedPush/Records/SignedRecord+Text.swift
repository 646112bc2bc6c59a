extension SignedRecord {
    /// Reads `pushrecord.…`: at most 1,071 characters, whatever else is looked at.
    init(parsing text: String, as kind: Kind) throws(RecordError) {
        guard let armoured = ArmouredText.record.bytes(of: text) else { throw .malformed }
        guard let bytes = ArmouredText.removingChecksum(from: armoured) else { throw .wrongChecksum }
        try self.init(parsing: bytes, as: kind)
    }

    /// The text that `init(parsing:as:)` reads: one for each record.
    var text: String { ArmouredText.record.text(of: ArmouredText.appendingChecksum(to: bytes)) }
}
