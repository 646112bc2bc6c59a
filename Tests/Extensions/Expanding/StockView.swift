import Foundation
import Glibc
import PushService
import SealedPush

struct StockView: ExpandedView {
    let categories = ["stock"]
    let initialSizeRatio = 0.5
    let hidesDefaultContent = true
    let actions = [
        ExpandedAction("mute", title: "Mute", isDestructive: true),
        ExpandedAction("note", title: "Note", textInput: .init(button: "Keep", placeholder: "Why?")),
        ExpandedAction("open", title: "Open", needsUnlock: true, opensApp: true),
    ]

    func rows(for notification: ExpandedNotification) -> [ExpandedRow] {
        if notification.body == "crash" {
            // At once: the runtime's handler would take a second to print a backtrace.
            signal(SIGABRT, SIG_DFL)
            abort()
        }
        var rows: [ExpandedRow] = [.heading(notification.title)]
        if case .object(let data) = notification.data, case .string(let price)? = data["price"] {
            rows.append(.facts([ExpandedRow.Fact("Price", price)]))
        }
        if let picture = notification.attachment("picture") {
            let count = picture.withFile { file in try? Array(Data(contentsOf: file)).count } ?? 0
            rows += [.picture(picture), .text("\(count) bytes of \(picture.remoteURL?.absoluteString ?? "nowhere")")]
        }
        return rows
    }

    @MainActor
    func perform(_ response: ExpandedResponse, on notification: ExpandedNotification) async -> ExpandedAnswer {
        switch response.action {
        case "mute": .dismiss
        case "note": .show([.text("Noted: \(response.text ?? "")")])
        default: .dismissAndForward
        }
    }
}
