internal import CommandSupport
internal import Dispatch
internal import Glibc
internal import PushCore

/// A handler for signals, which a command that waits creates before anything else. The first Ctrl-C or SIGTERM ends the
/// program gracefully, or immediately if it has only started; the second ends it immediately. SIGHUP makes a long-running
/// program reread its keys.
final class Interrupt: @unchecked Sendable {
    // Dispatch sources are thread-safe, but are declared Sendable only on Apple platforms.
    private let sources: [any DispatchSourceSignal]
    private let state: Locked<State>

    private struct State {
        /// Whether nothing has been done yet that a signal could cut off.
        var isStarting = true
        var isInterrupted = false
        var handlers: [(id: Int, call: @Sendable () -> Void)] = []
        var handlerCount = 0
    }

    /// - Parameters:
    ///   - signals: the signals that end the program.
    ///   - reread: called on any thread, once for each SIGHUP that arrives.
    init(_ signals: [Int32] = [SIGINT, SIGTERM], onHangUp reread: (@Sendable () -> Void)? = nil) {
        let state = Locked(State())
        self.state = state
        sources =
            signals.map { number in
                ProcessSignals.listen(to: number) {
                    // During a passphrase prompt, nothing is in transit yet.
                    if SilentTerminal.end() { _exit(128 + number) }
                    if state.withLock({ $0.isStarting }) { ProcessSignals.end(by: number) }
                    guard let handlers = Self.handlers(of: state) else { _exit(130) }
                    ServiceManager.notify("STOPPING=1")
                    CommandFailure.report(
                        "stopping after requests in transit finish; interrupt again to stop immediately")
                    // An unresponsive database must not block the exit. An unrecorded push is sent again, but shown once.
                    DispatchQueue.global().asyncAfter(deadline: .now() + 45) {
                        CommandFailure.report("stopped after 45 s with work unfinished; run the command again")
                        _exit(75)
                    }
                    for handler in handlers { handler() }
                }
            } + (reread.map { [ProcessSignals.listen(to: SIGHUP, $0)] } ?? [])
    }

    /// From now on, the first signal doesn't end the program immediately.
    func started() { state.withLock { $0.isStarting = false } }

    var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

    /// Performs `work`, with which the program has started. The first signal in the meantime calls `handler`; if one has
    /// already arrived, `handler` is called immediately.
    func calling<Answer: Sendable>(
        _ handler: @escaping @Sendable () -> Void, during work: () async throws -> Answer
    ) async rethrows -> Answer {
        let (id, isInterrupted) = state.withLock { state -> (Int, Bool) in
            state.isStarting = false
            state.handlerCount += 1
            state.handlers.append((state.handlerCount, handler))
            return (state.handlerCount, state.isInterrupted)
        }
        defer { state.withLock { $0.handlers.removeAll { $0.id == id } } }
        if isInterrupted { handler() }
        return try await work()
    }

    /// Sleeps for a duration, or until the first signal.
    func sleep(for duration: Duration) async {
        let sleep = Task { _ = try? await Task.sleep(for: duration) }
        await calling(sleep.cancel) { await sleep.value }
    }

    /// Ends the program's other parts as a signal would, after one part has ended on its own.
    func fire() { for handler in Self.handlers(of: state) ?? [] { handler() } }

    /// Returns the handlers to call, or nil if a signal has already been handled.
    private static func handlers(of state: Locked<State>) -> [@Sendable () -> Void]? {
        state.withLock { state in
            defer { state.isInterrupted = true }
            return state.isInterrupted ? nil : state.handlers.map(\.call)
        }
    }
}
