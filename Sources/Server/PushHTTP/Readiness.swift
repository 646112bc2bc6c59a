internal import PushCore

/// Why a program isn't ready even though its outbox is. Its listeners share this, because each of them reports it.
/// Thread-safe.
package final class Readiness: Sendable {
    private let known = Locked<Problem?>(nil)
    private let look = Locked<@Sendable () -> Problem?>({ nil })

    package init() {}

    /// The reason that is known, or else the one that is found now; nil if the program is ready.
    var obstacle: Problem? {
        if let problem = known.withLock({ $0 }) { return problem }
        let look = look.withLock { $0 }
        return look()
    }

    /// Sets the known reason, or removes it if it's nil.
    func set(_ problem: Problem?) { known.withLock { $0 = problem } }

    /// Sets the known reason unless there is one.
    func add(_ problem: Problem) { known.withLock { $0 = $0 ?? problem } }

    /// Sets the function that looks for another reason, each time that ``obstacle`` is read.
    func watch(_ find: @escaping @Sendable () -> Problem?) { look.withLock { $0 = find } }
}
