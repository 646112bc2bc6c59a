internal import Dispatch
internal import Foundation
internal import PushService
internal import UserNotifications
internal import _PushBase

/// What is to be expanded, and what a person then chooses.
struct ExpansionRequest: Codable, Sendable {
    var identifier: String
    var shown: ShownNotification
    var arrived: Date
    var action: String?
    var text: String?
}

/// The content extension's side: finds the view for a notification's category and asks it for its rows.
struct ExpansionHost {
    let views: [any ExpandedView]

    /// The view's rows; or the system's own view, with the reason.
    func expand(_ request: ExpansionRequest) -> ShownExpansion {
        let shown = request.shown
        let view = views.first { $0.categories.contains(shown.category) }
        guard let view, !shown.category.isEmpty else {
            let note = request.action.map { _ in "no view is for this category, so there is no action to choose" }
            return ShownExpansion(system: shown, note: note)
        }
        guard let notification = ExpandedNotification(Self.notification(request)) else {
            return ShownExpansion(system: shown, note: "this notification was not opened by the service module")
        }
        var expansion = ShownExpansion(view, rows: view.rows(for: notification))
        guard let action = request.action else { return expansion }
        guard view.actions.contains(where: { $0.identifier == action }) else {
            let known = view.actions.map { $0.identifier }
            expansion.note =
                "the view has no such action; it has \(known.isEmpty ? "none" : known.joined(separator: ", "))"
            return expansion
        }
        let response = ExpandedResponse(action: action, text: request.text)
        let answer = Locked<ExpandedAnswer?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        Task {
            let given = await view.perform(response, on: notification)
            answer.withLock { $0 = given }
            isDone.signal()
        }
        isDone.wait()
        switch answer.withLock({ $0 }) {
        case .show(let rows):
            expansion = ShownExpansion(view, rows: rows)
            expansion.answer = "show"
        case .dismiss: expansion.answer = "dismiss"
        case .dismissAndForward, nil: expansion.answer = "forward"
        }
        return expansion
    }

    private static func notification(_ request: ExpansionRequest) -> UNNotification {
        let shown = request.shown
        let content = UNMutableNotificationContent()
        content.title = shown.title
        content.subtitle = shown.subtitle
        content.body = shown.body
        content.categoryIdentifier = shown.category
        content.threadIdentifier = shown.thread
        content.userInfo = shown.userInfoObject
        content.attachments = shown.attachments.compactMap { attachment in
            try? UNNotificationAttachment(
                identifier: attachment.identifier, url: attachment.file,
                options: [UNNotificationAttachmentOptionsTypeHintKey: attachment.type])
        }
        return UNNotification(
            request: UNNotificationRequest(
                identifier: request.identifier, content: content, trigger: UNPushNotificationTrigger()),
            date: request.arrived)
    }
}
