import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing
import UserNotifications

@testable import PushService

@Suite("The badge that messages add to") struct BadgeCountTests {
    private let fixture: Fixture
    private var count: BadgeCount { BadgeCount(in: fixture.root) }

    init() throws { fixture = try Fixture() }

    private func field(adding increment: Int = 1, badge: Int? = nil) throws -> String {
        var content = Content(body: "b")
        content.badge = badge
        content.badgeIncrement = badge == nil ? increment : nil
        return try fixture.seal(content)
    }

    @Test("Each message adds once, a repeat doesn't, and an absolute badge changes no count") func adds() async throws {
        #expect(count.value == 0)
        let first = try field(adding: 2)
        #expect(await fixture.show(first, identifier: "one").badge == 2)
        #expect(await fixture.show(first, identifier: "one").badge == nil)
        #expect(await fixture.show(try field()).badge == 3)
        #expect(await fixture.show(try field(badge: 40)).badge == 40)
        #expect(await fixture.show("garbage").badge == nil)
        #expect(count.value == 3)
        try count.set(1)
        #expect(await fixture.show(try field()).badge == 2)
        try count.set(0)
        #expect(count.value == 0)
        for wrong in [-1, 0, 100] { #expect(count.add(wrong) == nil) }
    }

    @Test("Many messages at once are all counted, and the largest sum is shown last") func crowd() async throws {
        let service = TestedService(fixture.configuration())
        service.environment = fixture.environment()
        let heard = Collected<Int>()
        let fields = try (1...20).map { _ in try field() }
        nonisolated(unsafe) let shared = service
        await withTaskGroup(of: Void.self) { group in
            for field in fields {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        shared.didReceive(Fixture.request(field: field)) { content in
                            heard.add(content.badge?.intValue ?? 0)
                            continuation.resume()
                        }
                    }
                }
            }
        }
        #expect(heard.all == heard.all.sorted() && heard.all.last == 20)
        #expect(count.value == 20)
        await service.tidied()
    }

    @Test("Processes that add and one that sets lose no count") func races() async throws {
        let count = count
        let sums = await withTaskGroup(of: [Int].self) { group in
            for _ in 0..<4 {
                group.addTask { (0..<50).compactMap { _ in count.add(1)?.value } }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        // Each sum was made by one call.
        #expect(sums.sorted() == Array(1...200))
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for _ in 0..<50 { try? count.set(0) } }
            group.addTask { for _ in 0..<50 { _ = count.add(1) } }
        }
        #expect(count.value <= 50)
    }

    @Test("If the count can't be written, the badge stays as it is, the text is shown, and the log says so")
    func unwritable()
        async throws
    {
        try FileManager.default.createDirectory(at: fixture.root, withIntermediateDirectories: true)
        try Data().write(to: fixture.root.appending(path: "badge"))
        let shown = await fixture.show(try field())
        #expect(shown.body == "b" && shown.badge == nil)
        #expect(fixture.log.compactMap(\.failure) == ["unwritable"])
        #expect(throws: CocoaError.self) { try count.set(3) }
        #expect(count.value == 0)
    }
}
