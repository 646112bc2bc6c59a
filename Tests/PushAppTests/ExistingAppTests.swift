import Foundation
import PushApp
import PushService
import PushServiceTesting
import SealedPush
import TestSupport
import Testing
import UserNotifications

@testable import ChatWithSwiftUI
@testable import ChatWithUIKit

/// Two small apps, each before and after it got sealed pushes. RehearsalTests compiles them with stand-ins for Apple's modules;
/// here, what needs neither UIKit nor SwiftUI runs.
@Suite("Apps that got sealed pushes", .blocking) @MainActor struct ExistingAppTests {
    @Test(
        "each needed at most 30 lines, and lost none but those that it overrides now", arguments: ["SwiftUI", "UIKit"])
    func lines(app: String) throws {
        let (before, after) = (try Self.files("\(app)/Before"), try Self.files("\(app)/After"))
        #expect(before.count >= 2 && after.count == before.count + 2)
        var (added, removed): ([String], [String]) = ([], [])
        for (name, lines) in after {
            for change in lines.difference(from: before[name] ?? []) {
                switch change {
                case .insert(_, let line, _): added.append(line)
                case .remove(_, let line, _): removed.append(line)
                }
            }
        }
        print("\(app): \(added.count) lines added, \(removed.count) changed")
        #expect(added.count <= 30 && added.count > 20, "\(added)")
        #expect(removed.count == (app == "UIKit" ? 3 : 0), "\(removed)")
    }

    private static func files(_ folder: String) throws -> [String: [String]] {
        let files = try Checkout.files(in: "Tests/Support/Apps/\(folder)", ending: ".swift")
        return try Dictionary(
            uniqueKeysWithValues: files.map { file in
                let lines = try Checkout.text(file).split(separator: "\n").map(String.init)
                return (file.lastPathComponent, lines.filter { !$0.allSatisfy(\.isWhitespace) })
            })
    }

    @Test("the SwiftUI app shows the conversation that was tapped, and a logout leaves nothing") func swiftUI()
        async throws
    {
        let chats = ChatWithSwiftUI.Chats()
        try await run(
            ChatWithSwiftUI.pushes, ChatWithSwiftUI.NotificationService(), logIn: { await chats.logIn("alice") },
            logOut: { await chats.logOut() }, thread: { chats.thread })
    }

    @Test("the UIKit app shows the conversation that was tapped, and a logout leaves nothing") func uiKit() async throws
    {
        let chats = ChatWithUIKit.Chats()
        try await run(
            ChatWithUIKit.pushes, ChatWithUIKit.NotificationService(), logIn: { await chats.logIn("alice") },
            logOut: { await chats.logOut() }, thread: { chats.thread })
    }

    private func run(
        _ pushes: SealedPushes, _ service: SealedNotificationService, logIn: () async -> Void,
        logOut: () async -> Void, thread: () -> String?
    ) async throws {
        let device = try TestDevice()
        await device.launch(pushes)
        await logIn()
        await device.giveToken(to: pushes)
        #expect(device.isRegistered)
        var content = Content(title: "Nina", body: "Lunch at one?")
        content.data = ["thread": "lunch"]
        for identifier in ["1", "2"] { try await device.show(content, identifier: identifier, by: service) }
        #expect(device.notifications.map(\.content.body) == ["Lunch at one?", "Lunch at one?"])
        await device.tap("1", in: pushes)
        #expect(thread() == "lunch" && device.notifications.count == 1)
        await logOut()
        #expect(thread() == nil && device.notifications.isEmpty && !device.isRegistered)
    }
}
