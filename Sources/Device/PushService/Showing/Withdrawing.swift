import Foundation
public import SealedPush
internal import UserNotifications

extension ServiceConfiguration {
    /// Opens a background push and, if it is a withdrawal, removes the notifications it names and sets its badge; never on the
    /// main actor. For the app, in `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`.
    ///
    /// All steps of Specification 6, the ledger included; takes as long as two syncs of the disk. In an ordinary push, which needs
    /// Apple's filtering entitlement, the extension does the same. Source: Specification 21.
    ///
    /// - Parameter envelope: the push's field `custom-encrypted-message`. Believe nothing else in its user info.
    /// - Returns: nil if the message is another; then nothing happens.
    @discardableResult @concurrent public func withdraw(
        envelope: String
    ) async throws(OpenError) -> Content.Withdrawal? {
        let opened = try await open(envelope: envelope, requestIdentifier: "withdrawal")
        await opened.withdraw(from: environment.center(), environment.folder(container).map(BadgeCount.init(in:)))
        return opened.content.withdrawal
    }
}

extension OpenedContent {
    /// Specification 21.5.
    func withdraw(from center: UNUserNotificationCenter, _ count: BadgeCount?) async {
        guard let withdrawal = content.withdrawal else { return }
        let withdrawn = await center.deliveredNotifications().filter { notification in
            let content = notification.request.content
            guard let shown = SealedNotification(userInfo: content.userInfo), let sent = shown.sent,
                shown.sender == sender, sent <= self.sent
            else { return false }
            return switch withdrawal.target {
            case .message(let id): shown.id == id
            case .thread(let thread): content.threadIdentifier == thread
            }
        }
        if !withdrawn.isEmpty {
            center.removeDeliveredNotifications(withIdentifiers: withdrawn.map(\.request.identifier))
            // The removal returns before it is done; the system answers in order. An extension may be suspended after this.
            _ = await center.deliveredNotifications()
        }
        guard let badge = content.badge else { return }
        // What messages add to from now on.
        try? count?.set(min(badge, BadgeCount.maximum))
        try? await center.setBadgeCount(badge)
    }
}
