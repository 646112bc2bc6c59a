import Foundation
import TestSupport
import Testing
import UserNotifications

@testable import PushSimulator
@testable import device_simulator

@Suite("What a picture of the lock screen says") struct SceneTests {
    @Test("a picture has a card for what each push shows, and a caption for what became of it") func outcomes() {
        let scene = Pushes.scene([
            Pushes.delivery(Pushes.shown("One", "first", thread: "1"), name: "one.apns"),
            Pushes.delivery(Pushes.shown("", "There is news", thread: "2"), .safeDefault, reason: "replayed"),
            Pushes.delivery(Pushes.shown("Wire", "text", thread: "3"), .original, note: "not in time"),
            Pushes.delivery(Pushes.shown("Other", "text"), .modified), Pushes.nothing("no alert"),
        ])
        #expect(scene.cards.map(\.body) == ["text", "text", "There is news", "first"])
        #expect(
            scene.captions.map(\.heading) == [
                "The extension's text, not sealed", "The wire's own text", "Safe default: replayed", "Sealed content",
                "Nothing is shown",
            ])
        #expect(scene.captions[3].lines.first == "one.apns")
        #expect(scene.captions[1].lines.contains("not in time") && scene.captions[4].lines.contains("no alert"))
    }

    @Test("conversations are stacked, the newest on top, and captions say what is below and what was replaced")
    func stacks() {
        let scene = Pushes.scene([
            Pushes.delivery(Pushes.shown("A", "a1", thread: "a")),
            Pushes.delivery(Pushes.shown("B", "b1", thread: "b")),
            Pushes.delivery(Pushes.shown("A", "a2", thread: "a")),
            Pushes.delivery(Pushes.shown("C", "c1", thread: "c"), identifier: "same"),
            Pushes.delivery(Pushes.shown("C", "c2", thread: "c"), identifier: "same"),
        ])
        #expect(scene.cards.map(\.body) == ["c2", "a2", "b1"])
        #expect(scene.cards.map(\.belowCount) == [0, 1, 0])
        let lines = scene.captions.flatMap(\.lines)
        #expect(lines.contains("in the stack below 3") && lines.contains("replaced by 5"))
    }

    @Test("captions tell of sound, badge and a dark screen, and a card of what is time sensitive") func hints() {
        let content = UNMutableNotificationContent()
        content.body = "Now"
        content.badge = 7
        content.sound = .defaultCritical
        content.interruptionLevel = .timeSensitive
        let scene = Pushes.scene([Pushes.delivery(ShownNotification(content))])
        #expect(scene.cards.first?.level == "Time Sensitive")
        #expect(scene.captions.first?.lines.last == "sound default, even when muted · badge 7")
        let passive = Pushes.scene([Pushes.delivery(Pushes.shown(level: .passive))])
        #expect(passive.captions.first?.lines.last?.contains("the screen stays dark") == true)
    }

    @Test("a picture leaves out what no screen could show: 30 conversations and 60 captions are enough") func many() {
        let scene = Pushes.scene((0..<150).map { Pushes.delivery(Pushes.shown("T", "b\($0)", thread: "\($0)")) })
        #expect(scene.cards.count == 30 && scene.hiddenCardCount == 120 && scene.cards.first?.body == "b149")
        #expect(scene.captions.count == 60 && scene.hiddenCaptionCount == 90)
    }
}

/// What a device has shown, made up.
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
    ) -> LockScreenPicture.Delivery {
        LockScreenPicture.Delivery(
            name: name, identifier: identifier,
            push: DeliveredPush(outcome: outcome, shown: shown, reason: reason, note: note))
    }

    static func nothing(_ note: String) -> LockScreenPicture.Delivery {
        LockScreenPicture.Delivery(name: "push.apns", identifier: "nothing", push: DeliveredPush(notShownBecause: note))
    }

    static func attachment(_ file: URL, type: String = "public.png") -> ShownAttachment {
        ShownAttachment(
            identifier: "a", type: type, file: file, name: file.lastPathComponent, byteCount: 1,
            thumbnail: ThumbnailOptions())
    }

    static func scene(_ deliveries: [LockScreenPicture.Delivery]) -> Scene { Scene(deliveries, appName: "App") }
}
