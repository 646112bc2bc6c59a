internal import Foundation

/// What came of a run.
package struct RunOutcome: Sendable {
    private let plan: RunPlan
    package internal(set) var shown: ShownMessages
    package internal(set) var requests = RequestLog()
    package internal(set) var faults = FaultList()
    package internal(set) var killCount = 0
    package internal(set) var killsAfterAnswer = 0
    package internal(set) var keyChanges = KeyChangeCounts()
    /// Until the first message was enqueued.
    package internal(set) var preparation = Duration.zero
    /// From then until the outbox was empty.
    package internal(set) var duration = Duration.zero
    package internal(set) var senderMemory = MemoryTrack()
    package internal(set) var serverMemory = MemoryTrack()
    package internal(set) var devicesMemory = MemoryTrack()
    /// Bytes that were searched for plaintext, by file.
    package private(set) var searched: [String: Int] = [:]
    package private(set) var findings: Set<PlaintextSearch.Finding> = []
    private let plaintext: PlaintextSearch

    init(_ plan: RunPlan) {
        self.plan = plan
        shown = ShownMessages(plan)
        plaintext = PlaintextSearch(for: plan.marker.all)
    }

    /// Whether every message was shown once, and nothing else happened that must not.
    package var isGood: Bool { faults.count == 0 }

    mutating func search(_ file: URL) throws {
        let (found, byteCount) = try plaintext.search(file)
        findings.formUnion(found)
        searched[file.lastPathComponent, default: 0] += byteCount
    }

    /// Adds up everything that is wrong.
    mutating func judge(acknowledged: [Int]) {
        let missing = shown.missing
        for message in missing.prefix(10) { faults.add("message \(message) was never shown") }
        if missing.count > 10 { faults.add("and \(missing.count - 10) more were not") }
        if Set(acknowledged) != Set(0..<plan.messageCount) {
            faults.add("\(Set(acknowledged).count) of \(plan.messageCount) were acknowledged")
        }
        requests.compare(with: shown, messageCount: plan.messageCount)
        faults.add(shown.faults)
        faults.add(requests.faults)
        // Each phone that had a new key before anything was sent has got a message under it.
        if keyChanges.confirmed < plan.deviceCount / 3 || keyChanges.retired < keyChanges.confirmed {
            faults.add("of \(keyChanges.rotated) new keys \(keyChanges.confirmed) were confirmed")
        }
        if keyChanges.revokedHalfway != plan.revokingCount {
            faults.add("\(keyChanges.revokedHalfway) of \(plan.revokingCount) phones revoked their keys halfway")
        }
        // One push of a phone's is on its way at a time: of what it has shown, only the last can come again.
        if shown.repeatedUnderRevokedCount > plan.revokingCount {
            faults.add("\(shown.repeatedUnderRevokedCount) messages came again after their keys were revoked")
        }
        if killCount != plan.killCount { faults.add("the sender was killed \(killCount) times") }
        if requests.answeredTwiceCount < killsAfterAnswer {
            faults.add("\(killsAfterAnswer) answers were to be lost with the sender, but nothing was sent again")
        }
        if requests.answeredTwiceCount > plan.acceptedAgainLimit ?? .max {
            faults.add("\(requests.answeredTwiceCount) pushes were sent again although their answer had come")
        }
        for finding in findings.sorted(by: { $0.description < $1.description }) { faults.add("plaintext: \(finding)") }
        let memories = [("sender", senderMemory), ("local APNs", serverMemory)]
        for (name, memory) in memories where memory.growth > plan.growthLimit ?? .max {
            faults.add("the \(name) has grown by \(memory.growth / 1_000_000) MB since the first tenth")
        }
    }
}

/// The memory of a process, looked at now and then, beside how much of the work was done.
///
/// Of its own: resident and anonymous, without program text and mapped files, which the system takes back when it
/// likes. Source: proc_pid_status(5), `RssAnon`.
package struct MemoryTrack: Sendable {
    /// In the first tenth of the work, in bytes.
    package private(set) var earlyPeak = 0
    /// In what followed.
    package private(set) var latePeak = 0
    /// In the last fifth.
    package private(set) var finalPeak = 0
    /// The highest ever, mapped files included, as the system noted it, over all processes that were tracked: `VmHWM`.
    package private(set) var highWater = 0
    package private(set) var now = 0

    package init() {}

    /// By how much it has grown since the first tenth.
    package var growth: Int { max(0, latePeak - earlyPeak) }

    /// - Parameter progress: from 0 to 1.
    mutating func sample(_ process: pid_t, progress: Double) {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) else { return }
        func bytes(_ name: String) -> Int? {
            guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("\(name):") }) else { return nil }
            return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).compactMap { Int($0) }.first.map {
                $0 * 1_024
            }
        }
        // A process that has ended and waits to be collected has neither.
        guard let own = bytes("RssAnon"), let highest = bytes("VmHWM") else { return }
        add(own: own, highest: highest, progress: progress)
    }

    package mutating func add(own: Int, highest: Int, progress: Double) {
        now = own
        highWater = max(highWater, highest)
        if progress <= 0.1 { earlyPeak = max(earlyPeak, own) } else { latePeak = max(latePeak, own) }
        if progress > 0.8 { finalPeak = max(finalPeak, own) }
    }
}
