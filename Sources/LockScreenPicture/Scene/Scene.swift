internal import Foundation
internal import PushSimulator

/// What is to be drawn, in words: both pictures are made of it.
struct Scene {
    let isDark: Bool
    /// From the top of the screen, the newest first.
    let cards: [Card]
    /// In the order of the cards, each stack's from its top down; then those of what is not on the screen.
    let captions: [Caption]
    /// How many conversations, and captions, are left out.
    let hiddenCardCount: Int
    let hiddenCaptionCount: Int
    /// The number on the app's icon; 0 for none.
    let badge: Int

    init(_ deliveries: [LockScreenPicture.Delivery], appName: String, isDark: Bool) {
        self.isDark = isDark
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

    init(
        _ shown: ShownNotification, appName: String, number: Int, outcome: DeliveredPush.Outcome, belowCount: Int
    ) {
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
        attachment = shown.attachments.first.flatMap { $0.thumbnail.isHidden ? nil : Preview($0) }
        self.number = number
        self.outcome = outcome
        self.belowCount = belowCount
    }

    /// What stands on the icon.
    var initial: String { appName.first.map { String($0).uppercased() } ?? "?" }
}
