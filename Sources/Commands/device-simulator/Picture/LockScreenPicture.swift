internal import Cpangocairo
internal import Foundation
internal import PushSimulator

/// A picture of a phone's lock screen after some pushes: a PNG file with a caption beside the phone for each push, which states
/// whether the user sees sealed content, the safe default, or the push's plaintext.
///
/// Similar to iOS 18 with default settings, but not pixel-exact, because Apple doesn't publish the layout. A title and a
/// subtitle get one line each and a body four, as observed by users. The initializer reads the attachments' files.
struct LockScreenPicture: Sendable {
    /// The notifications on the screen, newest first, followed by the pushes out of sight, oldest first.
    let rows: [Row]
    /// The number of pushes before those in the picture.
    let hiddenCount: Int

    /// One push and its outcome.
    struct PicturedPush: Sendable {
        /// The push's name in the caption, such as its file name.
        let name: String
        let identifier: String
        let push: DeliveredPush
    }

    struct Row: Sendable {
        /// The notification; nil if the push shows nothing, or another push covers or replaces it.
        let card: Card?
        let caption: Caption
    }

    /// - Parameters:
    ///   - deliveries: the deliveries in order of arrival. The newest 30 are drawn.
    ///   - appName: the app's name on the home screen.
    init(_ deliveries: [PicturedPush], appName: String) {
        let drawn = deliveries.enumerated().suffix(Self.maximumCount)
        hiddenCount = deliveries.count - drawn.count
        var screen = DeviceScreen()
        var newest: [String: Int] = [:]
        for (index, delivery) in drawn {
            screen.show(delivery.push, identifier: delivery.identifier)
            if delivery.push.shown != nil { newest[delivery.identifier] = index }
        }
        var rows: [Row] = []
        var onTop: Set<Int> = []
        var places: [Int: String] = [:]
        for group in screen.groups {
            let stack = group.entries.compactMap { newest[$0.identifier] }
            guard let shown = group.entries.first?.shown, let top = stack.first else { continue }
            let card = Card(shown, appName: appName, belowCount: stack.count - 1)
            rows.append(Row(card: card, caption: Caption(deliveries[top], number: top + 1)))
            onTop.insert(top)
            for index in stack.dropFirst() { places[index] = "in the stack below \(top + 1)" }
        }
        for (index, delivery) in drawn {
            let removed = drawn.prefix { $0.offset < index }.filter {
                delivery.push.removed.contains($0.element.identifier)
            }
            for earlier in removed { places[earlier.offset] = "removed by \(index + 1)" }
        }
        for (index, delivery) in drawn where !onTop.contains(index) {
            if delivery.push.shown != nil, let newer = newest[delivery.identifier], newer > index {
                places[index] = "replaced by \(newer + 1)"
            }
            rows.append(Row(card: nil, caption: Caption(delivery, number: index + 1, place: places[index])))
        }
        self.rows = rows
    }

    private static let maximumCount = 30
}

/// An error that indicates that the picture can't be drawn.
enum LockScreenPictureError: Error, CustomStringConvertible {
    case notDrawn

    var description: String { "the picture can't be drawn: the graphics library failed" }
}

/// A notification on the screen, or the top one of a stack.
struct Card {
    let appName: String
    /// The interruption level's label, shown above the name; usually empty.
    let level: String
    let title: String
    let subtitle: String
    let body: String
    let preview: Preview?
    /// The picture shown instead of the app's icon; nil if the message isn't from a person.
    let avatar: Avatar?
    /// The number of notifications below this one in the same conversation.
    let belowCount: Int

    init(_ shown: ShownNotification, appName: String, belowCount: Int) {
        self.appName = PictureText.line(appName)
        switch shown.interruptionLevel {
        case "time-sensitive": level = "Time Sensitive"
        case "critical": level = "Critical"
        default: level = ""
        }
        title = PictureText.line(shown.title)
        subtitle = PictureText.line(shown.subtitle)
        body = PictureText.lines(shown.body)
        // Apple, `UNNotificationContent.attachments`: the first one's thumbnail is shown.
        preview = shown.attachments.first.flatMap { $0.isThumbnailHidden ? nil : Preview($0) }
        avatar = shown.avatar.map { Avatar(Thumbnail(of: Array($0)), initial: shown.title) }
        self.belowCount = belowCount
    }

    /// A person's picture, or the first letter of the name.
    struct Avatar {
        let picture: Thumbnail?
        let initial: String

        init(_ picture: Thumbnail?, initial name: String) {
            self.picture = picture
            initial = PictureText.line(name).first.map { String($0).uppercased() } ?? "?"
        }
    }
}

/// The text about one push, shown beside the phone.
struct Caption {
    let number: Int
    let outcome: DeliveredPush.Outcome
    let heading: String
    let lines: [String]

