import EndToEnd
import Foundation
import TestSupport
import Testing

/// A small version of Scripts/soak.
@Suite("A run from end to end", .serialized, .blocking) struct EndToEndTests {
    @Test(
        "with every fault and a killed sender, each message is shown exactly once, and none is readable in transit"
    ) func everything() throws {
        let seed = ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? .random(in: 0...0xffff_ffff)
        print("SEED=\(seed)")
        // Half of a thorough run, with half of its failures.
        let share = Thoroughness.count(1, thorough: 2)
        var plan = RunPlan(messageCount: 1_500 * share, deviceCount: 30 * share, killCount: 3, seed: seed)
        plan.faults.goAwayEvery = 150 * share
        plan.patience.request = 1_500
        plan.patience.lease = 3_000
        let folder = try TemporaryFolder(inMemory: true)
        let run = try EndToEndRun(plan, in: RunFolder(folder.url))
        try run.run()
        let outcome = run.outcome
        for sentence in outcome.faults.sentences { Issue.record("\(sentence)") }
        #expect(outcome.isGood)
        #expect(outcome.shown.count == plan.messageCount)
        expectMisfortune(outcome, share)

        // The search covered every file, and it finds a message that is planted there.
        let names = ["outbox.db", "outbox.db-wal", "outbox.db-shm", "sender.log", "sender.metrics", "log.jsonl"]
        for name in names { #expect(outcome.searched[name] ?? 0 > 1_000, "\(name)") }
        let search = PlaintextSearch(for: plan.marker.all)
        for file in [run.folder.outbox, run.folder.senderLog, run.folder.senderMetrics, run.folder.apnsLog] {
            #expect(try search.search(file).findings.isEmpty)
            let handle = try FileHandle(forUpdating: file)
            try handle.seekToEnd()
            try handle.write(contentsOf: Data(plan.body(of: 17).utf8))
            try handle.close()
            #expect(try search.search(file).findings.count == 1, "a message in \(file.lastPathComponent)")
        }
        // Public text is present, so these are the right files.
        #expect(try !PlaintextSearch(for: ["com.example.app"]).search(run.folder.outbox).findings.isEmpty)
        #expect(try !PlaintextSearch(for: ["push refused"]).search(run.folder.senderLog).findings.isEmpty)
        #expect(try !PlaintextSearch(for: ["push_requests"]).search(run.folder.senderMetrics).findings.isEmpty)
        #expect(try !PlaintextSearch(for: ["custom-encrypted-message"]).search(run.folder.apnsLog).findings.isEmpty)
    }

    /// Checks that failures occurred, because a run without any would prove nothing.
    private func expectMisfortune(_ outcome: RunOutcome, _ share: Int) {
        #expect(outcome.killCount == 3)
        #expect(outcome.keyChanges.confirmed >= 10 * share && outcome.keyChanges.revokedAtFirst == 10 * share)
        #expect(outcome.keyChanges.revokedHalfway == 10 * share)
        #expect(outcome.requests.answeredTwiceCount >= 2, "the sender died twice between an answer and its record")
        #expect(outcome.requests.sentAgainCount > 50 * share)
        #expect(outcome.requests.resetCount > 25 * share)
        #expect(outcome.requests.lostCount > 25 * share)
        #expect(outcome.requests.statuses[503] ?? 0 > 5 * share)
        #expect(outcome.requests.statuses[429] ?? 0 > 2 * share)
        #expect(outcome.requests.goAwayCount > 2)
        #expect(outcome.shown.replacementCount > 25 * share)
    }
}
