import Foundation
internal import PushCore
import SealedPush
internal import UserNotifications

/// A request in progress: its handler, which is called exactly once, and the best presentation so far. Thread-safe: work and
/// expiry may try to finish it at the same time, and only the first one does.
final class NotificationHandover: Sendable {
    private let pending: Locked<Pending?>
    private let seal: NotificationSeal
    /// The text of notifications that don't show their message.
    private let generic: SafeDefault

    private struct Pending {
        let handler: (UNNotificationContent) -> Void
        let original: UNNotificationContent
        var best: Presentation
    }

    init(
        _ request: UNNotificationRequest, best: Presentation, generic: SafeDefault, seal: NotificationSeal,
        handler: @escaping (UNNotificationContent) -> Void
    ) {
        self.generic = generic
        self.seal = seal
        // Apple marks neither the handler nor the content Sendable, and calls an extension on any thread. They are touched
        // only under the lock, and by the one thread that takes them out.
        nonisolated(unsafe) let pending: Pending? = Pending(handler: handler, original: request.content, best: best)
        self.pending = Locked(pending)
    }

    /// The best draft so far; nil if the push didn't open, or once it's shown.
    var draft: NotificationDraft? {
        pending.withLock { pending in
            guard case .opened(let draft)? = pending?.best else { return nil }
            return draft
        }
    }

    /// Keeps a better presentation. Returns false if it's too late.
    @discardableResult func keep(_ best: Presentation) -> Bool {
        pending.withLock { pending in
            pending?.best = best
            return pending != nil
        }
    }

    /// Changes the best draft under the lock, so that no other change is lost. Returns false if it's too late.
    func change(_ change: (inout NotificationDraft) -> Void) -> Bool {
        pending.withLock { pending in
            guard case .opened(var draft)? = pending?.best else { return false }
            change(&draft)
            pending?.best = .opened(draft)
            return true
        }
    }

    /// Shows the best presentation so far and returns it; nil if that has already happened.
    @discardableResult func finish() -> Presentation? {
        nonisolated(unsafe) var taken: Pending?
        pending.withLock { pending in
            taken = pending
            pending = nil
        }
        guard let taken else { return nil }
        guard case .opened(var draft) = taken.best else {
            taken.handler(taken.best.content(original: taken.original, generic: generic, seal))
            return taken.best
        }
        // Beside other accounts, the icon shows a sum. If there was no time for it, the number stays.
        if draft.owner?.others != nil, draft.badgeSum == nil { draft.badge = nil }
        // Leave out a picture that hasn't been read by now.
        let shown = BadgeCount.showingLargest(of: draft.withPictures { _ in nil }) { draft in
            taken.handler(Presentation.opened(draft).content(original: taken.original, generic: generic, seal))
        }
        return .opened(shown)
    }
}
