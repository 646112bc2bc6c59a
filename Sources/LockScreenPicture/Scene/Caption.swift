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

/// Text for a picture: what moves no cursor, and no more of it than a phone could show.
enum PictureText {
    /// One line: line breaks are spaces.
    static func line(_ text: String) -> String { cleaned(text, lineBreak: " ") }

    /// Line breaks of all kinds are `\n`.
    static func lines(_ text: String) -> String { cleaned(text, lineBreak: "\n") }

    private static func cleaned(_ text: String, lineBreak: Unicode.Scalar) -> String {
        var scalars = String.UnicodeScalarView()
        var marks = 0
        var previous: Unicode.Scalar = " "
        for scalar in text.unicodeScalars.prefix(maximumScalarCount) {
            defer { previous = scalar }
            switch scalar.value {
            case 0x0a where previous == "\r": continue
            case 0x0a, 0x0d, 0x85, 0x2028, 0x2029: scalars.append(lineBreak)
            case 0...0x1f, 0x7f...0x9f, 0xfeff, 0xfff9...0xfffb, 0xe000...0xf8ff: scalars.append(" ")
            default:
                // Nobody reads the tenth accent on one letter, and each makes the line taller.
                let category = scalar.properties.generalCategory
                marks = category == .nonspacingMark || category == .enclosingMark ? marks + 1 : 0
                if marks <= 8 { scalars.append(scalar) }
            }
        }
        return String(scalars)
    }

    /// Four lines of a phone have some two hundred.
    private static let maximumScalarCount = 1_500
}
