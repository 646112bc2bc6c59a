public import SealedPush

/// A push that can't be delivered as it is, still sealed. Contains public IDs only.
public struct DeadLetter: Hashable, Sendable {
    /// The push's `apns-id`.
    public let apnsID: String
    /// The device's name; nil if its row is missing or has no valid name, which only another program can cause: dead letters
    /// are deleted with their device, with an address that is gone, and if the device changes its user or key.
    public let device: DeviceName?
    /// The carrier's reason.
    public let reason: String
    /// The number of times the push was sent; 0 if it only waited behind another push.
    public let attempts: Int
    /// The time at which the push was enqueued.
    public let enqueued: Timestamp
    /// The time at which delivery ended.
    public let buried: Timestamp

    package init(_ row: some OutboxRow) throws(OutboxError) {
        apnsID = try row.text("apns_id")
        device = try row.optionalText("name").flatMap(DeviceName.init(parsing:))
        reason = try row.text("reason")
        attempts = try row.count("attempts")
        enqueued = try row.time("enqueued")
        buried = try row.time("buried")
    }
}
