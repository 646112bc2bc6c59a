internal import ArgumentParser
internal import CommandSupport
internal import PushAPNs
internal import PushCore
internal import PushOutbox
internal import PushSender
internal import SealedPush

struct WorkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "work", abstract: "Deliver the outbox's waiting pushes until stopped.",
        usage: "sealedpush work [<options>]",
        discussion: """
            Several instances can share an outbox. If one is killed, no message is lost, and no device shows a message twice. \
            Ctrl-C and SIGTERM wait for requests in transit.

            Examples:
              sealedpush work --provider-key ABCDE12345,FGHIJ67890,AuthKey.p8
              sealedpush work --apns APNs --until-empty --metrics 127.0.0.1:9102

            Exit status: 0 stopped or none waiting, 64 usage, 65 input, 69 wrong clock, 74 files, 75 busy, 77 APNs refuses the \
            key, team, or topic. With --until-empty: 65 pushes were refused, 75 pushes wait for the other environment.
            """)

    @Flag(help: "Stop once no pushes are waiting.") var untilEmpty = false

    @Flag(help: "Print one JSON object at the end.") var json = false

    @OptionGroup(title: "Outbox") var options: OutboxOptions
    @OptionGroup(title: "APNs") var provider: ProviderOptions
    @OptionGroup(title: "Watching") var observing: ObservationOptions

    func run() async throws {
        let interrupt = Interrupt(onHangUp: {
            CommandFailure.report("SIGHUP is ignored; restart `sealedpush work` to use a different provider key")
        })
        let outbox = try await options.opened()
        let observation = Observation()
        let delivery = DeliveryRun(
            outbox: outbox, account: try provider.account(), logger: observing.logger,
            goal: untilEmpty ? .empty : .stopped, interrupt: interrupt, observation: observation)
        let result = try await observing.serving(observation, of: outbox, interrupt) {
            () async throws -> DeliveryRun.Result in
            interrupt.started()
            ServiceManager.ready()
            do { return try await delivery.run() } catch let error as CourierError {
                throw await observation.failure(error)
            }
        }
        let summary = DeliverySummary(result: result, status: try await outbox.status())
        if json { try Output.json(.object(summary.json)) } else { try summary.print() }
        if untilEmpty, summary.exitStatus != 0 { throw ExitCode(summary.exitStatus) }
    }
}

/// The results of a delivery, as text and as JSON.
struct DeliverySummary {
    let result: DeliveryRun.Result
    /// The outbox's status after the delivery.
    let status: OutboxStatus

    private var report: CourierReport { result.report }
    private var other: PushEnvironment { result.environment == .production ? .sandbox : .production }
    /// The number of devices with waiting pushes in the environment that this run didn't deliver to.
    private var otherDeviceCount: Int { status.waitingDevices[.apns(other)] ?? 0 }

    /// 65 if pushes were permanently refused, 75 if pushes are waiting, or otherwise 0.
    var exitStatus: Int32 { report.refused.isEmpty ? (status.waitingCount == 0 ? 0 : 75) : 65 }

    func print() throws {
        let seconds = result.duration / .seconds(1)
        // In a shorter run, startup dominates the rate.
        let perSecond = seconds >= 5 ? Int(Double(report.acceptedCount) / seconds) : 0
        let rate = perSecond > 0 ? ", \(perSecond.grouped)/s" : ""
        try Output.line("Accepted by APNs: \(report.acceptedCount.grouped)\(rate).")
        try line(status.waitingCount > 0 ? "Deferred" : "Temporarily deferred", report.deferred, "")
        try line("Devices gone", report.dropped, "")
        try line("Refused", report.refused, "; see `sealedpush outbox status` and Docs/Operations.md")
        if let failure = report.latestFailure {
            try Output.line("Latest request without a response: \(TerminalText.printable(failure)).")
        }
        guard status.waitingCount > 0 else { return }
        let when = status.nextDue.map { $0 <= .now() ? "" : ", not before \(TimeText.minute($0))" } ?? ""
        try Output.line("Still waiting: \(status.waitingCount.grouped)\(when). `sealedpush work` sends waiting pushes.")
        guard otherDeviceCount > 0 else { return }
        try Output.line(
            "Devices waiting for \(other.rawValue): \(otherDeviceCount.grouped). This run was for \(result.environment.rawValue); use --environment \(other.rawValue)."
        )
    }

    var json: [String: JSONValue] {
        [
            "accepted": .count(report.acceptedCount), "deferred": .counts(report.deferred),
            "dropped": .counts(report.dropped), "refused": .counts(report.refused),
            "latestFailure": .text(report.latestFailure), "waiting": .count(status.waitingCount),
            "environment": .string(result.environment.rawValue),
            "waitingDevicesOfOtherEnvironment": .count(otherDeviceCount),
            "milliseconds": .integer(Int64(result.duration / .milliseconds(1))),
        ]
    }

    private func line(_ words: String, _ counts: [String: Int], _ hint: String) throws {
        guard !counts.isEmpty else { return }
        try Output.line("\(words): \(counts.words)\(hint).")
    }
}

extension [String: Int] {
    /// The elements by descending count, and by name if counts are equal.
    var mostFrequent: [Element] { sorted { ($1.value, $0.key) < ($0.value, $1.key) } }

    /// The counts in words, most frequent first: `12 ServiceUnavailable, 3 timed-out`.
    var words: String {
        mostFrequent.map { "\($0.value.grouped) \(TerminalText.printable($0.key))" }.joined(separator: ", ")
    }
}
