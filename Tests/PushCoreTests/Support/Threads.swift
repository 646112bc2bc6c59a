import Dispatch
import Foundation

/// Runs `body` on so many threads of its own, and waits for all of them. Dispatch's own would run one after the other
/// where its pool is busy.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    for index in 0..<count {
        group.enter()
        Thread {
            body(index)
            group.leave()
        }.start()
    }
    group.wait()
}
