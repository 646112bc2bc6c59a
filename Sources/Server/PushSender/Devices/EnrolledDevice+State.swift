public import SealedPush

extension EnrolledDevice {
    /// The device as one value, for one column of the server's database: JSON with the members `enrollment`, `record`, and
    /// `proven`, about 1 KB, and 2 KB more for each hybrid key. It is the state that the packages for Python and Node.js store.
    ///
    /// It isn't secret, but **anyone who can change it in storage decides which keys get messages**. Only the record is signed.
    public var state: String {
        var writer = JSONWriter(reservingByteCount: 1_024)
        writer.object { state in
            state.string("enrollment", enrollment.description)
            state.string("record", record.description)
            let recipients = record.recipients.filter(proven.contains)
            state.value("proven", .array(recipients.map { .string($0.description) }))
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Creates a device from the ``state`` that the server stored with the account.
    ///
    /// Proven keys that aren't in the record are dropped. The open challenges in a state that Python or Node.js stored are
    /// ignored, so those must be sent again.
    ///
    /// - Throws: `malformedState`, an error of the record, or `foreignSigner` if the pinned key didn't sign the record. A
    ///   record that has since expired is accepted.
    public init(state: String) throws(RecordError) {
        guard state.utf8.count <= Self.maximumStateByteCount,
            let members = try? JSONReader.members(Array(state.utf8)),
            case .string(let enrollment)? = members.value(of: "enrollment")?.json,
            case .string(let record)? = members.value(of: "record")?.json,
            case .array(let texts)? = (members.value(of: "proven")?.json ?? .array([])),
            let pinned = try? EnrollmentPublicKey(parsing: enrollment),
            let proven = try? texts.map({ try DevicePublicKey(parsing: $0.string ?? "") })
        else { throw .malformedState }
        try self.init(loading: pinned, record: DeviceRecord(parsing: record), proven: proven)
    }

    /// The limit for a stored state. A record has at most 16 keys of 2 KB each, which the proven keys repeat.
    private static let maximumStateByteCount = 131_072
}
