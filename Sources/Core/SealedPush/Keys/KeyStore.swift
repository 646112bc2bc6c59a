/// Where a device's own keys are kept: Apple's keychain, files, or memory.
///
/// Called from several threads at once. A call may block; the service module gives up on one that takes too long.
public protocol KeyStore: Sendable {
    /// The keys whose recipient has this ID; several may (an ID is four bytes), none is no error.
    func keys(for id: KeyID) throws(KeyStoreError) -> [DeviceKey]

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

    public func keys(for id: KeyID) -> [DeviceKey] { keys.filter { $0.identity.recipient.keyID == id } }
}
