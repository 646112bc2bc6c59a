package import Dispatch
package import Foundation

/// Signals, also for a program that runs as process 1, as in a container. The kernel drops each signal that process 1 has no
/// handler for. Source: pid_namespaces(7).
package enum ProcessSignals {
    /// Makes signals that would end any other process end process 1, too, and makes writing to a closed pipe an error. Call it
    /// before anything else.
    ///
    /// - Parameter services: the commands that SIGHUP never ends, such as `serve`. Until they have a handler, they ignore it,
    ///   since they haven't read anything that they could reread.
    package static func begin(services: [String] = []) {
        if CommandLine.argc > 1, let command = CommandLine.unsafeArgv[1], services.contains(String(cString: command)) {
            signal(SIGHUP, SIG_IGN)
        }
        signal(SIGPIPE, SIG_IGN)
        guard getpid() == 1 else { return }
        for number in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            let before = signal(number) { _exit(128 + $0) }
            // An ignored signal stays ignored, as after nohup(1).
            if isSame(before, SIG_IGN) { signal(number, SIG_IGN) }
        }
    }

    /// Ends the program by a signal's default action or, as process 1, with the status that a shell shows for it.
    package static func end(by number: Int32) -> Never {
        signal(number, SIG_DFL)
        unblock(number)
        raise(number)
        _exit(128 + number)
    }

    /// Performs the default action of a signal that stops the program. Returns when the program continues.
    package static func stop(by number: Int32) {
        unblock(number)
        raise(number)
    }

    /// It may be blocked on a pool thread.
    private static func unblock(_ number: Int32) {
        var own = sigset_t()
        sigemptyset(&own)
        sigaddset(&own, number)
        pthread_sigmask(SIG_UNBLOCK, &own, nil)
    }

    /// Installs a handler, and returns once it's active. Dispatch registers a source on another thread; until then the signal,
    /// whose default action is disabled, would be lost.
    package static func listen(
        to number: Int32, _ handler: @escaping @Sendable () -> Void
    ) -> any DispatchSourceSignal {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        let isListening = DispatchSemaphore(value: 0)
        source.setEventHandler(handler: handler)
        source.setRegistrationHandler { isListening.signal() }
        source.resume()
        isListening.wait()
        return source
    }

    #if canImport(Darwin)
    package typealias Handler = sig_t
    #else
    package typealias Handler = sighandler_t
    #endif

    package static func isSame(_ one: Handler?, _ other: Handler?) -> Bool {
        unsafeBitCast(one, to: Int.self) == unsafeBitCast(other, to: Int.self)
    }
}
