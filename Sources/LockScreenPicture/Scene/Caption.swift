internal import PushSimulator

/// What is said about one push beside the phone.
struct Caption {
    let number: Int
    let outcome: DeliveredPush.Outcome
    let heading: String
    let lines: [String]

    /// - Parameter place: where on the screen it is, if not in plain sight.
    init(_ delivery: LockScreenPicture.Delivery, number: Int, place: String?) {
        let push = delivery.push
        self.number = number
        outcome = push.outcome
        switch push.outcome {
        case .opened: heading = "Sealed content"
        case .safeDefault: heading = "Safe default" + (push.reason.map { ": \(PictureText.line($0))" } ?? "")
        case .original: heading = "The wire's own text"
        case .modified: heading = "The extension's text, not sealed"
        case .notShown: heading = "Nothing is shown"
        }
        var hints: [String] = []
        if let ring = push.ring { hints.append("sound \(ring.sound)\(ring.isCritical ? ", even when muted" : "")") }
        if push.shown != nil, push.ring == nil { hints.append("no sound") }
        if let badge = push.badge { hints.append(badge == 0 ? "badge removed" : "badge \(badge)") }
        if push.shown != nil, !push.lightsScreen { hints.append("the screen stays dark") }
        let attachments = push.shown?.attachments ?? []
        if attachments.count > 1 { hints.append("\(attachments.count) attachments") }
        lines = ([delivery.name, place, push.note, hints.joined(separator: " · ")] + push.remarks)
            .compactMap { $0.map(PictureText.line) }.filter { !$0.isEmpty }.prefix(Self.maximumLineCount).map(\.self)
    }

    private static let maximumLineCount = 6
}
