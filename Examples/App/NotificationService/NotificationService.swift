import PushService
import SealedPush

/// Opens what is sealed, and lets another provider's pushes pass as they came.
///
/// Where that provider brings an extension of its own, it is called from `didReceive`: Docs/AppGuide.md, 21.
nonisolated final class NotificationService: SealedNotificationService {
    override var configuration: ServiceConfiguration { .messages }
}
