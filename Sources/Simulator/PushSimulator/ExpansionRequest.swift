import Foundation
internal import PushService
internal import UserNotifications

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

    /// Expands the notification as iOS does, in a separate process from the service extension's. Waits up to ten seconds.
    func run(_ program: ExtensionProgram, on device: SimulatedDevice) throws(ChildProcess.NotRunnable) -> ShownExpansion
    {
        // The memory limit that iOS sets for a content extension isn't known, so there is none here.
        let rules = ExtensionRules(timeLimit: .seconds(10), memoryLimit: 1 << 40)
        let process = try RunningExtension(program, setting: ExtensionSetting(device: device), rules: rules)
        let ticket = process.submit(identifier) { .expand(self, number: $0) }
        let ending = ticket?.wait().ending
        _ = process.end()
        switch ending {
        case .expanded(let view): return view
        case .timedOut: return systemView("the content extension didn't provide a view in time")
        case .returned, .ended, .overMemory, .killed, nil:
            return systemView("the content extension exited without providing a view")
        }
    }

    /// Returns the system's own expanded view: the text, followed by the attachments at full size.
    private func systemView(_ note: String? = nil) -> ShownExpansion {
        let texts = shown.texts.map { ShownExpansion.Row(text: $0) }
        return ShownExpansion(rows: texts + shown.attachments.map { ShownExpansion.Row(file: $0.file) }, note: note)
    }

    /// Returns the rows of the view for its category, or the system's own view and the reason for using it. Runs in the
    /// content extension's process.
    func expanded(by views: [any ExpandedView]) -> ShownExpansion {
        guard !shown.category.isEmpty, let view = views.first(where: { $0.categories.contains(shown.category) }) else {
            return systemView()
        }
        guard let notification = ExpandedNotification(notification) else {
            return systemView("the service module didn't open this notification")
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
