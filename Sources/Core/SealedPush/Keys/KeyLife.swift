/// A key's place in its life cycle, and the times at which it changed.
///
/// A key is created, confirmed by the first message that opens under it, retired when a newer one is confirmed, and finally
/// erased. Revoking it ends this early. A key never returns to an earlier state. Source: Specification 13.
public struct KeyLife: Hashable, Sendable {
    /// The time at which the key was created.
    public let created: Timestamp
    /// The time at which it was known to be in use at both ends; nil until then.
    public private(set) var confirmed: Timestamp?
    /// The time at which a newer key replaced it.
    public private(set) var retired: Timestamp?
    /// The time at which it was declared stolen or unwanted.
    public private(set) var revoked: Timestamp?
    /// The time at which its secret was destroyed.
    public private(set) var erased: Timestamp?

    /// The states of a key.
    public enum State: String, Sendable, CaseIterable {
        /// New messages are sealed to it, and it opens messages.
        case active
        /// It opens only messages that were sent in time; new ones are no longer sealed to it.
        case retired
        /// Messages are neither sealed to it nor opened with it.
        case revoked
        /// Its secret was destroyed.
        case erased
    }

    /// Creates the life of a new key; `confirmed` is nil for a key that is to replace another one.
    public init(created: Timestamp, confirmed: Timestamp? = nil) {
        self.created = created
        self.confirmed = confirmed
    }

    /// Restores a key's life from stored times, keyed by name.
    package init?(moments: [String: Timestamp]) {
        guard let created = moments["created"] else { return nil }
        self.created = created
        (confirmed, retired) = (moments["confirmed"], moments["retired"])
        (revoked, erased) = (moments["revoked"], moments["erased"])
    }

    /// The current state.
    public var state: State {
        if erased != nil { return .erased }
        if revoked != nil { return .revoked }
        return retired == nil ? .active : .retired
    }

    /// Whether the key can open messages at all.
    public var opens: Bool { state == .active || state == .retired }

    /// The latest `sent` time of messages that a retired key opens; nil in any other state.
    public var opensUntil: Timestamp? {
        guard state == .retired else { return nil }
        return retired?.advanced(bySeconds: RotationRules.grace)
    }

    /// Returns the time at which a retired key must be erased, a day after `days`; nil in any other state.
    public func erasureDue(keeping days: Int = 30) -> Timestamp? {
        guard state == .retired else { return nil }
        return retired?.advanced(bySeconds: (Int64(days) + 1) * 86_400)
    }

    /// Whether the key has been unconfirmed for so long that a person should check.
    package func isOverdue(at now: Timestamp) -> Bool {
        state == .active && confirmed == nil && now.seconds(since: created) > RotationRules.confirmationWarning
    }

    /// Records the first message under the key; later calls have no effect.
    public mutating func confirm(at now: Timestamp) { if confirmed == nil { confirmed = now } }

    /// Retires an active key that a newer one replaced. Has no effect in any other state.
    public mutating func retire(at now: Timestamp) { if state == .active { retired = now } }

    /// Revokes a key that was stolen or is no longer wanted. Has no effect on a revoked or erased key.
    public mutating func revoke(at now: Timestamp) { if opens { revoked = now } }

    /// Records that the secret was destroyed.
    public mutating func erase(at now: Timestamp) { if state != .erased { erased = now } }
}
