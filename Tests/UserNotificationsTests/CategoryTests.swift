import Foundation
import Testing
import UserNotifications

@Suite("A category")
struct CategoryTests {
    private func reply(_ placeholder: String = "Message") -> UNTextInputNotificationAction {
        UNTextInputNotificationAction(
            identifier: "reply", title: "Reply", options: [.authenticationRequired],
            textInputButtonTitle: "Send", textInputPlaceholder: placeholder)
    }

    private func category(_ actions: [UNNotificationAction]) -> UNNotificationCategory {
        UNNotificationCategory(
            identifier: "message", actions: actions, intentIdentifiers: ["intent"],
            hiddenPreviewsBodyPlaceholder: "Hidden", options: [.customDismissAction])
    }

    @Test("keeps what it was made with, and has empty texts for what is absent")
    func values() {
        let category = category([reply()])
        #expect(category.identifier == "message")
        #expect(category.actions == [reply()])
        #expect(category.intentIdentifiers == ["intent"])
        #expect(category.options == .customDismissAction)
        #expect(category.hiddenPreviewsBodyPlaceholder == "Hidden")
        #expect(category.categorySummaryFormat == "")
        let plain = UNNotificationCategory(identifier: "plain", actions: [], intentIdentifiers: [])
        #expect(plain.hiddenPreviewsBodyPlaceholder == "")
        let summary = UNNotificationCategory(
            identifier: "plain", actions: [], intentIdentifiers: [], hiddenPreviewsBodyPlaceholder: nil,
            categorySummaryFormat: "%u more", options: [])
        #expect(summary.categorySummaryFormat == "%u more")
        #expect(plain != summary)
    }

    @Test("is equal by value and fits into a set")
    func equality() {
        #expect(category([reply()]) == category([reply()]))
        #expect(category([reply()]) != category([reply("Other")]))
        #expect(Set([category([]), category([]), category([reply()])]).count == 2)
        #expect(category([]).copy() as? UNNotificationCategory == category([]))
    }

    @Test("has actions that differ by kind, icon and options")
    func actions() {
        let actions: [UNNotificationAction] = [
            UNNotificationAction(identifier: "reply", title: "Reply"),
            UNNotificationAction(identifier: "reply", title: "Reply", options: .destructive),
            UNNotificationAction(identifier: "reply", title: "Reply", icon: .init(systemImageName: "a")),
            UNNotificationAction(identifier: "reply", title: "Reply", icon: .init(templateImageName: "a")),
            reply(),
        ]
        #expect(Set(actions).count == 5)
        #expect(actions[2].icon?.isSystemImage == true)
        #expect(actions[3].icon?.imageName == "a")
        #expect(reply().textInputButtonTitle == "Send")
        #expect(reply().textInputPlaceholder == "Message")
        #expect(reply().icon == nil)
    }

    @Test("has Apple's raw values in its options and those of its actions")
    func rawValues() {
        let options: [UNNotificationCategoryOptions] = [
            .customDismissAction, .allowInCarPlay, .hiddenPreviewsShowTitle, .hiddenPreviewsShowSubtitle,
            .allowAnnouncement,
        ]
        #expect(options.map(\.rawValue) == [1, 2, 4, 8, 16])
        let actionOptions: [UNNotificationActionOptions] = [.authenticationRequired, .destructive, .foreground]
        #expect(actionOptions.map(\.rawValue) == [1, 2, 4])
    }
}
