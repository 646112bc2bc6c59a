import Foundation
import PushService
import SealedPush

/// The expanded story in the app's content extension: the text, all media, and the picture credit.
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
