/// The value of `apns-priority`.
public enum PushPriority: Int, Hashable, Sendable, CaseIterable {
    /// Deliver immediately.
    case immediate = 10
    /// Deliver when it suits the device's battery.
    case considerate = 5
}
