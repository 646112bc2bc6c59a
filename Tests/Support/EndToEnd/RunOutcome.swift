internal import Foundation

/// The outcome of a run.
package struct RunOutcome: Sendable {
    private let plan: RunPlan
    package internal(set) var shown: ShownMessages
    package internal(set) var requests = RequestLog()
    package internal(set) var faults = FaultList()
    package internal(set) var killCount = 0
    package internal(set) var killsAfterAnswer = 0
    package internal(set) var keyChanges = KeyChangeCounts()
    /// The time until the first message was enqueued.
    package internal(set) var preparation = Duration.zero
    /// The time from then until the outbox was empty.
    package internal(set) var duration = Duration.zero
    package internal(set) var senderMemory = MemoryTrack()
    package internal(set) var serverMemory = MemoryTrack()
    package internal(set) var devicesMemory = MemoryTrack()
    /// The number of bytes that were searched for plaintext, by file.
    package private(set) var searched: [String: Int] = [:]
    package private(set) var findings: Set<PlaintextSearch.Finding> = []
    private let plaintext: PlaintextSearch

    init(_ plan: RunPlan) {
        self.plan = plan
        shown = ShownMessages(plan)
        plaintext = PlaintextSearch(for: plan.marker.all)
    }

    /// Whether every message was shown once, with no faults.
    package var isGood: Bool { faults.count == 0 }

    mutating func search(_ file: URL) throws {
        let (found, byteCount) = try plaintext.search(file)
        findings.formUnion(found)
        searched[file.lastPathComponent, default: 0] += byteCount
    }

    /// Collects all faults.
    mutating func judge(acknowledged: [Int]) {
        let missing = shown.missing
        for message in missing.prefix(10) { faults.add("message \(message) was never shown") }
        if missing.count > 10 { faults.add("\(missing.count - 10) more messages were never shown") }
        if Set(acknowledged) != Set(0..<plan.messageCount) {
            faults.add("\(Set(acknowledged).count) of \(plan.messageCount) messages were acknowledged")
        }
        requests.compare(with: shown, messageCount: plan.messageCount)
        faults.add(shown.faults)
        faults.add(requests.faults)
        // Each phone that had a new key before sending began has received a message sealed to it.
        if keyChanges.confirmed < plan.deviceCount / 3 || keyChanges.retired < keyChanges.confirmed {
            faults.add("\(keyChanges.confirmed) of \(keyChanges.rotated) new keys were confirmed")
        }
        if keyChanges.revokedHalfway != plan.revokingCount {
            faults.add("\(keyChanges.revokedHalfway) of \(plan.revokingCount) phones revoked their keys halfway")
        }
        // Each phone has only one push in transit at a time, so of those it has shown, only the last can arrive again.
        if shown.repeatedUnderRevokedCount > plan.revokingCount {
            faults.add("\(shown.repeatedUnderRevokedCount) messages arrived again after their keys were revoked")
        }
        if killCount != plan.killCount { faults.add("the sender was killed \(killCount) times, not \(plan.killCount)") }
        if requests.answeredTwiceCount < killsAfterAnswer {
            faults.add("\(killsAfterAnswer) answers were to be lost, but too few pushes were sent again")
        }
        if requests.answeredTwiceCount > plan.acceptedAgainLimit ?? .max {
            faults.add("\(requests.answeredTwiceCount) pushes were sent again even though they had been answered")
        }
        for finding in findings.sorted(by: { $0.description < $1.description }) { faults.add("plaintext: \(finding)") }
        let memories = [("sender", senderMemory), ("local APNs", serverMemory)]
        for (name, memory) in memories where memory.growth > plan.growthLimit ?? .max {
            faults.add("the \(name) grew by \(memory.growth / 1_000_000) MB after the first tenth")
        }
    }
}

/// The memory of a process, sampled along with the progress of the work.
///
/// Counts the process's own memory, resident and anonymous, without program text and mapped files, which the system may
/// reclaim. Source: proc_pid_status(5), `RssAnon`.
package struct MemoryTrack: Sendable {
    /// The peak in the first tenth of the work, in bytes.
    package private(set) var earlyPeak = 0
    /// The peak after that.
    package private(set) var latePeak = 0
    /// The peak in the last fifth.
    package private(set) var finalPeak = 0
    /// The highest `VmHWM` of all tracked processes: the system's own record of the peak, including mapped files.
    package private(set) var highWater = 0
    package private(set) var now = 0

    package init() {}

    /// The growth since the first tenth, in bytes.
    package var growth: Int { max(0, latePeak - earlyPeak) }

    /// - Parameter progress: The progress of the work, from 0 to 1.
    mutating func sample(_ process: pid_t, progress: Double) {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) else { return }
        func bytes(_ name: String) -> Int? {
            guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("\(name):") }) else { return nil }
            return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).compactMap { Int($0) }.first.map {
                $0 * 1_024
            }
        }
        // A process that has exited but wasn't reaped has neither value.
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
