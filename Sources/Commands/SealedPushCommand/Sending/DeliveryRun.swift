internal import ArgumentParser
internal import CommandSupport
internal import Logging
internal import PushAPNs
internal import PushCore
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// A run that delivers waiting pushes until a goal is reached or Ctrl-C is pressed; it then waits for requests in transit.
struct DeliveryRun {
    let outbox: Outbox
    let account: ProviderAccount
    let logger: Logger
    let goal: Courier.Goal
    let interrupt: Interrupt
    /// How long the run continues without an accepted push before it gives up.
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
                CommandFailure.report(
                    "stopping, after up to 30 s of trying to record the pushes that APNs accepted: \(error)")
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

    /// Returns the progress line for when pushes are waiting, but none are being sent.
    private static func line(_ status: OutboxStatus, _ report: CourierReport) -> String {
        var text = "\(status.waitingCount.grouped) waiting"
        if let due = status.nextDue, due > .now() { text += ", the next due at \(TimeText.minute(due))" }
        if let failure = report.latestFailure { text += "; latest failure: \(failure)" }
        return text
    }

    private static func line(_ report: CourierReport, rate: Double) -> String {
        let deferredCount = report.deferred.values.reduce(0, +)
        var parts = [
            "\(report.acceptedCount.grouped) accepted by APNs, \(Int(rate).grouped)/s",
            "\(report.inFlightCount.grouped) in transit",
        ]
        if deferredCount > 0 { parts.append("\(deferredCount.grouped) deferred") }
        if let failure = report.latestFailure { parts.append("latest failure: \(failure)") }
        return parts.joined(separator: ", ")
    }
}
