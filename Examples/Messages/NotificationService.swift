import Foundation
import PushService
import SealedPush

/// A messenger's notification service: who wrote what, or "You have a new message!" whenever that can't be told.
nonisolated final class NotificationService: SealedNotificationService {
    override var configuration: ServiceConfiguration {
        ServiceConfiguration(
            topic: "com.example.app",
            keys: .keychain(accessGroup: "ABCDE12345.com.example.shared"),
            trusting: ["pushsender159w574d8l6hmv0r2z6kk55535xn84f5fh0u0rredej5frj2kvclqxvm9wj"],
            safeDefault: SafeDefault(body: String(localized: "You have a new message!")),
            container: .appGroup("group.com.example")
        )
    }
}
