import EndToEnd
import Foundation

/// Prints a line at once, also where nobody sits at a terminal.
func say(_ line: String) { try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8)) }

func megabytes(_ byteCount: Int) -> String { "\((byteCount + 500_000) / 1_000_000) MB" }

/// What a person reads at the end of a run.
struct Summary {
    private let outcome: RunOutcome
    private let plan: RunPlan

    init(_ outcome: RunOutcome, _ plan: RunPlan) {
        self.outcome = outcome
        self.plan = plan
    }

    var text: String {
        let requests = outcome.requests
        let seconds =
            Double(outcome.duration.components.seconds) + 0.001 * Double(milliseconds(outcome.duration) % 1_000)
        var lines = [
            "", "shown            \(outcome.shown.count) of \(plan.messageCount)",
            "shown again      \(outcome.shown.replacementCount), each in its own place on the screen",
            "requests         \(requests.requestCount), of \(requests.pushes.count) pushes; "
                + "\(requests.sentAgainCount) sent more than once",
            "answers          "
                + requests.statuses.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
                + "; of the 200s \(requests.resetCount) reset and \(requests.lostCount) lost",
            "GOAWAY           \(requests.goAwayCount)",
            "keys             \(outcome.keyChanges.rotated) rotated, \(outcome.keyChanges.confirmed) confirmed, "
                + "\(outcome.keyChanges.retired) retired, \(outcome.keyChanges.revokedAtFirst) revoked before the first message, "
                + "\(outcome.keyChanges.revokedHalfway) while messages flowed",
            "kills            \(outcome.killCount), \(outcome.killsAfterAnswer) between an answer and its note; "
                + "\(requests.answeredTwiceCount) pushes were accepted again, their first answer not being noted yet",
            "time             \(Int(seconds)) s, \(Int(Double(plan.messageCount) / max(seconds, 0.001))) messages/s; "
                + "\(outcome.preparation.components.seconds) s before the first",
        ]
        for (name, memory) in [
            ("sender", outcome.senderMemory), ("local APNs", outcome.serverMemory), ("devices", outcome.devicesMemory),
        ] {
            lines.append(
                "memory           \(name): \(megabytes(memory.earlyPeak)) in the first tenth, "
                    + "\(megabytes(memory.latePeak)) after it, \(megabytes(memory.finalPeak)) in the last fifth, "
                    + "\(megabytes(memory.highWater)) ever with mapped files")
        }
        lines.append(
            "plaintext        none may be in \(outcome.searched.count) files, "
                + "\(megabytes(outcome.searched.values.reduce(0, +))) searched")
        lines += outcome.faults.sentences.map { "WRONG            \($0)" }
        if outcome.faults.count > outcome.faults.sentences.count {
            lines.append("WRONG            \(outcome.faults.count) in all")
        }
        lines.append(outcome.isGood ? "All is well." : "Something is wrong.")
        return lines.joined(separator: "\n")
    }

    private func milliseconds(_ duration: Duration) -> Int64 {
        duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
    }
}
