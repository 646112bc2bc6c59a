internal import CommandSupport
internal import Dispatch
internal import PushCore

/// Ctrl-C and SIGTERM, which ask a program to end in good order; the second time it ends at once.
final class Interrupt: @unchecked Sendable {
    // Dispatch sources are safe from several threads, and say so on Apple's systems only.
    private let sources: [any DispatchSourceSignal]
    private let state = Locked(State())

    private struct State {
        var isInterrupted = false
        var handlers: [(id: HandlerID, call: @Sendable () -> Void)] = []
        var handlerCount = 0
    }

    /// For ``remove(_:)``.
    struct HandlerID: Equatable, Sendable { fileprivate let number: Int }

    /// - Parameter signals: none for one that is told by another.
    init(_ signals: [Int32] = [SIGINT, SIGTERM]) {
        sources = signals.map { number in
            signal(number, SIG_IGN)
            return DispatchSource.makeSignalSource(signal: number, queue: .global())
        }
        for (number, source) in zip(signals, sources) {
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

    /// How many handlers there are.
    var handlerCount: Int { state.withLock { $0.handlers.count } }

    /// Calls `handler`, too, at the first signal; at once if there has been one.
    @discardableResult func onInterrupt(_ handler: @escaping @Sendable () -> Void) -> HandlerID {
        let (id, isInterrupted) = state.withLock { state -> (HandlerID, Bool) in
            state.handlerCount += 1
            let id = HandlerID(number: state.handlerCount)
            state.handlers.append((id, handler))
            return (id, state.isInterrupted)
        }
        if isInterrupted { handler() }
        return id
    }

    /// Of a part that has ended, so that a program that runs for long keeps nothing of it.
    func remove(_ id: HandlerID) { state.withLock { $0.handlers.removeAll { $0.id == id } } }

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

/// SIGHUP, which asks a program that runs on to read its keys again, as it does other services.
final class Rereading: @unchecked Sendable {
    // Dispatch sources are safe from several threads, and say so on Apple's systems only.
    private let source: any DispatchSourceSignal

    /// - Parameter handler: called on any thread, once for each signal that is noticed.
    init(_ handler: @escaping @Sendable () -> Void) {
        signal(SIGHUP, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
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
