import PushService
import SealedPush
import SwiftUI
import UserNotifications

/// As much of an app as an extension needs around it: it asks for permission, and shows what the extension has logged.
@main
struct SealedPushApp: App {
    var body: some Scene {
        WindowGroup { LogView() }
    }
}

struct LogView: View {
    @State private var lines: [String] = []

    var body: some View {
        List(lines, id: \.self) { Text($0) }
            .task {
                let options: UNAuthorizationOptions = [.alert, .badge, .sound]
                _ = try? await UNUserNotificationCenter.current().requestAuthorization(options: options)
                lines = Self.logLines()
            }
    }

    private static func logLines() -> [String] {
        let log = ServiceLog(container: .appGroup("group.com.example"))
        return (log?.entries() ?? []).map { entry in
            "\(entry.time.secondsSince1970) \(entry.reason?.rawValue ?? "opened") \(entry.recipientKeyID ?? "-")"
        }
    }
}
