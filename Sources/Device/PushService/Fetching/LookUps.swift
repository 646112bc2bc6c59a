import Foundation
internal import PushCore

/// Lookups of names, each of which blocks a thread for as long as the network likes: on threads of their own, and given up
/// when their task is cancelled. Such a thread ends when the system's resolver does; there are only so many.
final class LookUps: Sendable {
    /// How many threads are in the resolver, those that were given up among them.
    private let count = Locked(0)
    static let maximumCount = 16
    static let shared = LookUps()

    /// Asks whether there may be a connection to each of the addresses that the host stands for.
    ///
    /// - Throws: `network` where there is none, or the task is cancelled; at once where too many lookups hang already.
    func check(
        _ host: NetworkHost, _ mayConnect: @escaping @Sendable (IPAddress) throws(MediaError) -> Void
    ) async throws(MediaError) {
        switch host {
        case .address(let address): try mayConnect(address)
        case .name(let name):
            try await run { () throws(MediaError) in
                let addresses = IPAddress.addresses(of: name)
                guard !addresses.isEmpty else { throw .network }
                for address in addresses { try mayConnect(address) }
            }
        }
    }

    /// The same for anything that blocks.
    func run(_ body: @escaping @Sendable () throws(MediaError) -> Void) async throws(MediaError) {
        guard begin() else { throw .network }
        let answer = Answer()
        let failure = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                answer.wait(continuation)
                StageExecutor.queue().async { [count] in
                    do throws(MediaError) {
                        try body()
                        answer.settle(nil)
                    } catch {
                        answer.settle(error)
                    }
                    count.withLock { $0 -= 1 }
                }
            }
        } onCancel: {
            answer.settle(.network)
        }
        if let failure { throw failure }
    }

    private func begin() -> Bool {
        count.withLock { count in
            guard count < Self.maximumCount else { return false }
            count += 1
            return true
        }
    }

    /// The first of two: the resolver's, or the cancellation.
    private final class Answer: Sendable {
        private let state = Locked(State())

        private struct State {
            var continuation: CheckedContinuation<MediaError?, Never>?
            var isSettled = false
        }

        func wait(_ continuation: CheckedContinuation<MediaError?, Never>) {
            let isSettled = state.withLock { state in
                if !state.isSettled { state.continuation = continuation }
                return state.isSettled
            }
            // Cancelled before it began.
            if isSettled { continuation.resume(returning: .network) }
        }

        func settle(_ failure: MediaError?) {
            let continuation = state.withLock { state in
                state.isSettled = true
                defer { state.continuation = nil }
                return state.continuation
            }
            continuation?.resume(returning: failure)
        }
    }
}
