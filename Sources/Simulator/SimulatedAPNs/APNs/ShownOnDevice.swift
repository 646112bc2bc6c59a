internal import PushCore
internal import PushSimulator

/// The visible result of one push, sent from the device's process to the page.
struct ShownOnDevice: Codable, Equatable {
    private(set) var identifier: String
    private(set) var outcome: DeliveredPush.Outcome
    /// The reason that the push didn't open or wasn't shown.
    private(set) var reason: String?
    private(set) var title: String
    private(set) var subtitle: String
    private(set) var body: String

    init(_ push: DeliveredPush, identifier: String) {
        self.identifier = identifier
        outcome = push.outcome
        reason = push.reason ?? push.note
        title = push.shown?.title ?? ""
        subtitle = push.shown?.subtitle ?? ""
        body = push.shown?.body ?? ""
        self = cut
    }

    /// A copy with each text truncated to the length that a page shows.
    var cut: ShownOnDevice {
        func cut(_ text: String) -> String { text.prefix(byteCount: 500) }
        var shown = self
        shown.identifier = cut(identifier)
        shown.reason = reason.map(cut)
        (shown.title, shown.subtitle, shown.body) = (cut(title), cut(subtitle), cut(body))
        return shown
    }

    var summary: String {
        switch outcome {
        case .opened: "opened"
        case .safeDefault: "safe default: \(reason ?? "unknown")"
        case .original: "the push's plaintext"
        case .modified: "not sealed"
        case .notShown: "not shown: \(reason ?? "unknown")"
        }
    }
}
