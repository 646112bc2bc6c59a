import PushService

nonisolated final class NotificationService: SealedNotificationService {
    override var configuration: ServiceConfiguration { .messages }
}
