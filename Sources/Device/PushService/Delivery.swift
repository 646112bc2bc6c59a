internal import PushCore
internal import UserNotifications

/// One request while it is worked on: its handler, which is called exactly once, and the best there is to show so far.
///
/// Work and expiry may both want to finish it, at once and on different threads: the first does.
final class Delivery: Sendable {
    private let pending: Locked<Pending?>

    private struct Pending {
        let handler: (UNNotificationContent) -> Void
        let original: UNNotificationContent
        var best: Presentation
    }

    /// - Parameter best: what is shown if nothing better comes.
    init(
        _ request: UNNotificationRequest, best: Presentation,
        handler: @escaping (UNNotificationContent) -> Void
    ) {
        // Apple marks neither the handler nor the content Sendable, and calls an extension on any thread: they are
        // touched under the lock, and by the one thread that takes them out.
        nonisolated(unsafe) let pending: Pending? = Pending(
            handler: handler, original: request.content, best: best)
        self.pending = Locked(pending)
    }

    /// Keeps something better to show; false where it is too late.
    @discardableResult
    func keep(_ best: Presentation) -> Bool {
        pending.withLock { pending in
            pending?.best = best
            return pending != nil
        }
    }

    /// Shows the best there is, and says what that is; nil where that has happened before.
    @discardableResult
    func finish() -> Presentation? {
        nonisolated(unsafe) var taken: Pending?
        pending.withLock { pending in
            taken = pending
            pending = nil
        }
        guard let taken else { return nil }
        taken.handler(taken.best.content(original: taken.original))
        return taken.best
    }
}
