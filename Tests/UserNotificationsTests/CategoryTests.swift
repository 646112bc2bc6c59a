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
            identifier: "message", actions: actions, intentIdentifiers: ["intent"], options: [.customDismissAction])
    }

    @Test("keeps what it was made with")
    func values() {
        let category = category([reply()])
        #expect(category.identifier == "message")
        #expect(category.actions == [reply()])
        #expect(category.intentIdentifiers == ["intent"])
        #expect(category.options == .customDismissAction)
        #expect(UNNotificationCategory(identifier: "plain", actions: [], intentIdentifiers: []) != category)
    }

    @Test("is equal by value and fits into a set")
    func equality() {
        #expect(category([reply()]) == category([reply()]))
        #expect(category([reply()]) != category([reply("Other")]))
        #expect(Set([category([]), category([]), category([reply()])]).count == 2)
        #expect(category([]).copy() as? UNNotificationCategory == category([]))
    }

    @Test("has actions that differ by kind and options")
    func actions() {
        let actions: [UNNotificationAction] = [
            UNNotificationAction(identifier: "reply", title: "Reply"),
            UNNotificationAction(identifier: "reply", title: "Reply", options: .destructive),
            reply(),
        ]
        #expect(Set(actions).count == 3)
        #expect(reply().textInputButtonTitle == "Send")
        #expect(reply().textInputPlaceholder == "Message")
    }

    @Test("has Apple's raw values in its options and those of its actions")
    func rawValues() {
        #expect(UNNotificationCategoryOptions.customDismissAction.rawValue == 1)
        let actionOptions: [UNNotificationActionOptions] = [.authenticationRequired, .destructive, .foreground]
        #expect(actionOptions.map(\.rawValue) == [1, 2, 4])
    }
}
