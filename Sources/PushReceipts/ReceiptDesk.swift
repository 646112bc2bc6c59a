internal import PushOutbox
internal import PushSender
internal import SealedPush
internal import _PushBase

/// Checks receipts and counts them, as many in one transaction as have come while the last one was written.
final class ReceiptDesk: Sendable {
    private let receiver: Locked<ReceiptReceiver>
    private let outbox: Outbox
    private let state = Locked(State())

    private struct State {
        var waiting: [Waiting] = []
        var refused: [ReceiptError: Int] = [:]
        var isWriting = false
        var purged: Timestamp?
        var idle: [CheckedContinuation<Void, Never>] = []
    }

    private struct Waiting: Sendable {
        let receipt: ShownReceipt
        let answer: @Sendable (Answer) -> Void
    }

    enum Answer: Sendable {
        /// Now or before.
        case counted
        case refused(ReceiptError)
        case tooMany
        case unavailable
    }

    init(receiver: ReceiptReceiver, outbox: Outbox) {
        self.receiver = Locked(receiver)
        self.outbox = outbox
    }

    /// From now on, receipts are checked by this one.
    func use(_ receiver: ReceiptReceiver) { self.receiver.withLock { $0 = receiver } }

    /// - Parameter answer: is called once, on any thread; for a receipt that is believed, when it is on the disk.
    func take(_ body: [UInt8], answer: @escaping @Sendable (Answer) -> Void) {
        do throws(ReceiptError) {
            let receiver = receiver.withLock { $0 }
            let receipt = try receiver.receive(body, at: .now())
            add { $0.waiting.append(Waiting(receipt: receipt, answer: answer)) }
        } catch {
            add { $0.refused[error, default: 0] += 1 }
            answer(.refused(error))
        }
    }

    /// Returns when nothing is left to write.
    func waitUntilCounted() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.isWriting { state.idle.append(continuation) }
                return !state.isWriting
            }
            if isIdle { continuation.resume() }
        }
    }

    private func add(_ change: (inout State) -> Void) {
        let isFirst = state.withLock { state in
            change(&state)
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if isFirst { Task { await write() } }
    }

    private func write() async {
        while let (batch, refused) = next() {
            do {
                let outcomes = try await outbox.count(batch.map { $0.receipt }, refused: refused)
                for (waiting, outcome) in zip(batch, outcomes) {
                    waiting.answer(outcome == .tooMany ? .tooMany : .counted)
                }
            } catch {
                for waiting in batch { waiting.answer(.unavailable) }
            }
            await purge()
        }
    }

    /// Nil where there is nothing; then nobody writes any more.
    private func next() -> (batch: [Waiting], refused: [ReceiptError: Int])? {
        let (next, idle) = state.withLock {
            state -> ((batch: [Waiting], refused: [ReceiptError: Int])?, [CheckedContinuation<Void, Never>]) in
            guard !state.waiting.isEmpty || !state.refused.isEmpty else {
                state.isWriting = false
                defer { state.idle = [] }
                return (nil, state.idle)
            }
            let batch = Array(state.waiting.prefix(Self.batchCount))
            state.waiting.removeFirst(batch.count)
            defer { state.refused = [:] }
            return ((batch, state.refused), [])
        }
        for continuation in idle { continuation.resume() }
        return next
    }

    /// Once an hour, as a courier does: there may be none.
    private func purge() async {
        let now = Timestamp.now()
        let isDue = state.withLock { state in
            guard state.purged.map({ now.seconds(since: $0) >= 3_600 }) ?? true else { return false }
            state.purged = now
            return true
        }
        if isDue { _ = try? await outbox.purge(.stale) }
    }

    private static let batchCount = 512
}