    /// - Parameter place: the push's place on the screen if it isn't visible; otherwise nil.
    init(_ delivery: LockScreenPicture.PicturedPush, number: Int, place: String? = nil) {
        let push = delivery.push
        self.number = number
        outcome = push.outcome
        switch push.outcome {
        case .opened: heading = "Sealed content"
        case .safeDefault: heading = "Safe default" + (push.reason.map { ": \(PictureText.line($0))" } ?? "")
        case .original: heading = "The push's plaintext"
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

/// Text for a picture, without control characters, and limited to what a phone could show.
enum PictureText {
    /// Returns the text as one line, with line breaks replaced by spaces.
    static func line(_ text: String) -> String { cleaned(text, lineBreak: " ") }

    /// Returns the text with all kinds of line breaks replaced by `\n`.
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
                // Limit the marks on one letter, because each makes the line taller.
                let category = scalar.properties.generalCategory
                marks = category == .nonspacingMark || category == .enclosingMark ? marks + 1 : 0
                if marks <= 8 { scalars.append(scalar) }
            }
        }
        return String(scalars)
    }

    /// Four lines on a phone hold about 200.
    private static let maximumScalarCount = 1_500
}

// MARK: - Painting

extension LockScreenPicture {
    /// Returns the picture as a PNG file, with two pixels per point.
    func png() throws(LockScreenPictureError) -> Data {
        // Paint once on a temporary canvas to measure the heights, and then on the final one.
        let ends = paintRows(on: try Canvas(width: 1, height: 1))
        let phoneHeight = max(Self.minimumPhoneHeight, ends.cards + 34 - Self.margin)
        let height = max(Self.margin + phoneHeight, ends.captions) + Self.margin
        let canvas = try Canvas(width: Self.width, height: height.rounded(.up))
        canvas.rectangle(x: 0, y: 0, width: Self.width, height: height + 1)
        canvas.fill(Ink(0xf2f2f7))
        paintPhone(height: phoneHeight, on: canvas)
        _ = paintRows(on: canvas)
        return try canvas.png()
    }

    private func paintPhone(height: Double, on canvas: Canvas) {
        canvas.rectangle(x: Self.margin, y: Self.margin, width: Self.phoneWidth, height: height, radius: 56)
        canvas.fill(Ink(0x0b0b0d))
        let edge = Self.margin + Self.bezel
        let (width, height) = (Self.phoneWidth - 2 * Self.bezel, height - 2 * Self.bezel)
        canvas.rectangle(x: edge, y: edge, width: width, height: height, radius: 44)
        canvas.fill(
            [Ink(0xa9c8f5), Ink(0xcdb9ee), Ink(0xf2c6cf)], from: (edge, edge), to: (edge + width * 0.4, edge + height))
        // The time in Apple's advertisements.
        let clock = TextStyle(size: 76, isBold: true, isCentered: true, ink: Ink(0xffffff, alpha: 0.95))
        canvas.text("9:41", clock, width: width).paint(x: edge, y: edge + 36)
    }

    /// Paints each caption beside its card. Returns the bottom of the last card and of the last caption.
    private func paintRows(on canvas: Canvas) -> (cards: Double, captions: Double) {
        var ends = (cards: Self.cardsTop, captions: Self.cardsTop)
        for row in rows {
            let top = max(ends.captions, row.card == nil ? 0 : ends.cards)
            if let card = row.card {
                ends.cards = top + card.paint(x: Self.cardLeft, y: top, width: Self.cardWidth, on: canvas) + 8
            }
            ends.captions = top + row.caption.paint(x: Self.captionLeft, y: top + 12, on: canvas) + 14
        }
        if hiddenCount > 0 {
            let style = TextStyle(size: 13, ink: Ink(0x1c1c1e, alpha: 0.7))
            let earlier = canvas.text("and \(hiddenCount) earlier pushes", style, width: Caption.width)
            earlier.paint(x: Self.captionLeft, y: ends.captions + 12)
            ends.captions += earlier.height + 14
        }
        return ends
    }

    private static let margin = 28.0
    private static let bezel = 12.0
    /// The width of an iPhone 15's screen, plus a frame.
    private static let phoneWidth = 393 + 2 * bezel
    private static let minimumPhoneHeight = 560.0
    private static let cardsTop = margin + bezel + 160
    private static let cardLeft = margin + bezel + 10
    private static let cardWidth = phoneWidth - 2 * bezel - 20
    private static let captionLeft = margin + phoneWidth + 24
    private static let width = captionLeft + Caption.width + margin
}

