public import Foundation

/// The notifications of this process, kept in memory (Apple, UNUserNotificationCenter). It provides what an app's calls
/// need to compile and run here.
///
/// A lock guards the state. A request is delivered immediately, and authorization is always granted.
public final class UNUserNotificationCenter: NSObject {
    // Safe: a lock guards all of a center's state.
    nonisolated(unsafe) private static let shared = UNUserNotificationCenter()

    private let lock = NSLock()
    private var delivered: [UNNotification] = []
    private var changes = Changes()
    /// Returns the delivered notifications if another process keeps the list. Set this before using the center.
    package nonisolated(unsafe) var elsewhere: (nonisolated(nonsending) () async -> [UNNotification])?
    private weak var lockedDelegate: (any UNUserNotificationCenterDelegate)?

    /// The changes made by an app or extension: the identifiers it removed, and the number it set on the icon.
    package struct Changes: Sendable {
        package var removed: [String] = []
        package var badge: Int?
    }

    /// Creates a separate center.
    package override init() {}

    /// The center of this process.
    public class func current() -> UNUserNotificationCenter { shared }

    /// The app's delegate.
    public weak var delegate: (any UNUserNotificationCenterDelegate)? {
        get { lock.withLock { lockedDelegate } }
        set { lock.withLock { lockedDelegate = newValue } }
    }
}

// Apple's API. The `async` functions run on their caller's actor, so that any actor can use a center even though it
// isn't `Sendable`.
extension UNUserNotificationCenter {
    /// Requests permission to show notifications; always granted here.
    nonisolated(nonsending) public func requestAuthorization(
        options: UNAuthorizationOptions = []
    ) async throws -> Bool { true }

    /// Shows a notification, replacing any with the same identifier.
    nonisolated(nonsending) public func add(_ request: UNNotificationRequest) async throws {
        deliver(UNNotification(request: request, date: Date()))
    }

    /// Adds a notification to the list, as the system does. Returns the identifiers that no longer fit in the list.
    @discardableResult package func deliver(_ notification: UNNotification) -> [String] {
        forget([notification.request.identifier])
        return lock.withLock {
            delivered.append(notification)
            // Keeps the newest 1,000. Apple doesn't document its limit.
            let fallen = delivered.dropLast(1_000).map(\.request.identifier)
            delivered.removeFirst(fallen.count)
            return fallen
        }
    }

    /// Removes notifications, as the system does. Returns whether any were removed.
    @discardableResult package func forget(_ identifiers: [String]) -> Bool {
        lock.withLock {
            let count = delivered.count
            delivered.removeAll { identifiers.contains($0.request.identifier) }
            return delivered.count < count
        }
    }

    /// Returns the changes since the last call.
    package func takeChanges() -> Changes {
        lock.withLock {
            defer { changes = Changes() }
            return changes
        }
    }

    package var notifications: [UNNotification] { lock.withLock { delivered } }

    /// Returns the notifications in the list, oldest first.
    nonisolated(nonsending) public func deliveredNotifications() async -> [UNNotification] {
        await elsewhere?() ?? notifications
    }

    /// Sets the number on the app's icon.
    nonisolated(nonsending) public func setBadgeCount(_ newBadgeCount: Int) async throws {
        lock.withLock { changes.badge = newBadgeCount }
    }

    /// Removes all delivered notifications.
    public func removeAllDeliveredNotifications() { lock.withLock { delivered = [] } }

    /// Removes the delivered notifications with these identifiers.
    public func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {
        lock.withLock { changes.removed += identifiers }
        forget(identifiers)
    }
}

/// The notification features that an app requests (Apple, UNAuthorizationOptions).
public struct UNAuthorizationOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// A number on the app's icon.
    public static var badge: UNAuthorizationOptions { .init(rawValue: 1 << 0) }
    /// Sounds.
    public static var sound: UNAuthorizationOptions { .init(rawValue: 1 << 1) }
    /// Alerts.
    public static var alert: UNAuthorizationOptions { .init(rawValue: 1 << 2) }
}

/// How a notification is shown while its app is open (Apple, UNNotificationPresentationOptions).
public struct UNNotificationPresentationOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// A number on the app's icon.
    public static var badge: UNNotificationPresentationOptions { .init(rawValue: 1 << 0) }
    /// Sounds.
    public static var sound: UNNotificationPresentationOptions { .init(rawValue: 1 << 1) }
    /// An entry in Notification Center.
    public static var list: UNNotificationPresentationOptions { .init(rawValue: 1 << 3) }
    /// A banner.
    public static var banner: UNNotificationPresentationOptions { .init(rawValue: 1 << 4) }
}

/// An app's responses to incoming notifications and to people's actions (Apple, UNUserNotificationCenterDelegate).
///
/// Apple's requirements are optional; here each has a default. The system calls the `async` requirement, whose default
/// forwards to the other one, so a delegate may implement either.
public protocol UNUserNotificationCenterDelegate: NSObjectProtocol {
    /// Handles a person's response to a notification.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void)

    /// Handles a person's response to a notification.
    func userNotificationCenter(_ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse) async

    /// Chooses how to show a notification that arrives while the app is open.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void)
}

extension UNUserNotificationCenterDelegate {
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        completionHandler([])
    }

    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        completionHandler()
    }

    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
    ) async {
        await withCheckedContinuation { continuation in
            userNotificationCenter(center, didReceive: response) { continuation.resume() }
        }
    }
}
