/// A reason why a signed record isn't accepted or can't be created. The codes are stable. Contains no part of the record.
/// Source: Specification 11.3.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum RecordError: String, Error, CaseIterable, Sendable {
    /// Not in the form of Specification 11.1.
    case malformed
    /// A typing or copying error.
    case wrongChecksum = "wrong-checksum"
    /// Not the expected type of record.
    case wrongType = "wrong-type"
    /// Not signed by the key that it names.
    case badSignature = "bad-signature"
    /// Not signed by the pinned key.
    case foreignSigner = "foreign-signer"
    /// For another app.
    case otherTopic = "other-topic"
    /// A leaving for another service of the app.
    case otherService = "other-service"
    /// Created more than 26 hours in the future.
    case notYetValid = "not-yet-valid"
    /// Past its expiry.
    case expired
    /// Older than the known record.
    case rolledBack = "rolled-back"
    /// A different record with the known record's counter.
    case conflicting
    /// None of its recipients has answered a challenge yet.
    case unproven
    /// It has another version, no key of a known algorithm, or a hybrid key without a library here that has ML-KEM.
    case unsupported
    /// Not the stored state of an enrolled device.
    case malformedState = "malformed-state"
}

extension RecordError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .malformed:
            """
            the record is malformed; its text must begin with pushrecord. and contain no spaces, it must name 1 to 16 distinct \
            keys, and it must expire after it was created
            """
        case .wrongChecksum: "the record was altered or truncated in transit; copy all of it again"
        case .wrongType: "this is the wrong type of record; a device record and a sender set can't replace each other"
        case .badSignature: "the record is not signed by the key it names; it was altered or forged"
        case .foreignSigner: "the record is not signed by the pinned key; ask its owner which key is right"
        case .otherTopic: "the record is for another app: its topic differs"
        case .otherService:
            "the leaving is for another service of this app; compare the service's names in the app and the server"
        case .notYetValid: "the record was created more than 26 hours ahead of this clock; compare the two clocks"
        case .expired: "the record has expired; ask for a new one"
        case .rolledBack: "the record is older than the known one; ask for the newest"
        case .conflicting:
            "two different records have this counter; have a new one signed with a higher counter"
        case .unproven: "none of the record's recipients has answered a challenge yet; send one"
        case .unsupported:
            """
            the record has another version, unknown keys only, or a hybrid key, which needs ML-KEM; update this program, or for \
            ML-KEM use libsodium 1.0.22 or this package's Server trait
            """
        case .malformedState:
            "this is not the state of an enrolled device; store it unchanged: enrollment, record, and proven"
        }
    }
}
