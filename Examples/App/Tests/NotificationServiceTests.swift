import Foundation
import PushService
import PushServiceTesting
import SealedPush
import Testing
import UserNotifications

#if canImport(app_example)
@testable import app_example
#endif

@Suite("The app's extension") struct NotificationServiceTests {
    private let device: TestDevice

    init() throws { device = try TestDevice() }

    @Test("shows a message as its sender wrote it") func opens() async throws {
        var content = Content(title: "Nina", body: "Lunch at one?")
        content.data = ["thread": "lunch"]
        let shown = try await device.show(content, by: NotificationService())
        #expect(shown.title == "Nina" && shown.body == "Lunch at one?")
        #expect(SealedNotification(userInfo: shown.userInfo)?.data == ["thread": "lunch"])
    }

    @Test("shows the safe default for a replay, and before the first unlock") func refuses() async throws {
        let service = NotificationService()
        let payload = try device.payload(of: Content(body: "Lunch?"), for: service)
        #expect(await device.show(payload, by: service).body == "Lunch?")
        #expect(reason(await device.show(payload, by: service)) == .replayed)
        device.isLocked = true
        #expect(reason(try await device.show(Content(body: "Dinner?"), by: service)) == .locked)
    }

    @Test("shows the safe default for an old message, an altered one, and a push that was never sealed")
    func alters() async throws {
        let service = NotificationService()
        device.now = Timestamp.now().advanced(bySeconds: -40 * 86_400)
        let old = try device.payload(of: Content(body: "Lunch?"), for: service)
        device.now = nil
        #expect(reason(await device.show(old, by: service)) == .tooOld)
        var altered = try device.payload(of: Content(body: "Lunch?"), for: service)
        altered["custom-encrypted-message"] = (altered["custom-encrypted-message"] as? String).map { $0 + "AAAA" }
        #expect(reason(await device.show(altered, by: service)) != nil)
        #expect(reason(await device.show(["aps": ["alert": "Free money"]], by: service)) == .malformed)
    }

    @Test("shows each account's messages as its own, and none of an account that was removed") func accounts()
        async throws
    {
        let service = NotificationService()
        let nina = try device.addAccount("nina", for: service)
        let omar = try device.addAccount("omar", for: service)
        let shown = try await device.show(Content(body: "Lunch?"), to: nina, by: service)
        #expect(shown.body == "Lunch?" && SealedNotification(userInfo: shown.userInfo)?.account == "nina")
        let foreign = try device.payload(of: Content(body: "Lunch?"), to: nina, from: omar.sender, for: service)
        #expect(reason(await device.show(foreign, by: service)) == .unknownSender)
        let late = try device.payload(of: Content(body: "Dinner?"), to: nina, for: service)
        try device.remove(nina, for: service)
        #expect(reason(await device.show(late, by: service)) == .unknownRecipient)
        #expect(try await device.show(Content(body: "Tea?"), to: omar, by: service).body == "Tea?")
    }

    private func reason(_ shown: UNNotificationContent) -> OpenError? {
        #expect(shown.body == "You have a new message!")
        return SealedNotification(userInfo: shown.userInfo)?.reason
    }
}
