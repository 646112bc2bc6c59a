import PushService
import SealedPush

/// Opens sealed pushes. Any other push shows the safe default.
///
/// Where that provider brings an extension of its own, it is called from `didReceive`: Docs/Migration.md.
nonisolated final class NotificationService: SealedNotificationService {
    override var configuration: ServiceConfiguration { .messages }
}
