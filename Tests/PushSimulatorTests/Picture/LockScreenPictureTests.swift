import Foundation
import TestSupport
import Testing
import UserNotifications

@testable import PushSimulator
@testable import device_simulator

@Suite("The contents of a lock screen picture") struct LockScreenPictureTests {
    @Test("a picture has a card for each notification, and a caption for each push's outcome") func outcomes() {
        let picture = Pushes.picture([
            Pushes.delivery(Pushes.shown("One", "first", thread: "1"), name: "one.apns"),
            Pushes.delivery(Pushes.shown("", "There is news", thread: "2"), .safeDefault, reason: "replayed"),
            Pushes.delivery(Pushes.shown("Wire", "text", thread: "3"), .original, note: "not in time"),
            Pushes.delivery(Pushes.shown("Other", "text"), .modified), Pushes.nothing("no alert"),
        ])
        #expect(picture.cards.map(\.body) == ["text", "text", "There is news", "first"])
        #expect(
            picture.captions.map(\.heading) == [
                "The extension's text, not sealed", "The push's plaintext", "Safe default: replayed", "Sealed content",
                "Nothing is shown",
            ])
        #expect(picture.captions[3].lines.first == "one.apns")
        #expect(picture.captions[1].lines.contains("not in time") && picture.captions[4].lines.contains("no alert"))
    }

    @Test("conversations are stacked with the newest on top, and captions tell what is below or was replaced")
    func stacks() {
        let picture = Pushes.picture([
            Pushes.delivery(Pushes.shown("A", "a1", thread: "a")),
            Pushes.delivery(Pushes.shown("B", "b1", thread: "b")),
            Pushes.delivery(Pushes.shown("A", "a2", thread: "a")),
            Pushes.delivery(Pushes.shown("C", "c1", thread: "c"), identifier: "same"),
            Pushes.delivery(Pushes.shown("C", "c2", thread: "c"), identifier: "same"),
        ])
        #expect(picture.cards.map(\.body) == ["c2", "a2", "b1"])
        #expect(picture.cards.map(\.belowCount) == [0, 1, 0])
        let lines = picture.captions.flatMap(\.lines)
        #expect(lines.contains("in the stack below 3") && lines.contains("replaced by 5"))
    }

    @Test("a withdrawn notification has no card, and its caption tells which push removed it") func removed() {
        var withdrawal = Pushes.nothing("the app opened a withdrawal")
        withdrawal = .init(name: withdrawal.name, identifier: withdrawal.identifier, push: with(withdrawal.push, ["a"]))
        let picture = Pushes.picture([
            Pushes.delivery(Pushes.shown("A", "a1", thread: "a"), identifier: "a"),
            Pushes.delivery(Pushes.shown("B", "b1", thread: "b"), identifier: "b"), withdrawal,
        ])
        #expect(picture.cards.map(\.body) == ["b1"])
        #expect(picture.captions.map(\.number) == [2, 1, 3])
        #expect(picture.captions[1].lines.contains("removed by 3"))
    }

    private func with(_ push: DeliveredPush, _ removed: [String]) -> DeliveredPush {
        var push = push
        push.removed = removed
        return push
    }

    @Test("captions mention sound, badge, and a dark screen, and a card tells if it's time sensitive") func hints() {
        let content = UNMutableNotificationContent()
        content.body = "Now"
        content.badge = 7
        content.sound = .defaultCritical
        content.interruptionLevel = .timeSensitive
        let picture = Pushes.picture([Pushes.delivery(ShownNotification(content))])
        #expect(picture.cards.first?.level == "Time Sensitive")
        #expect(picture.captions.first?.lines.last == "sound default, even when muted · badge 7")
        let passive = Pushes.picture([Pushes.delivery(Pushes.shown(level: .passive))])
        #expect(passive.captions.first?.lines.last?.contains("the screen stays dark") == true)
    }

    @Test("a picture shows only the newest 30 pushes") func many() {
        let picture = Pushes.picture((0..<150).map { Pushes.delivery(Pushes.shown("T", "b\($0)", thread: "\($0)")) })
        #expect(picture.cards.count == 30 && picture.captions.count == 30 && picture.hiddenCount == 120)
        #expect(picture.cards.first?.body == "b149" && picture.captions.first?.number == 150)
    }
}

/// Made-up results of a device.
enum Pushes {
    static func shown(
        _ title: String = "Nina", subtitle: String = "", _ body: String = "Lunch at one?", thread: String = "",
        level: UNNotificationInterruptionLevel = .active, attachments: [ShownAttachment] = []
    ) -> ShownNotification {
        let content = UNMutableNotificationContent()
        content.title = title
        content.subtitle = subtitle
        content.body = body
        content.threadIdentifier = thread
        content.interruptionLevel = level
        var shown = ShownNotification(content)
        shown.attachments = attachments
        return shown
    }

    static func delivery(
        _ shown: ShownNotification = shown(), _ outcome: DeliveredPush.Outcome = .opened, reason: String? = nil,
        note: String? = nil, name: String = "push.apns", identifier: String = UUID().uuidString
    ) -> LockScreenPicture.PicturedPush {
        LockScreenPicture.PicturedPush(
            name: name, identifier: identifier,
            push: DeliveredPush(outcome: outcome, shown: shown, reason: reason, note: note))
    }

    static func nothing(_ note: String) -> LockScreenPicture.PicturedPush {
        LockScreenPicture.PicturedPush(
            name: "push.apns", identifier: "nothing", push: DeliveredPush(notShownBecause: note))
    }

    static func attachment(_ file: URL, type: String = "public.png") -> ShownAttachment {
        ShownAttachment(
            identifier: "a", type: type, file: file, name: file.lastPathComponent, byteCount: 1,
            thumbnail: ThumbnailOptions())
    }

    static func picture(_ deliveries: [LockScreenPicture.PicturedPush]) -> LockScreenPicture {
        LockScreenPicture(deliveries, appName: "App")
    }
}

extension LockScreenPicture {
    fileprivate var cards: [Card] { rows.compactMap(\.card) }
    fileprivate var captions: [Caption] { rows.map(\.caption) }
}
