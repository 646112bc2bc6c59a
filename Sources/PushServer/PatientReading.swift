internal import Foundation
internal import _PushBase

/// Reads something when it is told to, and by itself for as long as nobody knows whether what was read before is still good:
/// after a second, and then after pauses that grow to a minute. Told once more, it does so at once.
///
/// One reading at a time, on a thread that may block. Safe from many threads.
package final class PatientReading: Sendable {
    private let pause: @Sendable (Duration) async -> Void
    private let read: @Sendable (_ isAsked: Bool) -> Bool
    private let state = Locked(State())

    private struct State {
        var isRunning = false
        /// Since the latest reading began.
        var isAsked = false
        var nap: Task<Void, Never>?
    }

    /// - Parameters:
    ///   - pause: sleeps, or returns soon where its task is cancelled.
    ///   - read: false where it could not be read, so that it is read again; `isAsked` is false where nobody has told it to.
    package init(
        pause: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) },
        _ read: @escaping @Sendable (_ isAsked: Bool) -> Bool
    ) {
        self.pause = pause
        self.read = read
    }

    /// Returns at once; what stands there now is read.
    package func readNow() {
        let (isIdle, nap) = state.withLock { state -> (Bool, Task<Void, Never>?) in
            state.isAsked = true
            defer { state.isRunning = true }
            return (!state.isRunning, state.nap)
        }
        nap?.cancel()
        if isIdle { Task { await run() } }
    }

    private func run() async {
        var length = Duration.seconds(1)
        while true {
            let isAsked = state.withLock { state -> Bool in
                defer { state.isAsked = false }
                return state.isAsked
            }
            if isAsked { length = .seconds(1) }
            let isRead = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
                DispatchQueue.global().async { continuation.resume(returning: self.read(isAsked)) }
            }
            guard let nap = rest(for: length, isRead) else { return }
            await nap.value
            length = min(length * 2, .seconds(60))
        }
    }

    /// Over already where it was told meanwhile; nil where there is nothing more to read.
    private func rest(for length: Duration, _ isRead: Bool) -> Task<Void, Never>? {
        state.withLock { state -> Task<Void, Never>? in
            guard state.isAsked || !isRead else {
                state.isRunning = false
                state.nap = nil
                return nil
            }
            let isAsked = state.isAsked
            let nap = Task { if !isAsked { await pause(length) } }
            state.nap = nap
            return nap
        }
    }
}
