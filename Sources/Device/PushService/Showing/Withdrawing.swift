import Foundation
public import SealedPush
internal import UserNotifications

extension ServiceConfiguration {
    /// Opens a background push if it is a withdrawal, removes the notifications it names and sets its badge; never on the main
    /// actor. For the app, in `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`.
    ///
    /// All steps of Specification 6, the ledger included; takes as long as two syncs of the disk. A withdrawal in an ordinary push,
    /// which needs Apple's filtering entitlement, is opened by the extension. Source: Specification 21.
    ///
    /// - Parameter envelope: the push's field `custom-encrypted-message`. Believe nothing else in its user info.
    /// - Returns: the withdrawal; nil for any other message, and for a withdrawal that belongs in an ordinary push.
    ///   Then nothing is recorded, and the extension can still open it.
    @discardableResult @concurrent public func withdraw(
        envelope: String
    ) async throws(OpenError) -> OpenedContent? {
        let opening = PushOpening(self, environment: environment)
        guard !opening.isForNotification(field: envelope) else { return nil }
        let (opened, isRepeat) = try opening.open(field: envelope, requestIdentifier: "withdrawal")
        let count = environment.folder(container).map(BadgeCount.init(in:))
        await opened.withdraw(from: environment.center(), count, isRepeat: isRepeat)
        return opened
    }
}

extension OpenedContent {
    /// Specification 21.5.
    func withdraw(from center: UNUserNotificationCenter, _ count: BadgeCount?, isRepeat: Bool) async {
        guard let withdrawal = content.withdrawal else { return }
        let withdrawn = await center.deliveredNotifications().filter { notification in
            let content = notification.request.content
            guard let shown = SealedNotification(userInfo: content.userInfo), let sent = shown.sent,
                shown.sender == sender
            else { return false }
            return switch withdrawal.target {
            case .message(let id): shown.id == id
            // Times are whole seconds: of the same one, it may be newer.
            case .thread(let thread): content.threadIdentifier == thread && sent < self.sent
            }
        }
        if !withdrawn.isEmpty {
            center.removeDeliveredNotifications(withIdentifiers: withdrawn.map(\.request.identifier))
            // The removal returns before it is done; the system answers in order. An extension may be suspended after this.
            _ = await center.deliveredNotifications()
        }
        // A carrier may repeat it for 30 days.
        guard let badge = content.badge, !isRepeat else { return }
        // What messages add to from now on.
        try? count?.set(min(badge, BadgeCount.maximum))
        try? await center.setBadgeCount(badge)
    }
}
