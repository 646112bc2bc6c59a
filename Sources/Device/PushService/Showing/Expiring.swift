internal import Foundation
internal import PushCore
public import SealedPush
internal import UserNotifications

extension ServiceConfiguration {
    /// Removes the notifications whose messages have expired (`Content.expires`), ten minutes later, as for opening.
    ///
    /// The system can't remove a notification at a given time. The extension does so when the next push arrives, and the app
    /// when it calls this: at each launch, activation, and background task. `SealedPushes` calls it.
    ///
    /// - Returns: The time from which the next one can be removed; nil if no other expires.
    @discardableResult @concurrent public func removeExpired() async -> Timestamp? {
        let now = environment.now()
        let next = await environment.notifications.removeExpired(at: now, seal)
        environment.folder(container.whole).map(ExpiryMarks.init(in:))?.drop(at: now)
        return next
    }
}

extension NotificationList {
    /// Removes what has expired. Returns the time from which the next one can be removed.
    nonisolated(nonsending) func removeExpired(at now: Timestamp, _ seal: NotificationSeal) async -> Timestamp? {
        var (expired, next) = ([String](), Timestamp?.none)
        for notification in await deliveredNotifications() {
            let shown = SealedNotification(userInfo: notification.request.content.userInfo, seal)
            guard let expires = shown?.expires else { continue }
            if now.seconds(since: expires) > TimeRules.expiryGrace {
                expired.append(notification.request.identifier)
            } else {
                let removal = expires.advanced(bySeconds: TimeRules.expiryGrace + 1)
                next = min(next ?? removal, removal)
            }
        }
        if !expired.isEmpty {
            removeDeliveredNotifications(withIdentifiers: expired)
            // The removal returns before it's done, but the system answers in order.
            _ = await deliveredNotifications()
        }
        return next
    }
}

/// The times from which shown notifications can be removed: an empty file for each ten minutes. So a push asks the system for
/// its list only if something has expired. They reveal no message. Source: DeviceState 38.4.
struct ExpiryMarks: Sendable {
    private let root: URL
    private var folder: URL { root.appending(path: "expiring", directoryHint: .isDirectory) }

    /// - Parameter root: The folder `SealedPush` of the shared container.
    init(in root: URL) { self.root = root }

    /// Marks the end of a shown notification. If that fails, the app still removes it.
    func add(_ expires: Timestamp, at now: Timestamp) {
        // No message is accepted for longer than 30 days, so a later end is the app's affair, and the folder stays small.
        guard expires.seconds(since: now) <= TimeRules.maximumAge else { return }
        let end = expires.secondsSince1970 + TimeRules.expiryGrace + 1
        let mark = (end + Self.step - 1) / Self.step * Self.step
        guard (try? FileProtection.always.ensureFolder(root)) != nil,
            (try? FileProtection.always.ensureFolder(folder)) != nil
        else { return }
        let path = folder.appending(path: "\(mark)").path(percentEncoded: false)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }

    /// Whether a shown notification may have expired.
    func areDue(at now: Timestamp) -> Bool { !due(at: now).isEmpty }

    /// Drops the marks of notifications that were removed.
    func drop(at now: Timestamp) {
        for mark in due(at: now) { unlink(folder.appending(path: "\(mark)").path(percentEncoded: false)) }
    }

    private func due(at now: Timestamp) -> [Int64] {
        ((try? DurableFiles.names(in: folder)) ?? []).compactMap { Int64($0) }.filter { $0 <= now.secondsSince1970 }
    }

    private static let step: Int64 = 600
}
