internal import Logging
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
