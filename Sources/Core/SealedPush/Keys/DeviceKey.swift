/// One of a device's own keys and its life.
public struct DeviceKey: Sendable {
    /// The private key.
    public let identity: DevicePrivateKey
    /// The key's life: a retired key opens only what was sent in time, and a revoked key doesn't open anything.
    public let life: KeyLife

    /// Creates a key with a known life.
    public init(_ identity: DevicePrivateKey, life: KeyLife) {
        self.identity = identity
        self.life = life
    }

    /// Creates a key that is in use.
    public init(_ identity: DevicePrivateKey, created: Timestamp) {
        self.init(identity, life: KeyLife(created: created, confirmed: created))
    }

    /// Whether a key is tried before another: active before retired, newest first. Source: Specification 3.2.
    static func isTriedBefore(_ first: DeviceKey, _ second: DeviceKey) -> Bool {
        if first.life.state != second.life.state { return first.life.state == .active }
        return first.life.created > second.life.created
    }
}
