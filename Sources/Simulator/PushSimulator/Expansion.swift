package import Foundation
internal import PushCore
internal import PushService
internal import UserNotifications

/// What a person sees who expands a notification. Travels as JSON from the content extension's process.
package struct ShownExpansion: Codable, Equatable, Sendable {
    /// Whether it is the system's own view: the app has none for this category, or it failed.
    package var isSystem = true
    package var rows: [Row]
    /// Why it is the system's own view, although the app has one.
    package var note: String?

    /// A text, or an attachment's file in the device's own data store.
    package struct Row: Codable, Equatable, Sendable {
        package var text: String?
        package var file: URL?
    }

    var jsonObject: [String: Any] {
        let rows = rows.map { ["text": $0.text, "file": $0.file?.path(percentEncoded: false)].compactMapValues { $0 } }
        return ["system": isSystem, "rows": rows, "note": note ?? NSNull()]
    }
}

struct ExpansionRequest: Codable, Sendable {
    var identifier: String
    var shown: ShownNotification
    var arrived: Date

    init(identifier: String, shown: ShownNotification, arrived: Date) {
        (self.identifier, self.shown, self.arrived) = (identifier, shown, arrived)
    }

    init(_ notification: UNNotification) {
        let shown = ShownNotification(notification.request.content)
        self.init(identifier: notification.request.identifier, shown: shown, arrived: notification.date)
    }

    /// Expands it in a process of its own, never the service extension's, as on iOS. Waits ten seconds for the view.
    func run(_ program: ExtensionProgram, on device: SimulatedDevice) throws(ChildProcess.NotRunnable) -> ShownExpansion
    {
        // How much memory iOS gives a content extension is not known, so it is not limited here.
        let rules = ExtensionRules(timeLimit: .seconds(10), memoryLimit: 1 << 40)
        let process = try RunningExtension(program, setting: ExtensionSetting(device: device), rules: rules)
        let ticket = process.submit(identifier) { .expand(self, number: $0) }
        let ending = ticket?.wait().ending
        _ = process.end()
        switch ending {
        case .expanded(let view): return view
        case .timedOut: return systemView("the content extension had no view in time")
        case .returned, .ended, .overMemory, .killed, nil:
            return systemView("the content extension ended without a view")
        }
    }

    /// As the system expands a notification by itself: the text above, the attachments large.
    private func systemView(_ note: String? = nil) -> ShownExpansion {
        let texts = shown.texts.map { ShownExpansion.Row(text: $0) }
        return ShownExpansion(rows: texts + shown.attachments.map { ShownExpansion.Row(file: $0.file) }, note: note)
    }

    /// The rows of the view for its category, or the system's own view with the reason. Runs in the content extension's
    /// process.
    func expanded(by views: [any ExpandedView]) -> ShownExpansion {
        guard !shown.category.isEmpty, let view = views.first(where: { $0.categories.contains(shown.category) }) else {
            return systemView()
        }
        guard let notification = ExpandedNotification(notification) else {
            return systemView("the service module has not opened this notification")
        }
        let rows = view.rows(for: notification).map { row in
            switch row {
            case .text(let text): ShownExpansion.Row(text: text)
            case .media(let attachment): ShownExpansion.Row(file: attachment.file)
            }
        }
        return ShownExpansion(isSystem: false, rows: rows)
    }

    var notification: UNNotification {
        let content = UNMutableNotificationContent()
        (content.title, content.subtitle, content.body) = (shown.title, shown.subtitle, shown.body)
        content.categoryIdentifier = shown.category
        content.threadIdentifier = shown.thread
        content.userInfo = shown.userInfoObject
        content.attachments = shown.attachments.compactMap { attachment in
            try? UNNotificationAttachment(
                identifier: attachment.identifier, url: attachment.file,
                options: [UNNotificationAttachmentOptionsTypeHintKey: attachment.type])
        }
        let request = UNNotificationRequest(
            identifier: identifier, content: content, trigger: UNPushNotificationTrigger())
        return UNNotification(request: request, date: arrived)
    }
}
