import PushService

/// Opens sealed pushes. Any other push shows the safe default.
///
/// To also support another provider's extension, see Docs/Migration.md.
nonisolated final class NotificationService: SealedNotificationService {
    override var configuration: ServiceConfiguration { .messages }
}
