/// The storage of a device's own keys: Apple's keychain, files, or memory.
///
/// Called from several threads concurrently. A call may block; the service module gives up on a call that takes too long.
public protocol KeyStore: Sendable {
    /// Returns the keys whose public half is wanted, in any order. An empty result isn't an error.
    ///
    /// `isWanted` takes about 1 µs. A store calls it for each public half, and reads only the wanted secrets.
    func keys(matching isWanted: (DevicePublicKey) -> Bool) throws(KeyStoreError) -> [DeviceKey]

    /// Returns the newest sender set of these authorities that was accepted for an app; it is verified again on each use.
    /// Stored with the keys, so that only both together can be rolled back. A store keeps the newest set of each authority.
    /// Stores without sender sets need not implement this.
    func senderSet(for topic: Topic, of authorities: [AuthorityPublicKey]) throws(KeyStoreError) -> SenderSet?
}

extension KeyStore {
    public func senderSet(
        for topic: Topic, of authorities: [AuthorityPublicKey]
    ) throws(KeyStoreError) -> SenderSet? { nil }
}
