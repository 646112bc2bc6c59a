import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing
import UserNotifications

@testable import PushService

/// DeviceState 31.3.
@Suite("The proof of a notification's user info") struct NotificationSealTests {
    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private var seal: NotificationSeal { NotificationSeal(in: fixture.root) }

    private func read(_ userInfo: [AnyHashable: Any]) -> SealedNotification? {
        SealedNotification(userInfo: userInfo, seal)
    }

    @Test("What the extension wrote is trusted, whatever the system adds") func added() async throws {
        var content = Content(title: "Nina", body: "Lunch?", data: ["room": 4])
        content.other = ["mood": "good"]
        let opened = await fixture.show(try fixture.seal(content)).userInfo
        let refused = await fixture.show("AQ").userInfo
        for added in [[:], ["aps": ["alert": "x"]], ["aps": [:], "custom-encrypted-message": "AQ", "x": 1]]
            as [[String: Any]]
        {
            let more = opened.merging(added) { own, _ in own }
            #expect(read(more)?.data == ["room": 4] && read(more)?.other == ["mood": "good"], "\(added)")
            #expect(read(refused.merging(added) { own, _ in own })?.reason == .malformed, "\(added)")
            // Without the device's key, only user info with nothing else is trusted.
            #expect((SealedNotification(userInfo: more) != nil) == added.isEmpty, "\(added)")
        }
        #expect(fixture.configuration().sealed(userInfo: opened.merging(["aps": "x"]) { own, _ in own })?.id != nil)
    }

    @Test("Each changed, added, or missing member costs the trust, and so does another device's proof")
    func changed() async throws {
        let shown = await fixture.show(try fixture.seal(Content(title: "Nina", body: "Lunch?", data: [1]))).userInfo
        let members = try #require(shown["sealed-push"] as? [String: Any])
        #expect(Set(members.keys) == ["outcome", "id", "sent", "sender", "data", "proof"])
        func isTrusted(_ members: [String: Any]) -> Bool {
            read(["aps": [:] as [String: Any], "sealed-push": members]) != nil
        }
        #expect(isTrusted(members))
        for name in members.keys {
            var changed = members
            changed[name] = nil
            #expect(!isTrusted(changed), "\(name)")
            changed[name] = name == "sent" ? 1 : "x"
            #expect(!isTrusted(changed), "\(name)")
        }
        #expect(!isTrusted(members.merging(["new": "x"]) { own, _ in own }))
        #expect(!isTrusted(members.merging(["new": 1.5]) { own, _ in own }))
        let other = try Fixture()
        let foreign = await other.show(try other.seal(Content(body: "b"))).userInfo
        #expect(read(foreign.merging(["aps": "x"]) { own, _ in own }) == nil)
        #expect(read(["aps": "x", "sealed-push": ["outcome": "opened", "id": "x"]]) == nil)
    }

    @Test("The key is created once, before the first unlock, too; a damaged one proves nothing") func key() async throws
    {
        let locked = WatchedItems(fixture.keys, .failing(.locked))
        let shown = await fixture.show(try fixture.seal(), by: fixture.configuration(keys: locked)).userInfo
        let more = shown.merging(["aps": "x"]) { own, _ in own }
        #expect(read(more)?.envelope != nil)
        let file = fixture.root.appending(path: "notifications.key")
        let key = try Data(contentsOf: file)
        #expect(key.count == 32 && Set(key).count > 1)
        seal.prepare()
        #expect(try Data(contentsOf: file) == key)
        try key.dropLast().write(to: file)
        #expect(read(more) == nil && read(shown)?.envelope != nil)
        #expect(NotificationSeal(in: nil).adding(to: ["outcome": "opened"]).count == 1)
    }
}
