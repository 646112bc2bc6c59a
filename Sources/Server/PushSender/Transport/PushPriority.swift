internal import PushCore

/// The value of `apns-priority`.
public enum PushPriority: Int, Hashable, Sendable, CaseIterable {
    /// Deliver immediately.
    case immediate = 10
    /// Deliver when it suits the device's battery.
    case considerate = 5

    /// The name in an order's JSON and on the command line.
    package var name: String {
        switch self {
        case .immediate: "immediate"
        case .considerate: "considerate"
        }
    }

    /// Returns nil if no priority has this name, byte for byte.
    package init?(name: String) {
        guard let known = Self.allCases.first(where: { $0.name.hasBytes(of: name) }) else { return nil }
        self = known
    }
}
