import Foundation
import PushService
import SealedPush

/// The story as the app's content extension shows it when a person expands it: all media, and whose pictures they are.
struct StoryView: ExpandedView {
    let categories = ["story"]

    func rows(for notification: ExpandedNotification) -> [ExpandedRow] {
        var rows: [ExpandedRow] = [.text(notification.title), .text(notification.body)]
        rows += notification.attachments.map { .media($0) }
        if case .object(let data) = notification.data, case .string(let credit)? = data["credit"] {
            rows.append(.text("Pictures: \(credit)"))
        }
        return rows
    }
}
