internal import CommandSupport
internal import Logging
internal import Metrics
internal import PushCore
internal import PushHTTP
internal import PushOutbox

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
