/// The one of Apple's two push services that accepts a token.
public enum PushEnvironment: String, Hashable, Sendable, CaseIterable, Codable {
    /// Apps from the App Store and TestFlight.
    case production
    /// Apps that were installed by Xcode.
    case sandbox
}
