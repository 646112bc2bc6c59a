public import Foundation

/// The notifications of this process, kept in memory (Apple, UNUserNotificationCenter).
///
/// A lock guards the state; completion handlers are called at once, on the caller's thread and outside the lock.
/// A request without a trigger is delivered at once; one with a trigger stays pending, for nothing fires it.
public final class UNUserNotificationCenter: NSObject {
    // Safe: all of a center's state is behind its lock.
    nonisolated(unsafe) private static let shared = UNUserNotificationCenter()

    private let lock = NSLock()
    private var state = State()
    private weak var lockedDelegate: (any UNUserNotificationCenterDelegate)?
    private let now: () -> Date

    /// Makes a center of its own, with its own clock.
    package init(now: @escaping () -> Date = { Date() }) {
        self.now = now
    }

    /// The center of this process.
    public class func current() -> UNUserNotificationCenter { shared }

    /// Who answers for the app.
    public weak var delegate: (any UNUserNotificationCenterDelegate)? {
        get { lock.withLock { lockedDelegate } }
        set { lock.withLock { lockedDelegate = newValue } }
    }

    /// Whether content extensions are shown: none are.
    public var supportsContentExtensions: Bool { false }

    /// What the app may do; at first `.notDetermined`. A system sets it, for example to `.denied`.
    package var settings: UNNotificationSettings {
        get { withState { $0.settings } }
        set { withState { $0.settings = newValue } }
    }

    /// The categories the app has set.
    package var categories: Set<UNNotificationCategory> {
        get { withState { $0.categories } }
        set { withState { $0.categories = newValue } }
    }

    /// The requests that wait for their trigger, the oldest first.
    package var pending: [UNNotificationRequest] { withState { $0.pending } }

    /// The notifications in the list, the oldest first.
    package var delivered: [UNNotification] { withState { $0.delivered } }

    /// The number on the app's icon.
    package var badgeCount: Int { withState { $0.badgeCount } }

    /// Puts a notification into the list in place of one with the same identifier.
    package func deliver(_ notification: UNNotification) {
        withState { $0.deliver(notification) }
    }

    /// Lets the person agree unless the settings already say no; answers whether the app is allowed.
    func authorize(_ options: UNAuthorizationOptions) -> Bool {
        withState { state in
            guard state.settings.authorizationStatus != .denied else { return false }
            let status: UNAuthorizationStatus = options.contains(.provisional) ? .provisional : .authorized
            state.settings = UNNotificationSettings(status, for: options)
            return true
        }
    }

    /// Delivers the request or keeps it pending.
    func accept(_ request: UNNotificationRequest) throws(UNError) {
        let isAllowed = withState { state in
            guard state.settings.authorizationStatus != .denied else { return false }
            state.removePending([request.identifier])
            if request.trigger == nil {
                state.deliver(UNNotification(request: request, date: now()))
            } else {
                state.pending.append(request)
            }
            return true
        }
        guard isAllowed else { throw UNError(.notificationsNotAllowed) }
    }

    /// Sets the number on the app's icon, which can't be negative.
    func setBadge(_ count: Int) throws(UNError) {
        guard count >= 0 else { throw UNError(.badgeInputInvalid) }
        withState { $0.badgeCount = count }
    }

    /// Removes the pending requests with these identifiers.
    public func removePendingNotificationRequests(withIdentifiers identifiers: [String]) {
        withState { $0.removePending(identifiers) }
    }

    /// Removes all pending requests.
    public func removeAllPendingNotificationRequests() {
        withState { $0.pending = [] }
    }

    /// Removes the delivered notifications with these identifiers.
    public func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {
        withState { $0.removeDelivered(identifiers) }
    }

    /// Removes all delivered notifications.
    public func removeAllDeliveredNotifications() {
        withState { $0.delivered = [] }
    }

    private func withState<Answer>(_ body: (inout State) -> Answer) -> Answer {
        lock.withLock { body(&state) }
    }

    private struct State {
        var settings = UNNotificationSettings(.notDetermined)
        var categories: Set<UNNotificationCategory> = []
        var pending: [UNNotificationRequest] = []
        var delivered: [UNNotification] = []
        var badgeCount = 0

        mutating func deliver(_ notification: UNNotification) {
            removeDelivered([notification.request.identifier])
            delivered.append(notification)
        }

        mutating func removePending(_ identifiers: [String]) {
            pending.removeAll { identifiers.contains($0.identifier) }
        }

        mutating func removeDelivered(_ identifiers: [String]) {
            delivered.removeAll { identifiers.contains($0.request.identifier) }
        }
    }
}
