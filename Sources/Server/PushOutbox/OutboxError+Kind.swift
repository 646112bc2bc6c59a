extension OutboxError {
    /// The part that failed, and so who can do something about it.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Kind: Hashable, Sendable {
        /// The caller's mistake: the call can't succeed as it is. It names an unknown device, for example, or a key that was
        /// used for other content. The outbox works.
        case request
        /// The storage is in use by others or out of reach at the moment. Repeat the call later.
        case busy
        /// The storage failed: the disk, the file, or the database. The outbox's contents are intact.
        case storage
        /// This process may not use the outbox: it lacks a right or the outbox's key, or others have too many rights.
        case access
        /// The contents are wrong: damaged, altered by someone else, or another program's or version's.
        case damage
    }

    public var kind: Kind {
        switch self {
        case .unknownDevice, .unknownUser, .otherUser, .otherEnrollment, .enrolledElsewhere, .tooManyDevices,
            .notEnrolled, .record, .challenge, .seal, .keyUsedForOthers, .keyText:
            .request
        case .busy, .deviceBusy, .unreachable: .busy
        case .cannotOpen, .readOnly, .replaced, .tooManyOpenFiles, .diskFull, .database, .server, .connection: .storage
        case .exposed, .notPermitted, .keyNeeded: .access
        case .damaged, .foreign, .otherSchema, .otherKey, .forged, .damagedDevice: .damage
        }
    }
}
