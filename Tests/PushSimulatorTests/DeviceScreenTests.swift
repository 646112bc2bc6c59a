import Foundation
import TestSupport
import Testing

@testable import PushSimulator

@Suite("What is on the screen") struct DeviceScreenTests {
    private func push(_ aps: [String: Any]) -> DeliveredPush {
        DeliveredPush(outcome: .original, shown: ShownNotification(WireNotification(["aps": aps]).content))
    }

    private func screen(_ pushes: (String, [String: Any])...) -> DeviceScreen {
        var screen = DeviceScreen()
        for (identifier, aps) in pushes {
            screen.show(push(aps), identifier: identifier, at: Date(timeIntervalSince1970: 0))
        }
        return screen
    }

    @Test("the newest comes first, and one with the same identifier takes its place") func replacing() {
        var screen = screen(("a", ["alert": "1"]), ("b", ["alert": "2"]))
        #expect(screen.notifications.map { $0.identifier } == ["b", "a"])
        #expect(screen.show(push(["alert": "3"]), identifier: "a", at: Date()).isReplacement)
        #expect(screen.notifications.map { $0.shown.body } == ["3", "2"])
        #expect(!screen.show(push(["alert": "4"]), identifier: "c", at: Date()).isReplacement)
    }

    @Test("a badge stays, changes or goes; it comes without a text too") func badge() {
        #expect(screen(("a", ["alert": "1", "badge": 3]), ("b", ["alert": "2"])).badge == 3)
        #expect(screen(("a", ["alert": "1", "badge": 3]), ("b", ["alert": "2", "badge": 0])).badge == 0)
        var screen = DeviceScreen()
        let silent = ShownNotification(WireNotification(["aps": ["badge": 5, "sound": "default"]]).content)
        let push = DeliveredPush(notShownBecause: "no text", silent: silent)
        screen.show(push, identifier: "a", at: Date())
        #expect(screen.badge == 5)
        #expect(screen.notifications.isEmpty)
        #expect(push.ring?.sound == "default")
    }

    @Test("conversations are groups, the one with the newest notification first") func groups() {
        let screen = screen(
            ("a", ["alert": "1", "thread-id": "x"]), ("b", ["alert": "2", "thread-id": "y"]), ("c", ["alert": "3"]),
            ("d", ["alert": "4", "thread-id": "x"]))
        #expect(screen.groups.map { $0.thread } == ["x", "", "y"])
        #expect(screen.groups.first?.entries.map { $0.identifier } == ["d", "a"])
    }

    @Test("a sound rings, unless the notification is passive; a critical one is heard when muted") func ringing() {
        #expect(push(["alert": "a"]).ring == nil)
        #expect(push(["alert": "a", "sound": "ping.caf"]).ring == .init(sound: "ping.caf", isCritical: false))
        let critical: [String: Any] = ["critical": 1, "name": "siren.caf", "volume": 1]
        #expect(push(["alert": "a", "sound": critical]).ring == .init(sound: "siren.caf", isCritical: true))
        let passive = push(["alert": "a", "sound": "ping.caf", "interruption-level": "passive"])
        #expect(passive.ring == nil)
        #expect(!passive.lightsScreen)
        #expect(push(["alert": "a"]).lightsScreen)
        let lines = LockScreen.lines(push(["alert": "a", "sound": critical, "badge": 2]), on: "phone")
        #expect(lines.contains { $0.contains("rings: siren.caf, even when muted · badge 2") }, "\(lines)")
    }

    @Test("the oldest of very many fall off the list, and are named") func limit() {
        var screen = DeviceScreen()
        let push = push(["alert": "a"])
        for number in 0..<DeviceScreen.maximumCount { screen.show(push, identifier: "\(number)", at: Date()) }
        #expect(screen.show(push, identifier: "one more", at: Date()).removed == ["0"])
        #expect(screen.notifications.count == DeviceScreen.maximumCount)
    }
}
