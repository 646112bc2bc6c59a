import Foundation
import PushService

/// The settings of `Local.xcconfig`, from each target's `Info.plist`.
nonisolated enum Build {
    private static let settings = Bundle.main.object(forInfoDictionaryKey: "SealedPush") as? [String: String] ?? [:]

    static let group = settings["Group"] ?? ""
    /// If the key is missing or mistyped, every message ends as `unknown-sender`.
    static let sender = settings["Sender"] ?? ""
    static let server = settings["Server"].flatMap {
        URL(string: "\($0.hasPrefix("localhost") ? "http" : "https")://\($0)")
    }
}

extension ServiceConfiguration {
    /// The configuration of the app and its extension. This folder belongs to both targets.
    nonisolated static let messages = ServiceConfiguration(
        group: Build.group,
        trusting: [Build.sender],
        safeDefault: String(localized: "You have a new message!")
    )
}
