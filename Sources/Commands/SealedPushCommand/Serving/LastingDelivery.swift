internal import CommandSupport
internal import Logging
internal import Metrics
internal import PushCore
internal import PushHTTP
internal import PushOutbox

/// A delivery that continues until Ctrl-C, even if runs fail because APNs refuses the key or the devices, or the outbox is
/// unavailable. After a failure, it backs off, rereads the provider's key, and starts another run. Failures don't end the
/// program, which keeps serving phones and back ends in the meantime.
struct LastingDelivery {
    let outbox: Outbox
    let account: ProviderAccount
    /// Rereads the provider's key after a failed run.
    let reread: @Sendable () throws -> ProviderAccount
    let logger: Logger
    let interrupt: Interrupt
    let observation: Observation

    /// - Throws: the error that kept the last run from ending gracefully.
    func run() async throws {
        let paused = Gauge(label: "push_delivery_paused", factory: observation.metrics)
        var failureCount = 0
        while true {
            paused.record(0)
            let before = courier
            do {
                let run = DeliveryRun(
                    outbox: outbox, account: try failureCount == 0 ? account : reread(), logger: logger, goal: .stopped,
                    interrupt: interrupt, observation: observation)
                _ = try await run.run()
                return
            } catch {
                guard !interrupt.isInterrupted else { throw error }
                // If the run delivered pushes, start over with the shortest pause.
                if let courier, courier !== before, await courier.report.acceptedCount > 0 { failureCount = 0 }
                failureCount += 1
                let pause = Self.pause(after: error, failureCount: failureCount)
                paused.record(1)
                CommandFailure.report(
                    "delivery pauses for \(pause.components.seconds) s while everything else continues: \(CommandFailure.words(of: error))"
                )
                await interrupt.sleep(for: pause * account.limits.delayFactor)
                guard !interrupt.isInterrupted else { return }
            }
        }
    }

    private var courier: Courier? { observation.courier.withLock { $0 } }

    /// Returns how long to back off. An outbox whose storage fails may recover without help, so its pauses are short. Other
    /// errors need an operator: refusals by APNs, where each failed run may disable devices' addresses, or an outbox that is
    /// damaged or needs another key.
    static func pause(after error: any Error, failureCount: Int) -> Duration {
        let kind: OutboxError.Kind? = if case .outbox(let error)? = error as? CourierError { error.kind } else { nil }
        let (first, longest): (Int64, Int64) = kind == .busy || kind == .storage ? (1, 60) : (60, 3_600)
        return .seconds(min(first << min(failureCount - 1, 12), longest))
    }
}
