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

    /// From storage: by their names.
    package init?(moments: [String: Timestamp]) {
        guard let created = moments["created"] else { return nil }
        self.created = created
        (confirmed, retired) = (moments["confirmed"], moments["retired"])
        (revoked, erased) = (moments["revoked"], moments["erased"])
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

    /// Returns when a retired key is to be erased, a day after `days`; nil for a key in any other state.
    public func erasureDue(keeping days: Int = 30) -> Timestamp? {
        guard state == .retired else { return nil }
        return retired?.advanced(bySeconds: (Int64(days) + 1) * 86_400)
    }

    /// Notes the first message under the key; later ones change nothing.
    public mutating func confirm(at now: Timestamp) { if confirmed == nil { confirmed = now } }

    /// A newer key has taken its place. Does nothing to a key that is not active.
    public mutating func retire(at now: Timestamp) { if state == .active { retired = now } }

    /// It was stolen, or is not wanted any more. Does nothing to a key that is revoked or erased.
    public mutating func revoke(at now: Timestamp) { if opens { revoked = now } }

    /// Its secret is gone.
    public mutating func erase(at now: Timestamp) { if state != .erased { erased = now } }
}

/// Where a device's own keys are kept: Apple's keychain, files, or memory.
///
/// Called from several threads at once. A call may block; the service module gives up on one that takes too long.
public protocol KeyStore: Sendable {
    /// Returns the keys whose public half is wanted, in any order; none is not an error.
    ///
    /// `isWanted` costs about 1 µs. A store asks it about all public halves, and reads only the secrets that are wanted.
    func keys(matching isWanted: (DevicePublicKey) -> Bool) throws(KeyStoreError) -> [DeviceKey]

    /// The newest sender set that was accepted for an app; it is verified again each time it is used. Kept beside the
    /// keys, so that it can't be put back to an older one without them. Stores that keep none need not have this.
    func senderSet(for topic: Topic) throws(KeyStoreError) -> SenderSet?
}

extension KeyStore {
    public func senderSet(for topic: Topic) throws(KeyStoreError) -> SenderSet? { nil }
}

/// Why a store could not be asked.
public enum KeyStoreError: Error, Equatable, Sendable {
    /// The device has not been unlocked since it started; later it will work.
    case locked
    /// Anything else. The text says what, and holds no secret.
    case unavailable(String)
}

/// One of a device's own keys, with what is known about its life.
public struct DeviceKey: Sendable {
    /// What opens.
    public let identity: DevicePrivateKey
    /// Where in its life it is: a retired key opens only what was sent in time, a revoked one nothing.
    public let life: KeyLife

    public init(_ identity: DevicePrivateKey, life: KeyLife) {
        self.identity = identity
        self.life = life
    }

    /// A key that is in use.
    public init(_ identity: DevicePrivateKey, created: Timestamp) {
        self.init(identity, life: KeyLife(created: created, confirmed: created))
    }

    /// The order in which keys are tried: active before retired, newest first. Source: Specification 3.2.
    static func isTriedBefore(_ first: DeviceKey, _ second: DeviceKey) -> Bool {
        if first.life.state != second.life.state { return first.life.state == .active }
        return first.life.created > second.life.created
    }
}

/// A store that forgets everything with the process: for tests, and for tools that hold one key for one call.
public struct InMemoryKeyStore: KeyStore {
    private let keys: [DeviceKey]
    private let set: SenderSet?

    public init(_ keys: [DeviceKey], senderSet: SenderSet? = nil) {
        self.keys = keys
        set = senderSet
    }

    public func senderSet(for topic: Topic) -> SenderSet? { set?.topic == topic ? set : nil }

    public func keys(matching isWanted: (DevicePublicKey) -> Bool) -> [DeviceKey] {
        keys.filter { isWanted($0.identity.recipient) }
    }
}
