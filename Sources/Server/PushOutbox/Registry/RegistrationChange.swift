/// The changes made by registering a device.
public struct RegistrationChange: Hashable, Sendable {
    /// Whether the device was not known before.
    public let isNew: Bool
    /// The number of waiting pushes and dead letters discarded because they were meant for an earlier user, key, or holder of the address.
    public let discardedCount: Int
    /// The device that had the address before and has none now.
    public let addressTakenFrom: DeviceName?

    package init(isNew: Bool, discardedCount: Int, addressTakenFrom: DeviceName?) {
        self.isNew = isNew
        self.discardedCount = discardedCount
        self.addressTakenFrom = addressTakenFrom
    }
}
