import PushSender
import SealedPush

/// The form of the payloads that a fixture enqueues.
enum PayloadKind: String, CaseIterable {
    /// The safe default is the alert's text.
    case text
    /// The safe default has a title and a body.
    case members
    /// No alert: the push only withdraws messages.
    case background

    @TaskLocal static var current = PayloadKind.text

    var safeDefault: WireAlert {
        get throws {
            switch self {
            case .text, .background: "You have a new message!"
            case .members: try WireAlert(title: .plain("News"), body: .plain("You have a new message!"))
            }
        }
    }

    func content(_ body: String) -> Content {
        switch self {
        case .text, .members: Content(body: body)
        case .background: Content(withdrawing: .thread(body))
        }
    }
}
