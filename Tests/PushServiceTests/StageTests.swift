import Dispatch
import Foundation
import PushCore
import SealedPush
import TestSupport
import Testing
import UserNotifications

@testable import PushService

@Suite("Stages") struct StageTests {
    /// A stage made of closures.
    struct Step: ServiceStage {
        typealias Work = @Sendable (inout NotificationDraft, StageContext) async throws -> Void

        var pace = StagePace.slow
        var pieces: [Step] = []
        var end: @Sendable (StageResult) -> Void = { _ in }
        var work: Work

        init(pace: StagePace = .slow, _ work: @escaping Work) {
            self.pace = pace
            self.work = work
        }

        init(pieces: [Step]) {
            self.pieces = pieces
            work = { _, _ in }
        }

        func parts(of draft: NotificationDraft) -> [any ServiceStage] { pieces.isEmpty ? [self] : pieces }

        func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
            var draft = draft
            try await work(&draft, context)
            return draft
        }

        func finished(_ result: StageResult, in context: StageContext) async { end(result) }
    }

    struct Broken: StageError { let code = "broken" }

    private func show(
        _ stages: [any ServiceStage], body: String = "text", expiringAfter expiry: Duration? = nil
    ) async throws -> (UNNotificationContent, Fixture) {
        let fixture = try Fixture()
        let field = try fixture.seal(Content(title: "Nina", body: body))
        return (await fixture.show(field, stages: stages, expiringAfter: expiry), fixture)
    }

    @Test("First stages precede quick ones, quick ones precede slow ones, and each sees the earlier results")
    func order() async throws {
        func append(_ text: String, _ pace: StagePace) -> Step {
            Step(pace: pace) { draft, _ in draft.body += text }
        }
        let (shown, _) = try await show([
            append(" slow", .slow), append(" quick", .quick), append(" again", .quick), append(" first", .first),
        ])
        #expect(shown.body == "text first quick again slow")
    }

    @Test("A stage sees its own time limit: half of the time, two seconds, or all of it") func ownTime() async throws {
        let seen = Locked<[StagePace: (left: Duration, elapsed: Duration)]>([:])
        let start = ContinuousClock.now
        let stages = [StagePace.first, .quick, .slow].map { pace in
            Step(pace: pace) { _, context in
                let left = context.timeLeft
                seen.withLock { $0[pace] = (left, ContinuousClock.now - start) }
            }
        }
        _ = try await show(stages)
        for (pace, limit) in [
            (StagePace.first, ServiceRun.timeBudget / 2), (.quick, StageRun.quickTime), (.slow, ServiceRun.timeBudget),
        ] {
            let time = try #require(seen.withLock { $0[pace] })
            #expect(time.left <= limit && time.left >= limit - time.elapsed, "\(pace)")
        }
    }

    @Test("Slow stages run at once, and none undoes another's changes") func atOnce() async throws {
        let meeting = Locked(0)
        /// Waits until all three are running; one after the other, they never would be.
        func meet(_ change: @escaping @Sendable (inout NotificationDraft) -> Void) -> Step {
            Step { draft, _ in
                meeting.withLock { $0 += 1 }
                while meeting.withLock({ $0 }) < 3 { try await Task.sleep(for: .milliseconds(1)) }
                change(&draft)
            }
        }
        let (shown, _) = try await show([
            meet { $0.title = "other title" }, meet { $0.subtitle = "subtitle" }, meet { $0.badge = 3 },
        ])
        #expect(shown.title == "other title")
        #expect(shown.subtitle == "subtitle")
        #expect(shown.badge == 3)
        #expect(shown.body == "text")
    }

    @Test("Of each member, the last change counts; setting the old value again isn't one")
    func merging() async throws {
        let (shown, _) = try await show([
            Step { draft, _ in
                let given = draft
                var (one, two) = (given, given)
                (one.threadID, one.sound, one.title, one.relevanceScore) = ("one", .named("a"), "\u{e9}", 0.5)
                (two.threadID, two.category, two.title, two.subtitle) = ("two", "c", two.title, two.subtitle)
                // The ID is the opened message's.
                two.id = MessageID(parsing: "00000000-0000-0000-0000-000000000000")
                draft.merge(one, givenTo: given)
                draft.merge(two, givenTo: given)
                #expect(draft.title == "\u{e9}")
                let again = draft
                var three = again
                three.alert.title = "e\u{301}"
                three.sound = nil
                draft.merge(three, givenTo: again)
            }
        ])
        #expect(shown.threadIdentifier == "two")
        #expect(shown.categoryIdentifier == "c")
        #expect(shown.sound == nil)
        #expect(shown.relevanceScore == 0.5)
        // Equal characters, different bytes.
        #expect(Array(shown.title.utf8) == Array("e\u{301}".utf8))
        #expect(shown.subtitle.isEmpty && shown.body == "text")
    }

    @Test("A stage that fails loses only its own part, and the log has its code") func failure() async throws {
        let (shown, fixture) = try await show([
            Step(pace: .quick) { draft, _ in
                draft.body = "half done"
                throw Broken()
            }, Step { draft, _ in draft.subtitle = "fine" },
        ])
        #expect(shown.body == "text")
        #expect(shown.subtitle == "fine")
        let log = fixture.log
        #expect(log.compactMap { $0.failure } == ["broken"])
        #expect(log.compactMap { $0.stage } == ["Step"])
        #expect(log.contains { $0.stage == nil && $0.reason == nil })
    }

    @Test("A quick stage that hangs is abandoned, and the next one runs") func lateQuickStage() async throws {
        let (shown, _) = try await show([
            // It ignores its cancellation and sleeps; a loop would keep a processor busy to the end of the tests.
            Step(pace: .quick) { _, _ in await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } },
            Step(pace: .quick) { draft, _ in draft.subtitle = "next" },
        ])
        #expect(shown.subtitle == "next")
    }

    @Test("On expiry, finished work is shown, and other stages are canceled, even those that block their threads")
    func expiry() async throws {
        try await lengthening(.milliseconds(300), "a stage that is ready on expiry") { expiry in
            let wasCanceled = Locked(false)
            let gate = DispatchSemaphore(value: 0)
            defer { for _ in 0..<8 { gate.signal() } }
            let hanging = (0..<8).map { _ in Step { _, _ in Self.block(gate) } }
            let (shown, _) = try await show(
                hanging + [
                    Step { draft, _ in draft.subtitle = "ready" },
                    Step { draft, _ in
                        do { try await Task.sleep(for: .seconds(600)) } catch {
                            wasCanceled.withLock { $0 = true }
                            throw error
                        }
                        draft.body = "too late"
                    },
                ], expiringAfter: expiry)
            guard shown.subtitle == "ready" else { return false }
            #expect(shown.body == "text")
            try await eventually("the other is canceled") { wasCanceled.withLock { $0 } }
            return true
        }
    }

    private static func block(_ gate: DispatchSemaphore) { gate.wait() }

    @Test("The parts of a stage are kept one by one") func parts() async throws {
        try await lengthening(.milliseconds(300), "two parts that are ready on expiry") { expiry in
            let (shown, _) = try await show(
                [
                    Step(pieces: [
                        Step { draft, _ in draft.title = "one" },
                        Step { _, _ in try await Task.sleep(for: .seconds(600)) }, Step { _, _ in throw Broken() },
                        Step { draft, _ in draft.subtitle = "four" },
                    ])
                ], expiringAfter: expiry)
            return shown.title == "one" && shown.subtitle == "four"
        }
    }

    @Test("A stage can't remove the text") func emptied() async throws {
        let (shown, _) = try await show([
            Step(pace: .quick) { draft, _ in (draft.title, draft.subtitle, draft.body, draft.badge) = ("", "", " ", 7) }
        ])
        #expect(shown.title == "Nina")
        #expect(shown.body == "text")
        #expect(shown.badge == 7)
    }

    @Test("Files that are handed over stay; all others are removed, even those that come too late")
    func files() async throws {
        try await lengthening(.milliseconds(300), "a file that is there on expiry", showFiles)
    }

    private func showFiles(expiringAfter expiry: Duration) async throws -> Bool {
        let gate = DispatchSemaphore(value: 0)
        let lateFile = Locked<URL?>(nil)
        let png = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        let (shown, fixture) = try await show(
            [
                Step { draft, context in
                    let file = try context.scratchFile(named: "a b/../c.png")
                    try png.write(to: file)
                    try png.write(to: context.scratchFile(named: "leftover.png"))
                    draft.attachments = [DraftAttachment(identifier: "one", file: file)]
                },
                Step { draft, context in
                    let file = try context.scratchFile(named: "late.png")
                    Self.block(gate)
                    try png.write(to: file)
                    lateFile.withLock { $0 = file }
                    draft.attachments = [DraftAttachment(identifier: "late", file: file)]
                },
            ], expiringAfter: expiry)
        gate.signal()
        guard !shown.attachments.isEmpty else { return false }
        #expect(shown.attachments.map { $0.identifier } == ["one"])
        var names: [String] = []
        try await eventually("one file is left") {
            names = try FileManager.default.subpathsOfDirectory(atPath: fixture.scratchRoot.path).filter {
                $0.hasSuffix(".png")
            }
            return names.count == 1 && lateFile.withLock { $0 } != nil
        }
        #expect(names.first?.hasSuffix("-a_b_.._c.png") == true)
        return true
    }

    @Test("The files of killed processes are swept, but not those in use") func sweeping() throws {
        let folder = try TemporaryFolder()
        let root = folder.appending("sealed-push")
        for (name, age) in [("old", 700.0), ("new", 5.0), ("empty", 100.0)] {
            let url = root.appending(path: name)
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            if name != "empty" { try Data("x".utf8).write(to: url.appending(path: "file")) }
            try FileManager.default.setAttributes(
                [.modificationDate: Date().addingTimeInterval(-age)], ofItemAtPath: url.path)
        }
        ScratchFolder(in: folder.url).sweep()
        #expect(try FileManager.default.contentsOfDirectory(atPath: root.path) == ["new"])
    }

    @Test("Stages are told the result once, whether the message opened or not") func endings() async throws {
        let results = Locked<[String]>([])
        var step = Step { draft, _ in draft.subtitle = "improved" }
        step.end = { result in
            results.withLock { results in
                switch result {
                case .opened(let draft, let elapsed): results.append("opened \(draft.subtitle) \(elapsed > .zero)")
                case .safeDefault(let reason): results.append(reason.rawValue)
                }
            }
        }
        let (_, fixture) = try await show([step])
        await fixture.show("AQ", stages: [step])
        #expect(results.withLock { $0 } == ["opened improved true", "malformed"])
    }
}
