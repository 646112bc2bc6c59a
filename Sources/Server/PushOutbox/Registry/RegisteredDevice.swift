public import SealedPush

/// One installation of the app on one device, as registered on the server.
public struct RegisteredDevice: Hashable, Sendable {
    /// The device's name, unique in the outbox.
    public let name: DeviceName
    /// The user who is logged in on the device.
    public let user: UserName
    /// The app's topic.
    public let topic: Topic
    /// The keys that messages are sealed to.
    public internal(set) var keys: RegisteredKeys
    /// The address that pushes are delivered to.
    public internal(set) var address: AddressState

    /// Creates a registration.
    public init(name: DeviceName, user: UserName, topic: Topic, keys: RegisteredKeys, address: AddressState) {
        self.name = name
        self.user = user
        self.topic = topic
        self.keys = keys
        self.address = address
    }
}
