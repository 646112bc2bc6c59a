internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import PushCore
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// Takes receipts from phones and counts them, as many in one transaction as have come while the last one was written.
///
/// A receipt needs no login: it has a MAC. Neither addresses nor bodies are kept. Source: Specification 16.6.
final class ReceiptRoutes: Sendable {
    private let outbox: Outbox
    private let keys: @Sendable () -> ServerState
    private let state = Locked(State())

    private struct State {
        var waiting: [Waiting] = []
        var isWriting = false
        var purged: Timestamp?
    }

    private struct Waiting: Sendable {
        let receipt: Result<ShownReceipt, ReceiptError>
        let answer: CheckedContinuation<ReceiptOutcome?, Never>
    }

    init(_ outbox: Outbox, state keys: @escaping @Sendable () -> ServerState) {
        self.outbox = outbox
        self.keys = keys
    }

    /// A receipt that is believed is durable once the response arrives.
    func take(_ request: Request, _ context: ServerContext) async throws -> Response {
        let body = Array(try await request.wholeBody(upTo: ReceiptReceiver.maximumByteCount).readableBytesView)
        let receiver = try keys().sender().receipts
        let receipt = Result { () throws(ReceiptError) in try receiver.receive(body, at: .now()) }
        let outcome = await counted(receipt)
        if case .failure(let error) = receipt {
            throw Problem(.badRequest, error.rawValue, "this is not a receipt that is believed here")
        }
        guard let outcome else {
            var problem = Problem.unavailable("the outbox can't be written")
            problem.retryAfter = 60
            throw problem
        }
        guard outcome != .tooMany else {
            var problem = Problem(.tooManyRequests, "too-many-receipts", "this device has sent too many receipts today")
            problem.retryAfter = 86_400
            throw problem
        }
        return Response(status: .noContent)
    }

    /// Returns nil if the receipt was refused or could not be written.
    func counted(_ receipt: Result<ShownReceipt, ReceiptError>) async -> ReceiptOutcome? {
        await withCheckedContinuation { continuation in
            let isFirst = state.withLock { state in
                state.waiting.append(Waiting(receipt: receipt, answer: continuation))
                defer { state.isWriting = true }
                return !state.isWriting
            }
            if isFirst { Task { await self.write() } }
        }
    }

    private func write() async {
        while let batch = next() {
            var (believed, refused): ([ShownReceipt], [ReceiptError: Int]) = ([], [:])
            for waiting in batch {
                switch waiting.receipt {
                case .success(let receipt): believed.append(receipt)
                case .failure(let error): refused[error, default: 0] += 1
                }
            }
            var outcomes = (try? await outbox.count(believed, refused: refused))?[...] ?? []
            for waiting in batch {
                if case .success = waiting.receipt {
                    waiting.answer.resume(returning: outcomes.popFirst())
                } else {
                    waiting.answer.resume(returning: nil)
                }
            }
            await purge()
        }
    }

    /// Returns nil when nothing waits; then nobody writes any more.
    private func next() -> [Waiting]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isWriting = false
                return nil
            }
            let batch = Array(state.waiting.prefix(512))
            state.waiting.removeFirst(batch.count)
            return batch
        }
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
}
