public import Foundation

/// The notifications of this process, kept in memory (Apple, UNUserNotificationCenter): what an app's own calls need to
/// compile and run here.
///
/// A lock guards the state. A request is delivered at once; the person always agrees.
public final class UNUserNotificationCenter: NSObject {
    // Safe: all of a center's state is behind its lock.
    nonisolated(unsafe) private static let shared = UNUserNotificationCenter()

    private let lock = NSLock()
    private var delivered: [UNNotification] = []
    private var changes = Changes()
    /// Answers in place of this process, if its list is elsewhere. Set before the center is used.
    package nonisolated(unsafe) var elsewhere: (nonisolated(nonsending) () async -> [UNNotification])?
    private weak var lockedDelegate: (any UNUserNotificationCenterDelegate)?

    /// An app's or extension's own changes: the identifiers it removed, and the number it set on the icon.
    package struct Changes: Sendable {
        package var removed: [String] = []
        package var badge: Int?
    }

    /// Makes a center of its own.
    package override init() {}

    /// The center of this process.
    public class func current() -> UNUserNotificationCenter { shared }

    /// Who answers for the app.
    public weak var delegate: (any UNUserNotificationCenterDelegate)? {
        get { lock.withLock { lockedDelegate } }
        set { lock.withLock { lockedDelegate = newValue } }
    }
}

// Apple's calls. The `async` ones stay with their caller's actor, so that a center, which is not `Sendable`, can be
// used from any.
extension UNUserNotificationCenter {
    /// Asks the person to allow notifications.
    nonisolated(nonsending) public func requestAuthorization(
        options: UNAuthorizationOptions = []
    ) async throws -> Bool { true }

    /// Shows a notification in place of one with the same identifier.
    nonisolated(nonsending) public func add(_ request: UNNotificationRequest) async throws {
        deliver(UNNotification(request: request, date: Date()))
    }

    /// Puts a notification into the list, as the system does. Returns the identifiers of those that fall off it.
    @discardableResult package func deliver(_ notification: UNNotification) -> [String] {
        forget([notification.request.identifier])
        return lock.withLock {
            delivered.append(notification)
            // As many are kept; Apple doesn't say what its limit is.
            let fallen = delivered.dropLast(1_000).map(\.request.identifier)
            delivered.removeFirst(fallen.count)
            return fallen
        }
    }

    /// Removes notifications, as the system does. Returns whether there were any.
    @discardableResult package func forget(_ identifiers: [String]) -> Bool {
        lock.withLock {
            let count = delivered.count
            delivered.removeAll { identifiers.contains($0.request.identifier) }
            return delivered.count < count
        }
    }

    /// Returns what was changed since the last call.
    package func takeChanges() -> Changes {
        lock.withLock {
            defer { changes = Changes() }
            return changes
        }
    }

    package var notifications: [UNNotification] { lock.withLock { delivered } }

    /// Returns the notifications in the list, the oldest first.
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

/// What an app asks to be allowed (Apple, UNAuthorizationOptions).
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
    /// In Notification Center.
    public static var list: UNNotificationPresentationOptions { .init(rawValue: 1 << 3) }
    /// As a banner.
    public static var banner: UNNotificationPresentationOptions { .init(rawValue: 1 << 4) }
}

/// What an app answers when a notification comes or is answered (Apple, UNUserNotificationCenterDelegate).
///
/// Apple's requirements are optional; here each has a default. A system calls the `async` one, whose default passes the
/// call on, so a delegate may implement either.
public protocol UNUserNotificationCenterDelegate: NSObjectProtocol {
    /// Handles what a person did with a notification.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void)

    /// Handles what a person did with a notification.
    func userNotificationCenter(_ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse) async

    /// Says how a notification is shown that comes while the app is open.
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
