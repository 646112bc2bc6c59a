import Foundation
import PushCore
import PushSender
import TestSupport
import Testing
import UserNotifications

@testable import PushCharts
@testable import PushService
@testable import SealedPush

@Suite("The chart stage") struct ChartStageTests {
    private static let topic: Topic = "com.example.app"
    private let sender = SenderPrivateKey()
    private let phone = DevicePrivateKey()
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func seal(_ change: (inout Content) -> Void) throws -> Envelope {
        var content = Content(title: "Nina", body: "The week")
        change(&content)
        let sealer = Sealer(sender: sender, topic: Self.topic, safeDefault: "wire default")
        return try sealer.seal(content, toUnverified: phone.recipient).envelope
    }

    private func draft(_ change: (inout Content) -> Void) throws -> NotificationDraft {
        let keys = InMemoryKeyStore([DeviceKey(phone, created: Timestamp.now().advanced(bySeconds: -60))])
        let opener = Opener(topic: Self.topic, keys: keys, trusting: [sender.sender])
        return NotificationDraft(try opener.open(try seal(change), at: .now()), isRepeat: false)
    }

    private func context() -> StageContext {
        StageContext(
            deadline: .now + .seconds(120), container: .folder(folder.url),
            environment: DeviceEnvironment(keychain: { _ in nil }, appGroup: { _ in nil }),
            scratch: ScratchFolder(in: folder.appending("tmp")))
    }

    private func files() throws -> [URL] { try Checkout.allFiles(in: folder.url) }

    @Test("The chart's picture precedes other attachments, and its newest part is the thumbnail")
    func picture() async throws {
        var draft = try draft { $0.chart = PushChart(.line, points: [1, 2, 3]) }
        draft.attachments = [DraftAttachment(identifier: "photo", file: folder.appending("photo.png"))]
        let improved = try await ChartStage().improve(draft, in: context())
        let added = try #require(improved.attachments.first { $0.identifier == ChartStage.identifier })
        #expect(improved.attachments.count == 2)
        #expect(added.position < 0)
        #expect(added.type == "public.png")
        let picture = try Pixels(Array(try Data(contentsOf: added.file)))
        #expect((picture.width, picture.height) == (1_080, 540))
        let clip = try #require(added.thumbnail?.clip)
        #expect(clip.x > 0 && clip.y >= 0 && clip.x + clip.width <= 1 && clip.y + clip.height <= 1)
        // A square, in pixels.
        #expect(abs(clip.width * 1_080 - clip.height * 540) < 1)
        #expect(improved.body == draft.body)
    }

    @Test("A notification without a readable chart is unchanged, and no file is written")
    func unchanged() async throws {
        let draft = try draft { $0.data = 1 }
        let improved = try await ChartStage().improve(draft, in: context())
        #expect(improved.attachments.isEmpty)
        #expect(try files().isEmpty)
    }

    @Test("A chart that the notification doesn't show isn't drawn", arguments: [Content.Disclosure.sender, .generic])
    func hidden(level: Content.Disclosure) async throws {
        let draft = try draft {
            $0.chart = PushChart(.line, points: [1, 2, 3])
            $0.disclosure = level
        }
        let improved = try await ChartStage().improve(draft, in: context())
        #expect(improved.attachments.isEmpty)
        #expect(try files().isEmpty)
    }

    @Test("A canceled stage stops, and writes no file") func canceled() async throws {
        let draft = try draft { $0.chart = PushChart(.bar, points: Array(repeating: 1, count: 1_024)) }
        let context = context()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await ChartStage().improve(draft, in: context)
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try files().isEmpty)
    }

    private final class Service: SealedNotificationService {
        private let fixed: ServiceConfiguration

        init(_ configuration: ServiceConfiguration) { fixed = configuration }

        override var configuration: ServiceConfiguration { fixed }
    }

    @Test("The text is shown even if the picture can't be written", arguments: [true, false])
    func textStands(canWrite: Bool) async throws {
        let created = Timestamp.now().advanced(bySeconds: -60)
        let keys = OneItem(item: StoredKey.item(phone, life: KeyLife(created: created, confirmed: created)))
        let ledger = FileLedger(folder: folder.appending("SealedPush").appending(path: "ledger"))
        try ledger.begin(floor: Timestamp.now().advanced(bySeconds: -60), asksForNewKey: false)
        // A file takes the folder's place.
        if !canWrite { try folder.write("", to: "tmp") }
        let service = Service(
            ServiceConfiguration(
                topic: Self.topic, keys: .items(keys), trusting: [sender.sender],
                safeDefault: SafeDefault(body: "local default"), container: .folder(folder.url),
                stages: [ChartStage(style: ChartStyle(scale: .two))]))
        let container = folder.url
        service.environment = DeviceEnvironment(
            keychain: { _ in keys }, appGroup: { _ in container }, scratchRoot: folder.appending("tmp"))
        let content = UNMutableNotificationContent()
        content.userInfo["custom-encrypted-message"] =
            try seal { $0.chart = PushChart(.area, points: [1, nil, 3]) }.text
        let request = UNNotificationRequest(identifier: "1", content: content, trigger: nil)
        let shown = await withCheckedContinuation { continuation in
            service.didReceive(request) { content in
                nonisolated(unsafe) let content = content
                continuation.resume(returning: (content.body, content.attachments.map(\.identifier)))
            }
        }
        #expect(shown.0 == "The week")
        #expect(shown.1 == (canWrite ? ["chart"] : []))
    }
}

/// A keychain that never changes.
private struct OneItem: SecretItems {
    let item: SecretItem

    func list() -> [ListedItem] { [item.listed] }
    func secret(account: String) -> ItemSecret { item.secret }
    func add(_ item: SecretItem) {}
    func replace(_ item: ListedItem, attributes: [UInt8]) {}
    func remove(account: String) {}
}
