import Foundation
import Testing
import UserNotifications

@Suite("Content") struct ContentTests {
    private func filled() -> UNMutableNotificationContent {
        let content = UNMutableNotificationContent()
        content.badge = 3
        content.body = "100%% of %d"
        content.categoryIdentifier = "message"
        content.launchImageName = "launch"
        content.sound = .defaultCriticalSound(withAudioVolume: 0.5)
        content.subtitle = "subtitle"
        content.threadIdentifier = "thread"
        content.title = "title"
        content.userInfo = ["aps": ["alert": ["body": "b"], "badge": 3], "e": ["x", 1, NSNull()]]
        content.targetContentIdentifier = "window"
        content.interruptionLevel = .timeSensitive
        content.relevanceScore = 0.25
        content.filterCriteria = "work"
        return content
    }

    @Test("content that is empty has Apple's values for what is absent") func defaults() {
        let content = UNNotificationContent()
        #expect(content.attachments.isEmpty)
        #expect(content.badge == nil)
        let texts = [
            content.body, content.categoryIdentifier, content.launchImageName, content.subtitle,
            content.threadIdentifier, content.title,
        ]
        #expect(texts.allSatisfy { $0 == "" })
        #expect(content.sound == nil)
        #expect(content.userInfo.isEmpty)
        #expect(content.targetContentIdentifier == nil)
        #expect(content.interruptionLevel == .active)
        #expect(content.relevanceScore == 0)
        #expect(content.filterCriteria == nil)
    }

    @Test("content copied from mutable content is an immutable snapshot") func copy() throws {
        let content = filled()
        let copy = try #require(content.copy() as? UNNotificationContent)
        #expect(!(copy is UNMutableNotificationContent))
        #expect(copy == content)
        content.title = "changed"
        #expect(copy.title == "title")
        #expect(copy != content)
    }

    @Test("content copied mutably can change without the original") func mutableCopy() throws {
        let original = filled()
        for source in [original, try #require(original.copy() as? UNNotificationContent)] {
            let copy = try #require(source.mutableCopy() as? UNMutableNotificationContent)
            #expect(copy == source)
            copy.userInfo["e"] = nil
            #expect(copy != source)
            #expect(source.userInfo.count == 2)
        }
    }

    @Test("content is equal by value and hashes alike") func equality() {
        #expect(filled() == filled())
        #expect(filled().hash == filled().hash)
        #expect(UNNotificationContent() == UNMutableNotificationContent())
        #expect(!UNNotificationContent().isEqual("content"))
    }

    @Test("content differs when any one value differs") func everyValueCounts() {
        let changes: [(UNMutableNotificationContent) -> Void] = [
            { $0.badge = 4 }, { $0.body = "" }, { $0.categoryIdentifier = "" }, { $0.launchImageName = "" },
            { $0.sound = .default }, { $0.subtitle = "" }, { $0.threadIdentifier = "" }, { $0.title = "" },
            { $0.userInfo = ["aps": ["alert": ["body": "c"], "badge": 3], "e": ["x", 1, NSNull()]] },
            { $0.targetContentIdentifier = nil },
            { $0.interruptionLevel = .passive }, { $0.relevanceScore = 1 }, { $0.filterCriteria = nil },
        ]
        for (position, change) in changes.enumerated() {
            let content = filled()
            change(content)
            #expect(content != filled(), "change \(position)")
        }
    }

    @Test("content of a request is a snapshot") func requestSnapshot() {
        let content = filled()
        let request = UNNotificationRequest(identifier: "1", content: content, trigger: nil)
        content.body = "changed"
        #expect(request.content == filled())
        #expect(!(request.content is UNMutableNotificationContent))
        #expect(request == UNNotificationRequest(identifier: "1", content: filled(), trigger: nil))
        #expect(request != UNNotificationRequest(identifier: "2", content: filled(), trigger: nil))
    }

    @Test("content of a remote notification has a trigger that never repeats") func trigger() {
        #expect(!UNPushNotificationTrigger().repeats)
        #expect(UNPushNotificationTrigger() == UNPushNotificationTrigger())
        let content = UNNotificationContent()
        let remote = UNNotificationRequest(identifier: "1", content: content, trigger: UNPushNotificationTrigger())
        #expect(remote != UNNotificationRequest(identifier: "1", content: content, trigger: nil))
    }
}
