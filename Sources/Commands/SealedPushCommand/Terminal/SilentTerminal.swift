internal import PushCore

/// The terminal while it does not show what is typed: at most one at a time.
enum SilentTerminal {
    private static let state = Locked<(descriptor: Int32, before: termios)?>(nil)

    /// Does nothing where the descriptor is of no terminal.
    static func begin(_ descriptor: Int32) {
        var before = termios()
        guard tcgetattr(descriptor, &before) == 0 else { return }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        state.withLock { $0 = (descriptor, before) }
        tcsetattr(descriptor, TCSAFLUSH, &silent)
    }

    /// Shows again what is typed, and ends the line; false where it was never hidden.
    @discardableResult
    static func end() -> Bool {
        guard
            let (descriptor, settings) = state.withLock({ state in
                defer { state = nil }
                return state
            })
        else { return false }
        var before = settings
        tcsetattr(descriptor, TCSAFLUSH, &before)
        _ = write(descriptor, "\n", 1)
        return true
    }
}

/// Signals that would end or stop the program, kept until they may: at most one object at a time.
///
/// A handler may do next to nothing, so it writes the signal's number into a pipe.
final class CaughtSignals {
    private let readEnd: Int32
    private var handlers: [(number: Int32, before: SignalHandler?)] = []

    /// Nil where the system has no descriptors left.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        readEnd = ends[0]
        signalPipe = ends[1]
        for number in [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP] {
            let before = signal(number) { number in
                let code = errno
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(signalPipe, &byte, 1)
                errno = code
            }
            // What is ignored stays so: nohup(1), or ``Interrupt`` where Dispatch installs no handler of its own.
            if Self.isSame(before, SIG_IGN) {
                _ = signal(number, SIG_IGN)
            } else {
                handlers.append((number, before))
            }
        }
    }

    /// Waits until there is something to read; false where a signal came.
    func wait(for descriptor: Int32) -> Bool {
        while true {
            var events = [descriptor, readEnd].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let count = poll(&events, 2, -1)
            if count < 0, errno == EINTR { continue }
            if events[1].revents != 0 { return false }
            return true
        }
    }

    /// Puts the handlers back, and returns the first signal that came.
    func end() -> Int32? {
        for (number, before) in handlers { _ = signal(number, before) }
        close(signalPipe)
        // Once nobody can write any more, reading does not wait.
        var byte: UInt8 = 0
        let count = read(readEnd, &byte, 1)
        close(readEnd)
        return count == 1 ? Int32(byte) : nil
    }

    /// Does what a signal does by itself; returns once a program that was stopped goes on.
    ///
    /// Not what ``Interrupt`` would make of it, which waits for what is on its way: at a question nothing is.
    static func act(on number: Int32) {
        if number != SIGTSTP { signal(number, SIG_DFL) }
        var own = sigset_t()
        sigemptyset(&own)
        sigaddset(&own, number)
        // Threads of a pool may have it blocked.
        pthread_sigmask(SIG_UNBLOCK, &own, nil)
        raise(number)
    }

    private static func isSame(_ one: SignalHandler?, _ other: SignalHandler?) -> Bool {
        unsafeBitCast(one, to: Int.self) == unsafeBitCast(other, to: Int.self)
    }
}

/// Where the handler writes. Set before a handler is installed, and read by it alone.
private nonisolated(unsafe) var signalPipe: Int32 = -1

#if canImport(Darwin)
    private typealias SignalHandler = sig_t
#else
    private typealias SignalHandler = sighandler_t
#endif
