/// Why a signed record is not believed, or can't be made. The codes are stable. Never holds anything of the record.
///
/// Source: Specification 11.3.
public enum RecordError: String, Error, CaseIterable, Sendable {
    /// Not in the form of Specification 11.1.
    case malformed
    /// A typing or copying error.
    case wrongChecksum = "wrong-checksum"
    /// A record of another kind than the one that is expected here.
    case wrongType = "wrong-type"
    /// Not signed by the key that it names.
    case badSignature = "bad-signature"
    /// Signed by another key than the pinned one.
    case foreignSigner = "foreign-signer"
    /// Made for another app.
    case otherTopic = "other-topic"
    /// Made more than 26 hours ahead of now.
    case notYetValid = "not-yet-valid"
    /// Past its end.
    case expired
    /// Older than the record that is known already.
    case rolledBack = "rolled-back"
    /// As new as the record that is known already, and not the same.
    case conflicting
    /// None of its recipients has answered a challenge yet.
    case unproven
}

extension RecordError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .malformed:
            """
            this is no well-formed record: its text begins with pushrecord. and has no spaces, it names 1 to 16 keys, none \
            twice, and it ends after it was made
            """
        case .wrongChecksum: "the record was altered or cut on the way: copy it again, as a whole"
        case .wrongType: "this is another kind of record: a device's and a sender set can't stand for one another"
        case .badSignature: "the record is not signed by the key it names: it was altered or forged"
        case .foreignSigner: "the record is signed by another key than the pinned one: ask its owner which is right"
        case .otherTopic: "the record is for another app: its topic differs"
        case .notYetValid: "the record was made more than 26 hours ahead of this clock: compare the two clocks"
        case .expired: "the record has expired: ask for a new one"
        case .rolledBack: "the record is older than the one that is known already: ask for the newest"
        case .conflicting:
            "there are two different records with this counter: have a new one signed, with a higher counter"
        case .unproven: "none of the record's recipients has answered a challenge yet: send one"
        }
    }
}
