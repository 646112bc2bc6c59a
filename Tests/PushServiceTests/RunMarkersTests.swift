import Foundation
import PushServiceTesting
import SealedPush
import TestSupport
import Testing

@testable import PushService

@Suite("A process that ends before it shows a push", .blocking) struct RunMarkersTests {
    private let folder: TemporaryFolder
    private static let start = Timestamp(clamping: 1_800_000_000)

    init() throws { folder = try TemporaryFolder() }

    private var markers: RunMarkers { RunMarkers(in: folder.url) }
    private var log: ServiceLog { ServiceLog(folder: folder.url) }

    private func later(_ seconds: Int64) -> Timestamp { Self.start.advanced(bySeconds: seconds) }

    @Test("leaves an entry at its place in the log, after a minute and for a week") func entries() throws {
        for seconds in [0, 20, 40] as [Int64] {
            log.append(ServiceLog.Entry(time: later(seconds), reason: seconds == 20 ? .rejected : nil))
        }
        let killed = try #require(markers.begin(at: later(30)))
        let shown = try #require(markers.begin(at: later(30)))
        markers.end(shown)
        #expect(log.entries(at: later(90)).count == 3)
        let entries = log.entries(at: later(91))
        #expect(entries.map(\.isUnfinished) == [false, false, true, false])
        #expect(entries[2].description == "unfinished" && entries[2].time == later(30))
        // A name that isn't ours, and a log without any other line.
        try Data().write(to: killed.deletingLastPathComponent().appending(path: "a.b"))
        for name in ["log.jsonl"] { try FileManager.default.removeItem(at: folder.appending(name)) }
        #expect(log.entries(at: later(91)).map(\.description) == ["unfinished"])

        let week: Int64 = 7 * 86_400
        markers.end(try #require(markers.begin(at: later(30 + week))))
        #expect(log.entries(at: later(91 + week)).count == 1)
        markers.end(try #require(markers.begin(at: later(31 + week))))
        #expect(log.entries(at: later(91 + week)).isEmpty)
    }

    @Test("is told from one that shows it: the marker is there while a stage works, and gone with the notification")
    func runs() async throws {
        struct Look: ServiceStage {
            let seen: Collected<Int>

            func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
                let folder = try #require(context.ownFolder)
                seen.add(RunMarkers(in: folder).unfinished(at: context.now().advanced(bySeconds: 61)).count)
                return draft
            }

            func finished(_ result: StageResult, in context: StageContext) async {
                guard let folder = context.ownFolder else { return }
                seen.add(RunMarkers(in: folder).unfinished(at: context.now().advanced(bySeconds: 61)).count)
            }
        }
        final class Service: SealedNotificationService {
            let seen = Collected<Int>()
            override var configuration: ServiceConfiguration {
                ServiceConfiguration(
                    group: "group.com.example", trusting: [], safeDefault: "d", stages: [Look(seen: seen)])
            }
        }
        let (device, service) = (try TestDevice(), Service())
        try await device.show(Content(body: "text"), by: service)
        // A push that doesn't open has no stages, but they hear of it.
        await device.show([:], by: service)
        #expect(service.seen.all == [1, 0, 0])
    }

    @Test("changes nothing where no file can be created") func unwritable() throws {
        let file = try folder.write("", to: "file")
        #expect(RunMarkers(in: URL(filePath: file)).begin(at: Self.start) == nil)
        #expect(ServiceLog(folder: URL(filePath: file)).entries().isEmpty)
    }
}
