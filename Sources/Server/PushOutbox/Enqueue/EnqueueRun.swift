internal import PushSender
internal import SealedPush

/// One call of ``Outbox/enqueue``: batch after batch, several at a time.
actor EnqueueRun {
    private let order: EnqueueOrder
    private let store: any OutboxStore
    private let sealer: Sealer
    private let clock: OutboxClock
    private let progress: (@Sendable (EnqueueReport) -> Void)?
    private var report = EnqueueReport()
    private var failure: OutboxError?

    init(
        of order: EnqueueOrder, into store: any OutboxStore, with sealer: Sealer, clock: OutboxClock,
        progress: (@Sendable (EnqueueReport) -> Void)?
    ) {
        self.order = order
        self.store = store
        self.sealer = sealer
        self.clock = clock
        self.progress = progress
    }

    func run(workerCount: Int) async throws(OutboxError) -> EnqueueReport {
        // The first batch says what an earlier call had enqueued: before the others add to that.
        if case .stored = try await next(isFirst: true) {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<max(1, workerCount) { group.addTask { await self.work() } }
            }
        }
        if let failure { throw failure }
        return report
    }

    private enum Step {
        /// There may be more.
        case stored
        /// Somebody else has stored this batch, or a device has changed since it was read: it is read anew, if it is left.
        case lost
        case done
    }

    /// Steps until something is stored, or nothing is left. What is lost time and again, nobody else can have stored: its rows
    /// are not as they must be.
    private nonisolated func next(isFirst: Bool = false) async throws(OutboxError) -> Step {
        for _ in 0..<Self.maximumLossCount {
            let step = try await step(isFirst: isFirst)
            guard case .lost = step else { return step }
        }
        throw .damaged
    }

    private static let maximumLossCount = 1_000

    private nonisolated func step(isFirst: Bool) async throws(OutboxError) -> Step {
        let batch = try await store.candidates(for: order)
        if isFirst { await begin(after: batch.alreadyEnqueuedCount) }
        guard !batch.isDone else { return .done }
        var skipped: [SkipReason: Int] = [:]
        let now = Timestamp(clamping: clock.now() / 1_000)
        let sealed = try await batch.sealed(order, with: sealer, at: now, skipped: &skipped)
        guard try await store.enqueue(sealed, of: batch, order) else { return .lost }
        await add(sealed.count, skipped)
        return batch.range == nil ? .done : .stored
    }

    private func work() async {
        do throws(OutboxError) {
            while failure == nil {
                if case .done = try await next() { return }
            }
        } catch { failure = failure ?? error }
    }

    private func begin(after count: Int) { report.alreadyEnqueuedCount = count }

    private func add(_ count: Int, _ skipped: [SkipReason: Int]) {
        report.enqueuedCount += count
        report.skipped.merge(skipped, uniquingKeysWith: +)
        progress?(report)
    }
}
