internal import CommandSupport
internal import Dispatch
internal import _PushBase

/// Ctrl-C and SIGTERM, which ask a program to end in good order; the second time it ends at once.
final class Interrupt: @unchecked Sendable {
    // Dispatch sources are safe from several threads, and say so on Apple's systems only.
    private let sources: [any DispatchSourceSignal]
    private let state = Locked(State())

    private struct State {
        var isInterrupted = false
        var handlers: [@Sendable () -> Void] = []
    }

    init() {
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            return DispatchSource.makeSignalSource(signal: number, queue: .global())
        }
        for (number, source) in zip([SIGINT, SIGTERM], sources) {
            source.setEventHandler { [state] in
                // Somebody is asked for a passphrase: nothing is on its way yet.
                if SilentTerminal.end() { _exit(128 + number) }
                guard let handlers = Self.handlers(of: state) else { _exit(130) }
                Failure.report("stopping: what is on its way is waited for; once more to stop at once")
                for handler in handlers { handler() }
            }
            source.resumeListening()
        }
    }

    var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

    /// Calls `handler`, too, at the first signal; at once if there has been one.
    func onInterrupt(_ handler: @escaping @Sendable () -> Void) {
        let isInterrupted = state.withLock { state in
            state.handlers.append(handler)
            return state.isInterrupted
        }
        if isInterrupted { handler() }
    }

    /// Ends the program's other parts in the same order, where one of them has ended by itself.
    func fire() { for handler in Self.handlers(of: state) ?? [] { handler() } }

    /// Nil the second time.
    private static func handlers(of state: Locked<State>) -> [@Sendable () -> Void]? {
        state.withLock { state in
            defer { state.isInterrupted = true }
            return state.isInterrupted ? nil : state.handlers
        }
    }
}

/// SIGUSR1, which asks a program that runs on to read its keys again. Not SIGHUP: that comes when a terminal is closed, and
/// then the program is to end.
final class Rereading: @unchecked Sendable {
    // Dispatch sources are safe from several threads, and say so on Apple's systems only.
    private let source: any DispatchSourceSignal

    /// - Parameter handler: called on any thread, once for each signal that is noticed.
    init(_ handler: @escaping @Sendable () -> Void) {
        signal(SIGUSR1, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGUSR1, queue: .global())
        source.setEventHandler(handler: handler)
        source.resumeListening()
    }
}

extension DispatchSourceSignal {
    /// Returns when signals are heard. Dispatch registers a source on a thread of its own, and until then the signal, which
    /// is ignored otherwise, would be lost.
    fileprivate func resumeListening() {
        let isListening = DispatchSemaphore(value: 0)
        setRegistrationHandler { isListening.signal() }
        resume()
        isListening.wait()
    }
}
