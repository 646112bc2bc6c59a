public import PushSender
public import SealedPush

/// One installation of the app on one device, as the server knows it.
public struct RegisteredDevice: Hashable, Sendable {
    public let name: DeviceName
    /// Who is logged in there.
    public let user: UserName
    /// The app.
    public let topic: Topic
    public let environment: PushEnvironment
    /// What is sealed to.
    public let keys: DeviceKeys
    /// What APNs delivers to.
    public let token: TokenState

    public init(
        name: DeviceName, user: UserName, topic: Topic, environment: PushEnvironment = .production, keys: DeviceKeys,
        token: DeviceToken?, registered: Timestamp
    ) {
        self.init(
            name: name, user: user, topic: topic, environment: environment, keys: keys,
            token: token.map { .active($0, registered: registered) } ?? .none(reason: nil))
    }

    init(
        name: DeviceName, user: UserName, topic: Topic, environment: PushEnvironment, keys: DeviceKeys,
        token: TokenState
    ) {
        self.name = name
        self.user = user
        self.topic = topic
        self.environment = environment
        self.keys = keys
        self.token = token
    }
}

/// How a device's keys are known.
public enum DeviceKeys: Hashable, Sendable {
    /// By signed records and answered challenges.
    case enrolled(EnrolledDevice)
    /// By the app's login alone: nobody vouches for it. Sent to only where the sender asks for that by name.
    case unverified(Recipient)
}

/// Whether a device can be sent to.
public enum TokenState: Hashable, Sendable {
    /// The token, and when the app registered it last.
    case active(DeviceToken, registered: Timestamp)
    /// APNs has refused it, for Apple's reason; it is not used until the app registers it again, or an operator retries.
    case disabled(DeviceToken, registered: Timestamp, reason: String)
    /// None was registered, or APNs has said for this reason that it is gone.
    case none(reason: String?)
}

/// What registering a device has changed.
public struct RegistrationChange: Hashable, Sendable {
    /// Whether the device was not known before.
    public let isNew: Bool
    /// Pushes that waited for someone else at the same place, an earlier user, key or holder of the token, and are gone.
    public let discardedCount: Int
    /// The device that had the token before, and has none now.
    public let tokenTakenFrom: DeviceName?
}
