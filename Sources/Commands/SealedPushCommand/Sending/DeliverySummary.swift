internal import PushCore
internal import PushHTTP
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// What became of pushes, for a person and for a program.
struct DeliverySummary {
    var report: CourierReport
    var duration: Duration
    /// What waits in the outbox now, and when the next of it may be sent.
    var waitingCount: Int
    var nextDue: Timestamp?
    var environment: PushEnvironment
    /// Devices for which something waits, but in the environment that this run did not deliver to.
    var otherDeviceCount: Int

    init(_ result: DeliveryRun.Result, in outbox: Outbox) async throws {
        report = result.report
        duration = result.duration
        let status = try await outbox.status()
        waitingCount = status.waitingCount
        nextDue = status.nextDue
        environment = result.environment
        otherDeviceCount = status.waitingDevices[.apns(Self.other(environment))] ?? 0
    }

    /// 65 where something was refused for good, 75 where something waits, else 0.
    var exitStatus: Int32 { report.dead.isEmpty ? (waitingCount == 0 ? 0 : 75) : 65 }

    func print() throws {
        let seconds = duration / .seconds(1)
        // A shorter run says more about its start than about its rate.
        let perSecond = seconds >= 5 ? Int(Double(report.acceptedCount) / seconds) : 0
        let rate = perSecond > 0 ? ", \(Progress.number(perSecond))/s" : ""
        try Output.line("APNs took \(Progress.number(report.acceptedCount))\(rate).")
        try line("Put off", report.retries, "")
        try line("Devices that are gone", report.dropped, "")
        try line("Refused", report.dead, "; `sealedpush outbox status` and Docs/Operations.md say what to do")
        if let failure = report.latestFailure {
            try Output.line("The latest request without an answer: \(TerminalText.printable(failure)).")
        }
        guard waitingCount > 0 else { return }
        let when = nextDue.map { $0 <= .now() ? "" : ", not before \(TimeText.minute($0))" } ?? ""
        try Output.line("Still waiting: \(Progress.number(waitingCount))\(when). `sealedpush work` sends what waits.")
        guard otherDeviceCount > 0 else { return }
        let other = Self.other(environment)
        try Output.line(
            "Devices that wait for \(other.rawValue): \(Progress.number(otherDeviceCount)). This run was for \(environment.rawValue): say --environment \(other.rawValue)."
        )
    }

    var json: [String: JSONValue] {
        [
            "accepted": .integer(Int64(report.acceptedCount)), "putOff": .counts(report.retries),
            "gone": .counts(report.dropped), "refused": .counts(report.dead),
            "latestFailure": report.latestFailure.map { .string($0) } ?? .null,
            "waiting": .integer(Int64(waitingCount)), "environment": .string(environment.rawValue),
            "waitingDevicesOfOtherEnvironment": .integer(Int64(otherDeviceCount)),
            "milliseconds": .integer(Int64(duration / .milliseconds(1))),
        ]
    }

    private static func other(_ environment: PushEnvironment) -> PushEnvironment {
        environment == .production ? .sandbox : .production
    }

    private func line(_ words: String, _ counts: [String: Int], _ hint: String) throws {
        guard !counts.isEmpty else { return }
        try Output.line("\(words): \(counts.words)\(hint).")
    }
}

extension [String: Int] {
    /// `12 ServiceUnavailable, 3 timed-out`, the most frequent first.
    var words: String {
        sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
            "\(Progress.number($0.value)) \(TerminalText.printable($0.key))"
        }.joined(separator: ", ")
    }
}
