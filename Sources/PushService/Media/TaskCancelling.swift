import Dispatch
import Foundation
internal import _PushBase

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Cancels a session's task, from any thread.
///
/// Linux's loader stops the whole process when a delegate's answer, to a redirect or a response, meets a task that was
/// cancelled before it came in. So there a cancel waits until an answer has been taken in, and after one there are no more
/// answers.
final class TaskCancelling: Sendable {
    private let state = Locked(State.quiet)

    private enum State {
        case quiet
        /// A cancel may have to wait for it.
        case answering(isCancelled: Bool)
        case answered(ContinuousClock.Instant)
        case cancelled
    }

    /// On a thread of its own: the loader may be waiting for the very delegate that cancels.
    func cancel(_ task: URLSessionTask) {
        StageExecutor.queue().async { [self] in
            while !mayCancel() { Thread.sleep(forTimeInterval: 0.01) }
            task.cancel()
        }
    }

    /// Asks `body` for an answer and gives it with `answer`; `refusal` where the task is to be cancelled meanwhile.
    func answer<Answer>(_ answer: (Answer) -> Void, refusal: Answer, _ body: () -> Answer) {
        let isTooLate = state.withLock { state in
            if case .cancelled = state { return true }
            state = .answering(isCancelled: false)
            return false
        }
        #if canImport(FoundationNetworking)
            if isTooLate { return }
        #endif
        let wanted = isTooLate ? refusal : body()
        let isCancelled = state.withLock { state in
            if case .answering(isCancelled: true) = state { return true }
            return isTooLate
        }
        answer(isCancelled ? refusal : wanted)
        state.withLock { state in
            if case .answering = state { state = .answered(.now) }
        }
    }

    private func mayCancel() -> Bool {
        state.withLock { state in
            switch state {
            case .answering:
                state = .answering(isCancelled: true)
                return false
            case .answered(let moment) where ContinuousClock.now - moment < Self.takingIn: return false
            case .quiet, .answered, .cancelled:
                state = .cancelled
                return true
            }
        }
    }

    /// How long an answer is on its way into the loader.
    private static let takingIn: Duration = {
        #if canImport(FoundationNetworking)
            .milliseconds(250)
        #else
            .zero
        #endif
    }()
}
