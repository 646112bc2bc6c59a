import Foundation
import PushService
import SealedPush

/// What `Local.xcconfig` says, by way of each target's `Info.plist`.
nonisolated enum Build {
    private static let settings = Bundle.main.object(forInfoDictionaryKey: "SealedPush") as? [String: String] ?? [:]

    /// The app's bundle ID. A message that was sealed for one doesn't open in another.
    static let topic = settings["Topic"].flatMap(Topic.init(parsing:)) ?? "com.example.app"
    static let group = settings["Group"] ?? ""
    /// With the team's prefix, `ABCDE12345.`.
    static let keychainGroup = settings["KeychainGroup"] ?? ""
    /// Empty if the key is missing or mistyped: then every message ends as `unknown-sender`.
    static let senders = settings["Sender"].flatMap { try? SenderPublicKey(parsing: $0) }.map { [$0] } ?? []
    static let server = settings["Server"].flatMap {
        URL(string: "\($0.hasPrefix("localhost") ? "http" : "https")://\($0)")
    }

    /// Xcode runs the Debug configuration, with tokens of Apple's sandbox; TestFlight and the App Store have Release builds.
    #if DEBUG
        static let environment = PushEnvironment.sandbox
    #else
        static let environment = PushEnvironment.production
    #endif
}

extension ServiceConfiguration {
    /// For the app and for its extension: this folder belongs to both targets.
    nonisolated static let messages = ServiceConfiguration(
        topic: Build.topic,
        keys: .keychain(accessGroup: Build.keychainGroup),
        trusting: Build.senders,
        safeDefault: SafeDefault(body: String(localized: "You have a new message!")),
        container: .appGroup("group." + Build.group)
    )
}
