public import SealedPush

/// The work that ``ThisDevice/maintain(rotatingOlderThan:serverKnows:at:)`` did, and the record to hand to the server.
public struct DeviceMaintenance: Hashable, Sendable {
    let steps: Steps
    /// New keys under which a message has opened; they are in use now.
    public var confirmed: [DevicePublicKey] { steps.confirmed }
    /// Keys that now open only messages sent until two hours after they retired.
    public var retired: [DevicePublicKey] { steps.retired }
    /// Keys that were erased.
    public var erased: [DevicePublicKey] { steps.erased }
    /// The new key, if one was created.
    public var rotated: DevicePublicKey? { steps.rotated }
    /// The newest record. Send it to the server unless the server already has it; compare `DeviceRecord.counter`.
    public let record: DeviceRecord
    /// The time since which a new key has been waiting for its first message; nil if there is no such key.
    public let waitingSince: Timestamp?
    /// Whether that key has waited for more than 45 days. If so, the server probably never got the record.
    public let isOverdue: Bool

    struct Steps: Hashable {
        var confirmed: [DevicePublicKey] = []
        var retired: [DevicePublicKey] = []
        var erased: [DevicePublicKey] = []
        var rotated: DevicePublicKey?
    }
}
