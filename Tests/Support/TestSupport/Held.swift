import PushCore

/// A gate at which tasks wait until a test lets them continue.
package final class Held: Sendable {
    private let state = Locked((waiting: [CheckedContinuation<Void, Never>](), isOver: false))

    package var hasWaiter: Bool { waiterCount > 0 }
    package var waiterCount: Int { state.withLock { $0.waiting.count } }

    package init() {}

    package func wait() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.isOver { state.waiting.append(continuation) }
                return state.isOver
            }
            if isOver { continuation.resume() }
        }
    }

    package func release() {
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
