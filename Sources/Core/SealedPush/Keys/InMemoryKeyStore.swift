/// A store that lasts only as long as the process: for tests, and for tools that hold one key for one call.
public struct InMemoryKeyStore: KeyStore {
    private let keys: [DeviceKey]
    private let set: SenderSet?

    /// Creates a store of these keys, with the only sender set that can apply.
    public init(_ keys: [DeviceKey], senderSet: SenderSet? = nil) {
        self.keys = keys
        set = senderSet
    }

    public func senderSet(for topic: Topic, of authorities: [AuthorityPublicKey]) -> SenderSet? {
        set.flatMap { $0.topic == topic && authorities.contains($0.authority) ? $0 : nil }
    }

    public func keys(matching isWanted: (DevicePublicKey) -> Bool) -> [DeviceKey] {
        keys.filter { isWanted($0.identity.recipient) }
    }
}
