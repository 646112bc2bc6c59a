import Foundation
internal import PushCore
import SealedPush
internal import UserNotifications

/// Tells a person after a restart that messages may be missing: for a phone that is off, Apple keeps only the newest push.
///
/// The first message that opens after a restart shows whether anything waited: if its known sender sealed it more than a minute
/// ago, others may have been dropped. The stage then adds a notification of its own, silently. It's shown once for each restart,
/// and never after an installation. Source: DeviceState 40.
public struct MissedMessagesStage: ServiceStage {
    private let title: String
    private let body: String

    /// Creates a stage with the texts of its notification. The program stops unless the body is visible.
    public init(title: String = "", body: String) {
        precondition(VisibleText.isVisible(body), "`body` must contain visible text")
        self.title = title
        self.body = body
    }

    /// Quick; it has nothing to add to the message itself.
    public var pace: StagePace { .quick }

    /// Adds the notification.
    public func finished(_ result: StageResult, in context: StageContext) async {
        guard case .opened(let draft, _) = result, draft.opened.sender != nil, !draft.isRepeat,
            let folder = context.ownFolder, let session = context.environment.bootSession(),
            Self.isNew(session, in: folder),
            context.now().seconds(since: draft.opened.sent) > Self.longestOrdinaryDelay
        else { return }
        let notice = UNMutableNotificationContent()
        notice.title = title
        notice.body = body
        notice.interruptionLevel = .passive
        let request = UNNotificationRequest(identifier: Self.identifier, content: notice, trigger: nil)
        try? await context.environment.notifications.add(request)
    }

    /// Whether another session was noted before; notes this one.
    private static func isNew(_ session: String, in folder: URL) -> Bool {
        let file = folder.appending(path: "boot")
        let noted = (try? DurableFiles.read(file, limit: 128)).map { String(decoding: $0, as: UTF8.self) }
        guard noted != session else { return false }
        try? FileProtection.always.ensureFolder(folder)
        // If it can't be noted, the notice could come with each message.
        do { try DurableFiles.replace(file, with: Array(session.utf8), mode: 0o600) } catch { return false }
        return noted != nil
    }

    private static let identifier = "sealed-push.missed"
    private static let longestOrdinaryDelay: Int64 = 60
}

/// The time from one start of the system to the next.
enum BootSession {
    /// Returns the system's identifier of this session; nil if it doesn't say.
    static func current() -> String? {
        #if canImport(Darwin)
        var bytes = [UInt8](repeating: 0, count: 64)
        var count = bytes.count
        guard sysctlbyname("kern.bootsessionuuid", &bytes, &count, nil, 0) == 0 else { return nil }
        #else
        let file = URL(filePath: "/proc/sys/kernel/random/boot_id")
        guard let bytes = try? DurableFiles.read(file, limit: 64) else { return nil }
        #endif
        let text = String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
        return text.isEmpty ? nil : text
    }
}
