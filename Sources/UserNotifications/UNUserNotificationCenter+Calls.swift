// Apple's calls, each with a completion handler and as `async`. The `async` ones stay with their caller's actor,
// so that a center, which is not `Sendable`, can be used from any.
extension UNUserNotificationCenter {
    /// Asks the person to allow notifications; here the answer is yes unless the settings say `.denied`.
    public func requestAuthorization(
        options: UNAuthorizationOptions = [], completionHandler: @escaping (Bool, (any Error)?) -> Void
    ) {
        completionHandler(authorize(options), nil)
    }

    nonisolated(nonsending) public func requestAuthorization(
        options: UNAuthorizationOptions = []
    ) async throws -> Bool {
        authorize(options)
    }

    /// Declares the app's categories in place of those it had.
    public func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {
        self.categories = categories
    }

    /// Returns the app's categories.
    public func getNotificationCategories(completionHandler: @escaping (Set<UNNotificationCategory>) -> Void) {
        completionHandler(categories)
    }

    nonisolated(nonsending) public func notificationCategories() async -> Set<UNNotificationCategory> {
        categories
    }

    /// Returns what the app may do.
    public func getNotificationSettings(completionHandler: @escaping (UNNotificationSettings) -> Void) {
        completionHandler(settings)
    }

    nonisolated(nonsending) public func notificationSettings() async -> UNNotificationSettings {
        settings
    }

    /// Adds a local notification; it fails when the app may show none.
    public func add(
        _ request: UNNotificationRequest, withCompletionHandler completionHandler: (((any Error)?) -> Void)? = nil
    ) {
        do {
            try accept(request)
            completionHandler?(nil)
        } catch {
            completionHandler?(error)
        }
    }

    nonisolated(nonsending) public func add(_ request: UNNotificationRequest) async throws {
        try accept(request)
    }

    /// Returns the requests that wait for their trigger.
    public func getPendingNotificationRequests(completionHandler: @escaping ([UNNotificationRequest]) -> Void) {
        completionHandler(pending)
    }

    nonisolated(nonsending) public func pendingNotificationRequests() async -> [UNNotificationRequest] {
        pending
    }

    /// Returns the notifications in the list.
    public func getDeliveredNotifications(completionHandler: @escaping ([UNNotification]) -> Void) {
        completionHandler(delivered)
    }

    nonisolated(nonsending) public func deliveredNotifications() async -> [UNNotification] {
        delivered
    }

    /// Sets the number on the app's icon; it fails for a negative one.
    public func setBadgeCount(
        _ newBadgeCount: Int, withCompletionHandler completionHandler: (((any Error)?) -> Void)? = nil
    ) {
        do {
            try setBadge(newBadgeCount)
            completionHandler?(nil)
        } catch {
            completionHandler?(error)
        }
    }

    nonisolated(nonsending) public func setBadgeCount(_ newBadgeCount: Int) async throws {
        try setBadge(newBadgeCount)
    }
}
