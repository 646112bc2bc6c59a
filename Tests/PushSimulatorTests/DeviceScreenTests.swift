import Foundation
import TestSupport
import Testing

@testable import PushSimulator

@Suite("A device's screen") struct DeviceScreenTests {
    private func push(_ aps: [String: Any]) -> DeliveredPush {
        DeliveredPush(outcome: .original, shown: ShownNotification(WireNotification(["aps": aps]).content))
    }

    private func screen(_ pushes: (String, [String: Any])...) -> DeviceScreen {
        var screen = DeviceScreen()
        for (identifier, aps) in pushes {
            screen.show(push(aps), identifier: identifier)
        }
        return screen
    }

    @Test("the newest notification is first, and one with the same identifier replaces it") func replacing() {
        var screen = screen(("a", ["alert": "1"]), ("b", ["alert": "2"]))
        #expect(screen.notifications.map { $0.identifier } == ["b", "a"])
        screen.show(push(["alert": "3"]), identifier: "a")
        #expect(screen.notifications.map { $0.shown.body } == ["3", "2"])
        var withdrawal = DeliveredPush(notShownBecause: "withdrawn")
        withdrawal.removed = ["a"]
        screen.show(withdrawal, identifier: "c")
        #expect(screen.notifications.map { $0.shown.body } == ["2"])
    }

    @Test("a badge and a sound have their effect even without text") func badge() {
        let silent = ShownNotification(WireNotification(["aps": ["badge": 5, "sound": "default"]]).content)
        let push = DeliveredPush(notShownBecause: "no text", silent: silent)
        #expect(push.badge == 5 && push.ring?.sound == "default")
    }

    @Test("conversations form groups, starting with the one that has the newest notification") func groups() {
        let screen = screen(
            ("a", ["alert": "1", "thread-id": "x"]), ("b", ["alert": "2", "thread-id": "y"]), ("c", ["alert": "3"]),
            ("d", ["alert": "4", "thread-id": "x"]))
        #expect(screen.groups.map { $0.thread } == ["x", "", "y"])
        #expect(screen.groups.first?.entries.map { $0.identifier } == ["d", "a"])
    }

    @Test("a sound rings unless the notification is passive; a critical one rings even when muted") func ringing() {
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
}
