internal import ArgumentParser
internal import CommandSupport
internal import Logging
internal import Metrics
internal import PushAPNS
internal import PushCore
internal import PushHTTP
internal import PushOutbox
internal import PushSender
internal import SealedPush

struct WorkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "work", abstract: "Deliver what waits in the outbox until stopped.",
        usage: "sealedpush work [<options>]",
        discussion: """
            Several may work on one outbox at once. If one is killed, nothing is lost, and no device shows a message twice. \
            Ctrl-C and SIGTERM wait for what is in transit.

            Examples:
              sealedpush work --provider-key ABCDE12345,FGHIJ67890,AuthKey.p8
              sealedpush work --apns APNs --until-empty --metrics 127.0.0.1:9102

            Exit status: 0 stopped, or nothing waits; 64 usage, 65 input, 69 wrong clock, 74 files, 75 busy, 77 APNs refuses the \
            key, the team or the topic. With --until-empty 65 something was refused, 75 something waits for the other environment.
            """)

    @Flag(help: "End when nothing waits any more.") var untilEmpty = false

    @Flag(help: "Print one JSON object at the end.") var json = false

    @OptionGroup(title: "Outbox") var options: OutboxOptions
    @OptionGroup(title: "APNs") var provider: ProviderOptions
    @OptionGroup(title: "Watching") var observing: ObservationOptions

    func run() async throws {
        let interrupt = Interrupt(onHangUp: {
            Failure.report("SIGHUP changes nothing here: start `sealedpush work` again for another provider key")
        })
        let outbox = try await options.opened()
        let observation = Observation()
        let delivery = DeliveryRun(
            outbox: outbox, account: try provider.account(), logger: observing.logger,
            goal: untilEmpty ? .empty : .stopped, interrupt: interrupt, observation: observation)
        let result = try await observing.serving(observation, of: outbox, interrupt) {
            () async throws -> DeliveryRun.Result in
            do { return try await delivery.run() } catch let error as CourierError {
                throw await observation.failure(error)
            }
        }
        let summary = DeliverySummary(result: result, status: try await outbox.status())
        if json { try Output.json(.object(summary.json)) } else { try summary.print() }
        if untilEmpty, summary.exitStatus != 0 { throw ExitCode(summary.exitStatus) }
    }
}

/// Delivers what waits in an outbox until a goal is reached, or until Ctrl-C: then what is on its way is waited for.
struct DeliveryRun {
    let outbox: Outbox
    let account: ProviderAccount
    let logger: Logger
    let goal: Courier.Goal
    let interrupt: Interrupt
    /// Given up after this long in which APNs took nothing.
    var patience: Duration?
    var observation: Observation?

    struct Result {
        let report: CourierReport
        let environment: PushEnvironment
        let duration: Duration
    }

    func run() async throws -> Result {
        let transport = try account.transport(metrics: observation?.metrics, logger: logger)
        let environment = account.environment
        let start = ContinuousClock.now
        let courier = Courier(for: outbox, through: transport, carrier: .apns(environment), limits: account.limits)
        observation?.courier.withLock { $0 = courier }
        let watching = Task { await watch(courier) }
        let stop: @Sendable () -> Void = { Task { await courier.stop() } }
        let outcome: Swift.Result<CourierReport, CourierError> = await interrupt.calling(stop) {
            do throws(CourierError) { return .success(try await courier.run(until: goal)) } catch {
                return .failure(error)
            }
        }
        watching.cancel()
        await watching.value
        await transport.shutDown()
        return Result(report: try outcome.get(), environment: environment, duration: ContinuousClock.now - start)
    }

