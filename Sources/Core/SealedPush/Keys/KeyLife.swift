/// Where in its life a key is, and since when.
///
/// A key is made, confirmed by the first message that opens under it, retired when a newer one is confirmed, and
/// erased. Revoking cuts that short. A state is never left for an earlier one. Source: Specification 13.
public struct KeyLife: Hashable, Sendable {
    public let created: Timestamp
    /// When it was known to be in use at both ends; nil while it waits for that.
    public private(set) var confirmed: Timestamp?
    /// When a newer key took its place.
    public private(set) var retired: Timestamp?
    /// When it was declared stolen or unwanted.
    public private(set) var revoked: Timestamp?
    /// When its secret was destroyed.
    public private(set) var erased: Timestamp?

    public enum State: String, Sendable, CaseIterable {
        /// Sealed to, and opens.
        case active
        /// Opens what was sent in time; no longer sealed to.
        case retired
        /// Neither.
        case revoked
        /// Its secret is gone.
        case erased
    }

    /// - Parameter confirmed: nil for a key that is to take another one's place.
    public init(created: Timestamp, confirmed: Timestamp? = nil) {
        self.created = created
        self.confirmed = confirmed
    }

    /// From storage.
    package init(
        created: Timestamp, confirmed: Timestamp?, retired: Timestamp?, revoked: Timestamp?, erased: Timestamp?
    ) {
        self.created = created
        self.confirmed = confirmed
        self.retired = retired
        self.revoked = revoked
        self.erased = erased
    }

    public var state: State {
        if erased != nil { return .erased }
        if revoked != nil { return .revoked }
        return retired == nil ? .active : .retired
    }

    /// Whether a message may open under the key at all.
    public var opens: Bool { state == .active || state == .retired }

    /// What a retired key opens must not be `sent` later than this; nil for a key in any other state.
    public var opensUntil: Timestamp? {
        guard state == .retired else { return nil }
        return retired?.advanced(bySeconds: RotationRules.grace)
    }

    /// When a retired key is to be erased; nil for a key in any other state.
    public var erasureDue: Timestamp? {
        guard state == .retired else { return nil }
        return retired?.advanced(bySeconds: RotationRules.retirement)
    }

    /// Notes the first message under the key; later ones change nothing.
    public mutating func confirm(at now: Timestamp) {
        if confirmed == nil { confirmed = now }
    }

    /// A newer key has taken its place. Does nothing to a key that is not active.
    public mutating func retire(at now: Timestamp) {
        if state == .active { retired = now }
    }

    /// It was stolen, or is not wanted any more. Does nothing to a key that is revoked or erased.
    public mutating func revoke(at now: Timestamp) {
        if opens { revoked = now }
    }

    /// Its secret is gone.
    public mutating func erase(at now: Timestamp) {
        if state != .erased { erased = now }
    }
}