extension Card {
    /// Paints it, and returns its height.
    fileprivate func paint(x: Double, y: Double, width: Double, on canvas: Canvas) -> Double {
        let (ink, pale) = (Ink(0x000000), Ink(0x000000, alpha: 0.6))
        let right = x + width - Self.padding - (preview == nil ? 0 : Self.previewSide + 10)
        let left = x + Self.padding + Self.iconSide + 10
        let bold = TextStyle(size: 15, isBold: true, ink: ink)
        let small = TextStyle(size: 13, ink: pale)
        let now = canvas.text("now", small, width: 60)
        let name = canvas.text(appName, small, width: right - left - now.width - 8)
        let below = belowCount > 0 ? "\(belowCount) more" : ""
        let texts = [
            canvas.text(level, TextStyle(size: 11, isBold: true, ink: pale), width: right - left), name,
            canvas.text(title, bold, width: right - left), canvas.text(subtitle, bold, width: right - left),
            canvas.text(body, TextStyle(size: 15, ink: ink), width: right - left, maximumLineCount: 4),
            canvas.text(below, small, width: right - left),
        ].filter { $0.height > 0 }
        let textHeight = texts.map { $0.height + 1 }.reduce(-1, +)
        let height = 2 * Self.padding + max(Self.iconSide, textHeight)

        // Notifications below it show at the bottom edge, narrower and darker.
        let depth = min(2, belowCount)
        for depth in stride(from: depth, to: 0, by: -1) {
            let (inset, top) = (Double(depth) * 12, y + height - 40 + Self.stackEdge * Double(depth))
            canvas.rectangle(x: x + inset, y: top, width: width - inset * 2, height: 40, radius: 18)
            canvas.fill(Ink(depth == 1 ? 0xe4e4eb : 0xd2d2dc))
        }
        canvas.rectangle(x: x, y: y, width: width, height: height, radius: 22)
        canvas.fill(Ink(0xf5f5f8, alpha: depth > 0 ? 1 : 0.9))
        paintIcon(x: x + Self.padding, y: y + Self.padding, on: canvas)
        var textTop = y + Self.padding
        for text in texts {
            text.paint(x: left, y: textTop)
            if text === name { now.paint(x: right - now.width, y: textTop) }
            textTop += text.height + 1
        }
        paintPreview(x: x + width - Self.padding - Self.previewSide, y: y + (height - Self.previewSide) / 2, on: canvas)
        return height + Self.stackEdge * Double(depth)
    }

    /// The app's icon, or a person's picture with the icon in its corner.
    private func paintIcon(x: Double, y: Double, on canvas: Canvas) {
        if let avatar {
            canvas.rectangle(x: x, y: y, width: Self.iconSide, height: Self.iconSide, radius: Self.iconSide / 2)
            if let picture = avatar.picture {
                canvas.fill(picture, x: x, y: y, side: Self.iconSide)
            } else {
                canvas.fill(Ink(0x8e8e93))
                canvas.sign(avatar.initial, size: 18, x: x, y: y, side: Self.iconSide)
            }
            let side = Self.iconSide * 0.42
            let (x, y) = (x + Self.iconSide - side + 2, y + Self.iconSide - side + 2)
            canvas.rectangle(x: x, y: y, width: side, height: side, radius: 4)
            canvas.fill([Ink(0x4aa3ff), Ink(0x0a66e0)], from: (x, y), to: (x, y + side))
            return canvas.sign(appName.first.map { String($0).uppercased() } ?? "?", size: 9, x: x, y: y, side: side)
        }
        canvas.rectangle(x: x, y: y, width: Self.iconSide, height: Self.iconSide, radius: 9)
        canvas.fill([Ink(0x4aa3ff), Ink(0x0a66e0)], from: (x, y), to: (x, y + Self.iconSide))
        canvas.sign(appName.first.map { String($0).uppercased() } ?? "?", size: 20, x: x, y: y, side: Self.iconSide)
    }

    private func paintPreview(x: Double, y: Double, on canvas: Canvas) {
        guard let preview else { return }
        canvas.rectangle(x: x, y: y, width: Self.previewSide, height: Self.previewSide, radius: 7)
        switch preview {
        case .sign(let sign):
            canvas.fill(Ink(0x8e8e93))
            canvas.sign(sign, size: 20, x: x, y: y, side: Self.previewSide)
        case .picture(let thumbnail): canvas.fill(thumbnail, x: x, y: y, side: Self.previewSide)
        }
    }

    private static let stackEdge = 8.0
    private static let padding = 13.0
    private static let iconSide = 38.0
    private static let previewSide = 44.0
}

extension Caption {
    /// Paints it, and returns its height.
    fileprivate func paint(x: Double, y: Double, on canvas: Canvas) -> Double {
        canvas.rectangle(x: x, y: y, width: Self.markSide, height: Self.markSide, radius: Self.markSide / 2)
        canvas.fill(ink)
        canvas.sign("\(number)", size: number < 100 ? 12 : 9, x: x, y: y, side: Self.markSide)
        let left = x + Self.markSide + 10
        var height = 1.0
        func add(_ text: String, _ style: TextStyle) {
            let block = canvas.text(text, style, width: Self.width - Self.markSide - 10, maximumLineCount: 2)
            block.paint(x: left, y: y + height)
            height += block.height + 1
        }
        add(heading, TextStyle(size: 15, isBold: true, ink: Ink(0x1c1c1e)))
        for line in lines { add(line, TextStyle(size: 13, ink: Ink(0x1c1c1e, alpha: 0.7))) }
        return height
    }

    /// Green for sealed content, orange for the safe default, and red for unprotected text.
    private var ink: Ink {
        switch outcome {
        case .opened: Ink(0x28a745)
        case .safeDefault: Ink(0xf08c00)
        case .original: Ink(0xe03131)
        case .modified, .notShown: Ink(0x8e8e93)
        }
    }

    static let width = 320.0
    private static let markSide = 22.0
}
