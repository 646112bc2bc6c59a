import Foundation
import PushService
import SealedPush

/// The notification service of an app with a quote for each day: the server says when, and only the device knows which.
///
/// The app leaves the quote in the shared container, and the extension puts it into the text.
nonisolated final class NotificationService: SealedNotificationService {
    override var configuration: ServiceConfiguration {
        ServiceConfiguration(
            topic: "com.example.app",
            keys: .keychain(accessGroup: "ABCDE12345.com.example.shared"),
            trusting: ["pushsender159w574d8l6hmv0r2z6kk55535xn84f5fh0u0rredej5frj2kvclqxvm9wj"],
            safeDefault: SafeDefault(body: String(localized: "Your quote for today is here.")),
            container: .appGroup("group.com.example"),
            stages: [PlaceholderStage(fallback: String(localized: "Your quote for today is here."))]
        )
    }
}
