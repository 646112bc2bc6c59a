internal import Foundation
internal import PushSimulator

/// What a phone's lock screen looks like after some pushes: a PNG file with a caption beside the phone for each push, which
/// says whether a person sees sealed content, the safe default or the wire's own text.
///
/// Close to iOS 18 in a person's usual settings, not the same to the pixel: Apple does not publish the layout. A title and a
/// subtitle get one line each and a body four, as people report. Reads the attachments' files while it is made.
struct LockScreenPicture: Sendable {
    private let scene: Scene

    /// One push, and what came of it.
    struct Delivery: Sendable {
        /// What the caption calls it, such as its file's name.
        let name: String
        let identifier: String
        let push: DeliveredPush
    }

    /// - Parameters:
    ///   - deliveries: in the order of their arrival. At most 30 conversations are drawn, the newest, and 60 captions.
    ///   - appName: as below the app's icon.
    init(_ deliveries: [Delivery], appName: String) { scene = Scene(deliveries, appName: appName) }

    /// A PNG file, two pixels to a point.
    func png() throws(LockScreenPictureError) -> Data { try Painter(scene).png() }
}

/// The picture can't be drawn.
enum LockScreenPictureError: Error, CustomStringConvertible {
    case notDrawn

    var description: String { "the picture can't be drawn: the graphics library has given up" }
}

/// What is to be drawn, in words.
struct Scene {
    /// From the top of the screen, the newest first.
    let cards: [Card]
    /// In the order of the cards, each stack's from its top down; then those of what is not on the screen.
    let captions: [Caption]
    /// How many conversations, and captions, are left out.
    let hiddenCardCount: Int
    let hiddenCaptionCount: Int
    /// The number on the app's icon; 0 for none.
    let badge: Int

    init(_ deliveries: [LockScreenPicture.Delivery], appName: String) {
        var screen = DeviceScreen()
        var numbers: [String: Int] = [:]
        for (index, delivery) in deliveries.enumerated() {
            screen.show(delivery.push, identifier: delivery.identifier, at: Date(timeIntervalSince1970: 0))
            if delivery.push.shown != nil { numbers[delivery.identifier] = index + 1 }
        }
        badge = screen.badge
        let groups = screen.groups
        cards = groups.prefix(Self.maximumCardCount).compactMap { group in
            guard let top = group.entries.first, let number = numbers[top.identifier] else { return nil }
            return Card(
                top.shown, appName: appName, number: number, outcome: deliveries[number - 1].push.outcome,
                belowCount: group.entries.count - 1)
        }
        hiddenCardCount = groups.count - cards.count
        let stacks = groups.map { group in group.entries.compactMap { numbers[$0.identifier] } }
        let order = stacks.flatMap(\.self)
        let others = Set(1...max(1, deliveries.count)).subtracting(order).sorted().filter { $0 <= deliveries.count }
        var places: [Int: String] = [:]
        for stack in stacks { for number in stack.dropFirst() { places[number] = "in the stack below \(stack[0])" } }
        captions = (order + others).prefix(Self.maximumCaptionCount).map { number in
            let delivery = deliveries[number - 1]
            if delivery.push.shown != nil, let newer = numbers[delivery.identifier], newer > number {
                places[number] = "replaced by \(newer)"
            }
            return Caption(delivery, number: number, place: places[number])
        }
        hiddenCaptionCount = deliveries.count - captions.count
    }

    private static let maximumCardCount = 30
    private static let maximumCaptionCount = 60
}

/// A notification as it lies on the screen, or the top one of a stack.
struct Card {
    let appName: String
    /// Above the name; nil for most.
    let level: String?
    let title: String
    let subtitle: String
    let body: String
    let attachment: Preview?
    /// Of the same conversation, below this one.
    let belowCount: Int
    /// The caption's.
    let number: Int
    let outcome: DeliveredPush.Outcome

    init(_ shown: ShownNotification, appName: String, number: Int, outcome: DeliveredPush.Outcome, belowCount: Int) {
        self.appName = PictureText.line(appName)
        switch shown.interruptionLevel {
        case "time-sensitive": level = "Time Sensitive"
        case "critical": level = "Critical"
        default: level = nil
        }
        title = PictureText.line(shown.title)
        subtitle = PictureText.line(shown.subtitle)
        body = PictureText.lines(shown.body)
        // Apple, `UNNotificationContent.attachments`: the first one's thumbnail is shown.
        attachment = shown.attachments.first.flatMap { $0.isThumbnailHidden ? nil : Preview($0) }
        self.number = number
        self.outcome = outcome
        self.belowCount = belowCount
    }

    /// What stands on the icon.
    var initial: String { appName.first.map { String($0).uppercased() } ?? "?" }
}

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
