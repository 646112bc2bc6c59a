internal import CommandSupport
internal import Dispatch
internal import PushCore

/// Ctrl-C and SIGTERM, which ask a program to end in good order; the second time it ends at once. SIGHUP asks a program that
/// runs on to read its keys again.
final class Interrupt: @unchecked Sendable {
    // Dispatch sources are safe from several threads, and say so on Apple's systems only.
    private let sources: [any DispatchSourceSignal]
    private let state: Locked<State>

    private struct State {
        var isInterrupted = false
        var handlers: [(id: Int, call: @Sendable () -> Void)] = []
        var handlerCount = 0
    }

    /// - Parameters:
    ///   - signals: those that ask for the end.
    ///   - reread: called on any thread, once for each SIGHUP that is noticed.
    init(_ signals: [Int32] = [SIGINT, SIGTERM], onHangUp reread: (@Sendable () -> Void)? = nil) {
        let state = Locked(State())
        self.state = state
        sources =
            signals.map { number in
                Self.listen(to: number) {
                    // Somebody is asked for a passphrase: nothing is on its way yet.
                    if SilentTerminal.end() { _exit(128 + number) }
                    guard let handlers = Self.handlers(of: state) else { _exit(130) }
                    Failure.report("stopping: what is on its way is waited for; once more to stop at once")
                    // A database that does not answer must not hold up the end: an unrecorded push is sent again and shown once.
                    DispatchQueue.global().asyncAfter(deadline: .now() + 45) {
                        Failure.report("stopped after 45 s, before it was done: run it again")
                        _exit(75)
                    }
                    for handler in handlers { handler() }
                }
            } + (reread.map { [Self.listen(to: SIGHUP, $0)] } ?? [])
    }

    /// Returns when the signal is heard. Dispatch registers a source on a thread of its own, and until then the signal, which
    /// is ignored otherwise, would be lost.
    private static func listen(to number: Int32, _ handler: @escaping @Sendable () -> Void) -> any DispatchSourceSignal
    {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        let isListening = DispatchSemaphore(value: 0)
        source.setEventHandler(handler: handler)
        source.setRegistrationHandler { isListening.signal() }
        source.resume()
        isListening.wait()
        return source
    }

    var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

    /// Does `work`. The first signal meanwhile calls `handler`; one that came before calls it at once.
    func calling<Answer: Sendable>(
        _ handler: @escaping @Sendable () -> Void, during work: () async throws -> Answer
    ) async rethrows -> Answer {
        let (id, isInterrupted) = state.withLock { state -> (Int, Bool) in
            state.handlerCount += 1
            state.handlers.append((state.handlerCount, handler))
            return (state.handlerCount, state.isInterrupted)
        }
        defer { state.withLock { $0.handlers.removeAll { $0.id == id } } }
        if isInterrupted { handler() }
        return try await work()
    }

    /// Sleeps, until the first signal at the longest.
    func sleep(for duration: Duration) async {
        let sleep = Task { _ = try? await Task.sleep(for: duration) }
        await calling(sleep.cancel) { await sleep.value }
    }

    /// Ends the program's other parts in the same order, where one of them has ended by itself.
    func fire() { for handler in Self.handlers(of: state) ?? [] { handler() } }

    /// Nil the second time.
    private static func handlers(of state: Locked<State>) -> [@Sendable () -> Void]? {
        state.withLock { state in
            defer { state.isInterrupted = true }
            return state.isInterrupted ? nil : state.handlers.map(\.call)
        }
    }
}
