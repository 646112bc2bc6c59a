/// Which of Apple's two services knows a token.
public enum PushEnvironment: String, Hashable, Sendable, CaseIterable, Codable {
    /// Apps from the App Store and TestFlight.
    case production
    /// Apps that Xcode has installed.
    case sandbox

    var code: Int { self == .production ? 0 : 1 }

    init(code: Int) { self = code == 0 ? .production : .sandbox }
}
