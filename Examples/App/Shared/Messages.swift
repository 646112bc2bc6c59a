import Foundation
import PushService
import SealedPush

/// The settings of `Local.xcconfig`, from each target's `Info.plist`.
nonisolated enum Build {
    private static let settings = Bundle.main.object(forInfoDictionaryKey: "SealedPush") as? [String: String] ?? [:]

    /// The app's bundle ID. A message sealed for one bundle ID doesn't open in another.
    static let topic = settings["Topic"].flatMap(Topic.init(parsing:)) ?? "com.example.app"
    static let group = settings["Group"] ?? ""
    /// The keychain group with the team's prefix, such as `ABCDE12345.`.
    static let keychainGroup = settings["KeychainGroup"] ?? ""
    /// The trusted senders. Empty if the key is missing or mistyped; every message then ends as `unknown-sender`.
    static let senders = settings["Sender"].flatMap { try? SenderPublicKey(parsing: $0) }.map { [$0] } ?? []
    static let server = settings["Server"].flatMap {
        URL(string: "\($0.hasPrefix("localhost") ? "http" : "https")://\($0)")
    }

    /// Debug builds from Xcode get sandbox tokens; Release builds from TestFlight and the App Store get production tokens.
    #if DEBUG
    static let environment = PushEnvironment.sandbox
    #else
    static let environment = PushEnvironment.production
    #endif
}

extension ServiceConfiguration {
    /// The configuration of the app and its extension. This folder belongs to both targets.
    nonisolated static let messages = ServiceConfiguration(
        topic: Build.topic,
        keys: .keychain(accessGroup: Build.keychainGroup),
        trusting: Build.senders,
        safeDefault: SafeDefault(body: String(localized: "You have a new message!")),
        container: .appGroup("group." + Build.group)
    )
}
