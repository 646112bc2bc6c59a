import Foundation
import PushService

/// A service extension that opens, beside a content extension that shows what was opened.
final class NotificationService: SealedNotificationService {
    override var configuration: ServiceConfiguration {
        ServiceConfiguration(
            topic: "com.example.app",
            keys: .keychain(accessGroup: "ABCDE12345.com.example.shared"),
            trusting: ["pushsender159w574d8l6hmv0r2z6kk55535xn84f5fh0u0rredej5frj2kvclqxvm9wj"],
            safeDefault: SafeDefault(body: "There is news."),
            container: .appGroup("group.com.example"),
            stages: [PictureStage()]
        )
    }
}

/// Attaches a picture that needs no network.
struct PictureStage: ServiceStage {
    func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
        var better = draft
        let file = try context.scratchFile(named: "picture.png")
        try Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]).write(to: file)
        better.attachments = [
            DraftAttachment(identifier: "picture", file: file, remoteURL: URL(string: "https://example.com/large.png"))
        ]
        return better
    }
}
