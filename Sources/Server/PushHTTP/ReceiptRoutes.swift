internal import Hummingbird
internal import NIOCore
internal import PushCore
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// Receives receipts from phones and counts them. Each transaction includes all that arrived during the previous one. A
/// receipt needs no login because it has a MAC. Neither addresses nor bodies are kept. Source: ContentParts 16.6.
final class ReceiptRoutes: Sendable {
    private let outbox: Outbox
    private let keys: @Sendable () -> ServerState
    private let turn = TaskSemaphore(1)
    private let state = Locked(State())

    private struct State {
        var count = 0
        var waiting: [(number: Int, receipt: Result<ShownReceipt, ReceiptError>)] = []
        /// The outcomes that were written but not yet returned; `nil` if a receipt was refused or could not be written.
        var outcomes: [Int: ReceiptOutcome?] = [:]
    }

    init(_ outbox: Outbox, state keys: @escaping @Sendable () -> ServerState) {
        self.outbox = outbox
        self.keys = keys
    }

    /// A valid receipt is durable once the response arrives.
    func take(_ request: Request, _ context: ServerContext) async throws -> Response {
        let body = Array(try await request.wholeBody(upTo: ReceiptReceiver.maximumByteCount).readableBytesView)
        let receiver = try keys().sender().receipts
        let receipt = Result { () throws(ReceiptError) in try receiver.receive(body, at: .now()) }
        let outcome = await counted(receipt)
        if case .failure(let error) = receipt {
            throw Problem(.badRequest, error.rawValue, "the receipt is not valid here")
        }
        guard let outcome else { throw Problem.unavailable("the outbox can't be written", retryAfter: 60) }
        guard outcome != .tooMany else {
            throw Problem(
                .tooManyRequests, "too-many-receipts", "this device has sent too many receipts today",
                retryAfter: 86_400)
        }
        return Response(status: .noContent)
    }

    /// Returns `nil` if the receipt was refused or could not be written.
    func counted(_ receipt: Result<ShownReceipt, ReceiptError>) async -> ReceiptOutcome? {
        let number = state.withLock { state in
            state.count += 1
            state.waiting.append((state.count, receipt))
            return state.count
        }
        await turn.enter()
        defer { turn.leave() }
        // An earlier caller may have written this one, too.
        if state.withLock({ $0.outcomes[number] == nil }) { await write() }
        return state.withLock { $0.outcomes.removeValue(forKey: number) } ?? nil
    }

    private func write() async {
        let batch = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        var refused: [ReceiptError: Int] = [:]
        let believed = batch.compactMap { number, receipt -> (Int, ShownReceipt)? in
            switch receipt {
            case .success(let receipt): return (number, receipt)
            case .failure(let error):
                refused[error, default: 0] += 1
                return nil
            }
        }
        let outcomes = try? await outbox.count(believed.map(\.1), refused: refused)
        state.withLock { state in
            for (number, _) in batch { state.outcomes[number] = .some(nil) }
            for ((number, _), outcome) in zip(believed, outcomes ?? []) { state.outcomes[number] = outcome }
        }
    }
}
