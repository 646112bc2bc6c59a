import Foundation
import PushService
import SealedPush

/// What differs between the builds.
///
/// A bundle ID is a topic of its own: what is sealed for one opens in no other. Each has groups of its own, too, so that
/// both apps can be on one phone. The same names are in the project's settings, as `BUNDLE_ID` and `GROUP`.
nonisolated enum Build {
    #if DEBUG
        static let topic: Topic = "com.example.app.debug"
        static let group = "com.example.debug"
        static let server = "https://push.staging.example.com"
        static let environment = PushEnvironment.sandbox
    #else
        static let topic: Topic = "com.example.app"
        static let group = "com.example"
        static let server = "https://push.example.com"
        static let environment = PushEnvironment.production
    #endif

    /// The team's prefix, `ABCDE12345.`, which Xcode puts into `Info.plist`.
    static let prefix = Bundle.main.object(forInfoDictionaryKey: "AppIdentifierPrefix") as? String ?? ""
}

extension ServiceConfiguration {
    /// For the app and for its extension: this folder belongs to both targets.
    nonisolated static let messages = ServiceConfiguration(
        topic: Build.topic,
        keys: .keychain(accessGroup: Build.prefix + Build.group),
        // A published test key: put your server's here, and your authority's (`authorities:`).
        trusting: ["pushsender159w574d8l6hmv0r2z6kk55535xn84f5fh0u0rredej5frj2kvclqxvm9wj"],
        safeDefault: SafeDefault(body: String(localized: "You have a new message!")),
        container: .appGroup("group." + Build.group),
        // Another provider's. Where there is none, leave it out.
        receivesPlainPushes: true
    )
}
