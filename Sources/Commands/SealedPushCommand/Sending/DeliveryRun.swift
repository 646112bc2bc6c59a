internal import CommandSupport
internal import Logging
internal import Metrics
internal import PushAPNS
internal import PushCore
internal import PushHTTP
internal import PushOutbox
internal import PushSender
internal import SealedPush

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
        var report: CourierReport
        var environment: PushEnvironment
        var duration: Duration
    }

    func run() async throws -> Result {
        let (transport, environment) = (
            try account.transport(metrics: observation?.metrics, logger: logger), account.environment
        )
        let start = ContinuousClock.now
        let courier = Courier(for: outbox, through: transport, carrier: .apns(environment), limits: account.limits)
        observation?.courier.withLock { $0 = courier }
        interrupt.onInterrupt { [weak courier] in Task { await courier?.stop() } }
        let watching = Task { await watch(courier) }
        let outcome: Swift.Result<CourierReport, CourierError>
        do throws(CourierError) { outcome = .success(try await courier.run(until: goal)) } catch {
            outcome = .failure(error)
        }
        watching.cancel()
        await watching.value
        await transport.shutDown()
        return Result(report: try outcome.get(), environment: environment, duration: ContinuousClock.now - start)
    }

    private func watch(_ courier: Courier) async {
        var progress = Progress()
        var before = (count: 0, time: ContinuousClock.now)
        var lastSuccess = ContinuousClock.now
        var lastChange = ContinuousClock.now
        var shown: CourierReport?
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(500))
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
        var text = "\(Progress.number(status.waitingCount)) wait"
        if let due = status.nextDue, due > .now() { text += ", the next until \(TimeText.minute(due))" }
        if let failure = report.latestFailure { text += "; latest failure: \(failure)" }
        return text
    }

    private static func line(_ report: CourierReport, rate: Double) -> String {
        let retryCount = report.retries.values.reduce(0, +)
        var parts = [
            "\(Progress.number(report.acceptedCount)) taken by APNs, \(Progress.number(Int(rate)))/s",
            "\(Progress.number(report.inFlightCount)) on their way",
        ]
        if retryCount > 0 { parts.append("\(Progress.number(retryCount)) put off") }
        if let failure = report.latestFailure { parts.append("latest failure: \(failure)") }
        return parts.joined(separator: ", ")
    }
}

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

/// Delivers until Ctrl-C, whatever befalls a run: APNs refuses the key or one device after another, the outbox is away. Then
/// there is a pause, which grows, and another run, with the provider's key as it is then. Nothing of it ends the program: its
/// phones and back ends have done nothing wrong, and are answered meanwhile.
struct LastingDelivery {
    let outbox: Outbox
    let account: ProviderAccount
    /// Reads the provider's key again, after a run that failed.
    let reread: @Sendable () throws -> ProviderAccount
    let logger: Logger
    let interrupt: Interrupt
    let observation: Observation

    /// - Throws: what kept the last run from ending in good order.
    func run() async throws {
        let sleeping = Locked<Task<Void, Never>?>(nil)
        let waking = interrupt.onInterrupt { sleeping.withLock { $0 }?.cancel() }
        defer { interrupt.remove(waking) }
        let paused = Gauge(label: "push_delivery_paused", factory: observation.metrics)
        var failureCount = 0
        while true {
            paused.record(0)
            let before = courier
            do {
                return try await runOnce(failureCount == 0 ? account : reread())
            } catch {
                guard !interrupt.isInterrupted else { throw error }
                // What has delivered something was right for a while, and begins anew.
                if let courier, courier !== before, await courier.report.acceptedCount > 0 { failureCount = 0 }
                failureCount += 1
                let pause = Self.pause(after: error, failureCount: failureCount)
                paused.record(1)
                Failure.report(
                    "delivery pauses for \(pause.components.seconds) s, everything else goes on: \(Self.words(of: error))"
                )
                let time = pause * account.delayScale
                let sleep = Task { _ = try? await Task.sleep(for: time) }
                sleeping.withLock { $0 = sleep }
                // It may have come before there was anything to wake.
                if interrupt.isInterrupted { sleep.cancel() }
                await sleep.value
                guard !interrupt.isInterrupted else { return }
            }
        }
    }

    private func runOnce(_ account: ProviderAccount) async throws {
        // What it wants to be told of goes with it: there may be many runs.
        let own = Interrupt([])
        let passing = interrupt.onInterrupt { own.fire() }
        defer { interrupt.remove(passing) }
        _ = try await DeliveryRun(
            outbox: outbox, account: account, logger: logger, goal: .stopped, interrupt: own, observation: observation
        ).run()
    }

    private var courier: Courier? { observation.courier.withLock { $0 } }

    /// An outbox that is away comes back by itself. What APNs refuses stays refused until somebody has done something, and each run
    /// in vain may cost some devices their addresses; an outbox that is damaged, or wants another key, waits for somebody, too.
    static func pause(after error: any Error, failureCount: Int) -> Duration {
        let isOutboxAway = if case .outbox(let error)? = error as? CourierError { isAway(error) } else { false }
        let (first, longest): (Int64, Int64) = isOutboxAway ? (1, 60) : (60, 3_600)
        return .seconds(min(first << min(failureCount - 1, 12), longest))
    }

    private static func isAway(_ error: OutboxError) -> Bool {
        switch error {
        case .busy, .unreachable, .diskFull, .database, .server: true
        default: false
        }
    }

    private static func words(of error: any Error) -> String {
        switch error {
        case let error as CourierError: Failure.courier(error).message
        case let error as Failure: error.message
        default: Failure.words(of: error)
        }
    }
}
