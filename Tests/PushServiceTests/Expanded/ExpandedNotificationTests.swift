#if !canImport(Darwin)
// Apple's notifications and responses can't be created.
import Foundation
import SealedPush
import TestSupport
import Testing
import UserNotifications

@testable import PushService

@Suite("A notification for a content extension") struct ExpandedNotificationTests {
    private func notification(_ userInfo: [AnyHashable: Any], file: URL? = nil) throws -> UNNotification {
        let content = UNMutableNotificationContent()
        content.title = "t"
        content.subtitle = "s"
        content.body = "b"
        content.categoryIdentifier = "stock"
        content.userInfo = userInfo
        content.attachments = try file.map { [try UNNotificationAttachment(identifier: "picture", url: $0)] } ?? []
        return UNNotification(
            request: UNNotificationRequest(identifier: "id", content: content, trigger: nil),
            date: Date(timeIntervalSince1970: 7))
    }

    @Test("An expanded notification has the opened content, its files, and their origins") func opened() throws {
        let folder = try TemporaryFolder()
        let file = URL(filePath: try folder.write("bytes", to: "a.png"))
        let members: [String: Any] = [
            "outcome": "opened", "id": "1", "data": #"{"price":"12"}"#,
            "attachments": ["picture": "https://e.com/a"],
        ]
        let expanded = try #require(ExpandedNotification(try notification(["sealed-push": members], file: file)))
        #expect(expanded.identifier == "id")
        #expect([expanded.title, expanded.subtitle, expanded.body] == ["t", "s", "b"])
        #expect(expanded.category == "stock")
        #expect(expanded.data == .object(["price": .string("12")]))
        #expect(expanded.date == Date(timeIntervalSince1970: 7))
        let picture = try #require(expanded.attachment("picture"))
        #expect(picture.type == "public.png")
        #expect(picture.remoteURL == URL(string: "https://e.com/a"))
        #expect(try picture.withFile { file in try Data(contentsOf: file) } == Data("bytes".utf8))
        #expect(expanded.attachment("other") == nil)
    }

    @Test("An expanded notification is nil if the service module didn't open it, whatever its user info claims")
    func notOurs() throws {
        #expect(ExpandedNotification(try notification([:])) == nil)
        let refused: [String: Any] = ["outcome": "safe-default", "reason": "rejected"]
        #expect(ExpandedNotification(try notification(["sealed-push": refused])) == nil)
    }
}
#endif
