import Foundation
import PushApp
import PushService
import PushServiceTesting
import SealedPush
import TestSupport
import Testing
import UserNotifications

/// The app of TestOnLinux 3.
nonisolated final class NotificationService: SealedNotificationService {
    override var configuration: ServiceConfiguration { .messages }
}

extension ServiceConfiguration {
    nonisolated static let messages = ServiceConfiguration(
        group: "group.com.example", trusting: ["pushsender1..."], safeDefault: "You have a new message!")
}

@MainActor let pushes = SealedPushes(.messages, server: URL(string: "https://push.example.com")) { "Bearer \($0)" }

@Suite("The guide's test of an app", .blocking) struct GuideTests {
    @MainActor @Test("A message is shown, opened by a tap, and gone after the logout") func lunch() async throws {
        let device = try TestDevice()
        await device.launch(pushes)
        await pushes.logIn("alice")
        await device.giveToken(to: pushes)
        #expect(pushes.status == .registered(device: "test-device", isOverdue: false))

        var content = Content(title: "Nina", body: "Lunch at one?")
        content.data = ["thread": "lunch"]
        try await device.show(content, identifier: "1", by: NotificationService())
        #expect(device.notifications.map(\.content.title) == ["Nina"])

        #if os(Linux)
        var thread: String?
        pushes.onTap = { message, _ in thread = try? message.decode([String: String].self)["thread"] }
        await device.tap("1", in: pushes)
        #expect(thread == "lunch" && device.notifications.isEmpty)
        #endif

        device.isOnline = false
        await pushes.logOut()
        #expect(pushes.status == .unfinishedLogout(.unreachable) && device.isRegistered)
        device.isOnline = true
        await device.launch(pushes)
        #expect(pushes.status == .loggedOut && !device.isRegistered)
    }

    @Test("TestOnLinux has this test, word for word") func words() throws {
        let page = try Checkout.text(Checkout.folder.appending(path: "Docs/TestOnLinux.md"))
        let block = try #require(
            page.components(separatedBy: "```swift\n").first { $0.contains("import PushServiceTesting") }?
                .components(separatedBy: "\n```").first)
        let own = try Checkout.text(Checkout.folder.appending(path: "Tests/PushAppTests/GuideTests.swift"))
        let lines = block.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(lines.count > 20)
        for line in lines { #expect(own.contains("\(line)\n"), "\(line)") }
    }
}
