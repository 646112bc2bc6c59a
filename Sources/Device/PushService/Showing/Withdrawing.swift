import Foundation
internal import PushCore
public import SealedPush
internal import UserNotifications

extension ServiceConfiguration {
    /// Opens a background push if it's a withdrawal, removes the notifications it names, and sets its badge, off the main
    /// actor. For the app, in `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`.
    ///
    /// Performs all steps of Specification 6, including the ledger; takes about as long as two disk syncs. The extension
    /// opens withdrawals in ordinary pushes, which need Apple's filtering entitlement. Source: ContentParts 21.
    ///
    /// - Parameter envelope: The push's field `custom-encrypted-message`. Trust nothing else in its user info.
    /// - Returns: The withdrawal; nil for any other message, and for a withdrawal that belongs in an ordinary push. In that
    ///   case, nothing is recorded, and the extension can still open it.
    @discardableResult @concurrent public func withdraw(
        envelope: String
    ) async throws(OpenError) -> OpenedContent? {
        let opening = PushOpening(self, environment: environment)
        guard let (opened, isRepeat, owner) = try opening.openWithdrawal(field: envelope) else { return nil }
        await opened.withdraw(
            from: environment.notifications, of: owner, owner.badge(on: environment), seal, isRepeat: isRepeat,
            trusting: opening.trustedSenders(of: owner), reading: { opening.content(ofShown: $0, of: owner) })
        return opened
    }
}

extension OpenedContent {
    /// ContentParts 21.5: removes the account's notifications that a withdrawal names, and sets its badge.
    ///
    /// - Parameter trusted: The senders that are trusted now; nil if that can't be read, so that only the withdrawal's own
    ///   sender counts.
    /// - Parameter read: Returns a message's content from its envelope: a notification that doesn't show its message doesn't
    ///   name its thread.
    func withdraw(
        from center: any NotificationList, of owner: Owner, _ count: BadgeCount?, _ seal: NotificationSeal,
        isRepeat: Bool, trusting trusted: [SenderPublicKey]?, reading read: @Sendable (String) -> Content?
    ) async {
        guard let withdrawal = content.withdrawal else { return }
        let withdrawn = await center.deliveredNotifications().filter { notification in
            let content = notification.request.content
            guard let shown = SealedNotification(userInfo: content.userInfo, seal), let sent = shown.sent,
                let message = shown.id, shown.accountID == owner.id,
                let from = shown.sender, from == sender || trusted?.contains(from) == false
            else { return false }
            return switch withdrawal.target {
            case .message(let id): message == id
            // Times are whole seconds, so a notification from the same second may be newer.
            case .thread(let thread, let id):
                message == id || sent < self.sent && shown.thread(content, read).hasBytes(of: thread)
            }
        }
        if !withdrawn.isEmpty {
            center.removeDeliveredNotifications(withIdentifiers: withdrawn.map(\.request.identifier))
            // The removal returns before it's done, but the system answers in order. An extension may be suspended after this.
            _ = await center.deliveredNotifications()
        }
        if let badge = BadgeCount.number(setBy: content, isRepeat: isRepeat, in: count) {
            try? await center.setBadgeCount(badge)
        }
    }
}

extension SealedNotification {
    /// Returns the message's thread; empty if it has none, or if it can no longer be read.
    fileprivate func thread(_ content: UNNotificationContent, _ read: (String) -> Content?) -> String {
        guard disclosure != .full else { return content.threadIdentifier }
        return envelope.flatMap(read)?.threadID ?? ""
    }
}