    private func watch(_ courier: Courier) async {
        let progress = Progress()
        var before = (count: 0, time: ContinuousClock.now)
        var lastSuccess = ContinuousClock.now
        var lastChange = ContinuousClock.now
        var shown: CourierReport?
        var isEnding = false
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(500))
            if !isEnding, case .outbox(let error)? = await courier.failure {
                isEnding = true
                Failure.report("stopping; for up to 30 s it tries to record what APNs has taken: \(error)")
            }
            let report = await courier.report
            let now = ContinuousClock.now
            let rate = Double(report.acceptedCount - before.count) / ((now - before.time) / .seconds(1))
            if report.acceptedCount > before.count { lastSuccess = now }
            before = (report.acceptedCount, now)
            if let patience, now - lastSuccess > patience { await courier.stop() }
            if report != shown {
                progress.show(Self.line(report, rate: rate))
                shown = report
                lastChange = now
            } else if now - lastChange > .seconds(10), let status = try? await outbox.status(), status.waitingCount > 0
            {
                progress.show(Self.line(status, report))
                lastChange = now
            }
        }
        progress.end()
    }

    /// Where nothing happens, and something waits.
    private static func line(_ status: OutboxStatus, _ report: CourierReport) -> String {
        var text = "\(status.waitingCount.grouped) wait"
        if let due = status.nextDue, due > .now() { text += ", the next until \(TimeText.minute(due))" }
        if let failure = report.latestFailure { text += "; latest failure: \(failure)" }
        return text
    }

    private static func line(_ report: CourierReport, rate: Double) -> String {
        let retryCount = report.retries.values.reduce(0, +)
        var parts = [
            "\(report.acceptedCount.grouped) taken by APNs, \(Int(rate).grouped)/s",
            "\(report.inFlightCount.grouped) on their way",
        ]
        if retryCount > 0 { parts.append("\(retryCount.grouped) put off") }
        if let failure = report.latestFailure { parts.append("latest failure: \(failure)") }
        return parts.joined(separator: ", ")
    }
}

/// What became of pushes, for a person and for a program.
struct DeliverySummary {
    let result: DeliveryRun.Result
    /// The outbox afterwards.
    let status: OutboxStatus

    private var report: CourierReport { result.report }
    private var other: PushEnvironment { result.environment == .production ? .sandbox : .production }
    /// Devices for which something waits, but in the environment that this run did not deliver to.
    private var otherDeviceCount: Int { status.waitingDevices[.apns(other)] ?? 0 }

    /// 65 where something was refused for good, 75 where something waits, else 0.
    var exitStatus: Int32 { report.dead.isEmpty ? (status.waitingCount == 0 ? 0 : 75) : 65 }

    func print() throws {
        let seconds = result.duration / .seconds(1)
        // A shorter run says more about its start than about its rate.
        let perSecond = seconds >= 5 ? Int(Double(report.acceptedCount) / seconds) : 0
        let rate = perSecond > 0 ? ", \(perSecond.grouped)/s" : ""
        try Output.line("APNs took \(report.acceptedCount.grouped)\(rate).")
        try line(status.waitingCount > 0 ? "Put off" : "Put off for a while", report.retries, "")
        try line("Devices that are gone", report.dropped, "")
        try line("Refused", report.dead, "; `sealedpush outbox status` and Docs/Operations.md say what to do")
        if let failure = report.latestFailure {
            try Output.line("The latest request without an answer: \(TerminalText.printable(failure)).")
        }
        guard status.waitingCount > 0 else { return }
        let when = status.nextDue.map { $0 <= .now() ? "" : ", not before \(TimeText.minute($0))" } ?? ""
        try Output.line("Still waiting: \(status.waitingCount.grouped)\(when). `sealedpush work` sends what waits.")
        guard otherDeviceCount > 0 else { return }
        try Output.line(
            "Devices that wait for \(other.rawValue): \(otherDeviceCount.grouped). This run was for \(result.environment.rawValue): say --environment \(other.rawValue)."
        )
    }

    var json: [String: JSONValue] {
        [
            "accepted": .count(report.acceptedCount), "putOff": .counts(report.retries),
            "gone": .counts(report.dropped), "refused": .counts(report.dead),
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
    /// By count; those of the same count by name.
    var mostFrequent: [Element] { sorted { ($1.value, $0.key) < ($0.value, $1.key) } }

    /// `12 ServiceUnavailable, 3 timed-out`, the most frequent first.
    var words: String {
        mostFrequent.map { "\($0.value.grouped) \(TerminalText.printable($0.key))" }.joined(separator: ", ")
    }
}
