/// Which of Apple's two services knows a token.
public enum PushEnvironment: String, Hashable, Sendable, CaseIterable, Codable {
    /// Apps from the App Store and TestFlight.
    case production
    /// Apps that Xcode has installed.
    case sandbox
}

/// The most bytes that APNs takes, for every push type that wakes an extension. Source: Specification 5.
package enum PayloadLimit {
    package static let byteCount = 4_096
}
