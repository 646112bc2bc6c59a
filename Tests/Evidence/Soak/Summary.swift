import EndToEnd
import Foundation

/// Prints a line at once, even if standard output isn't a terminal.
func say(_ line: String) { try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8)) }

func megabytes(_ byteCount: Int) -> String { "\((byteCount + 500_000) / 1_000_000) MB" }

/// The summary at the end of a run.
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
            "shown again      \(outcome.shown.replacementCount), each replacing itself on the screen",
            "requests         \(requests.requestCount), of \(requests.pushes.count) pushes; "
                + "\(requests.sentAgainCount) sent more than once",
            "answers          "
                + requests.statuses.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
                + "; of the 200s, \(requests.resetCount) reset and \(requests.lostCount) lost",
            "GOAWAY           \(requests.goAwayCount)",
            "keys             \(outcome.keyChanges.rotated) rotated, \(outcome.keyChanges.confirmed) confirmed, "
                + "\(outcome.keyChanges.retired) retired, \(outcome.keyChanges.revokedAtFirst) revoked before the first message, "
                + "\(outcome.keyChanges.revokedHalfway) while messages flowed",
            "kills            \(outcome.killCount), \(outcome.killsAfterAnswer) after a response, before it was recorded; "
                + "\(requests.answeredTwiceCount) pushes were accepted again before their first response was recorded",
            "time             \(Int(seconds)) s, \(Int(Double(plan.messageCount) / max(seconds, 0.001))) messages/s; "
                + "\(outcome.preparation.components.seconds) s of preparation",
        ]
        for (name, memory) in [
            ("sender", outcome.senderMemory), ("local APNs", outcome.serverMemory), ("devices", outcome.devicesMemory),
        ] {
            lines.append(
                "memory           \(name): \(megabytes(memory.earlyPeak)) in the first tenth, "
                    + "\(megabytes(memory.latePeak)) after it, \(megabytes(memory.finalPeak)) in the last fifth, "
                    + "peak with mapped files \(megabytes(memory.highWater))")
        }
        lines.append(
            "plaintext        must not be in any of \(outcome.searched.count) files, "
                + "\(megabytes(outcome.searched.values.reduce(0, +))) searched")
        lines += outcome.faults.sentences.map { "WRONG            \($0)" }
        if outcome.faults.count > outcome.faults.sentences.count {
            lines.append("WRONG            \(outcome.faults.count) in total")
        }
        lines.append(outcome.isGood ? "The run passed." : "The run failed.")
        return lines.joined(separator: "\n")
    }

    private func milliseconds(_ duration: Duration) -> Int64 {
        duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
    }
}
