internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushKeyring

/// Questions to the person at the terminal, through /dev/tty, so that standard input and output stay a script's own.
enum Prompt {
    /// A passphrase, typed without being shown, a new one twice; nil where there is no terminal.
    static func passphrase(_ question: String, isNew: Bool = false) throws -> Passphrase? {
        guard let terminal = Terminal() else { return nil }
        var lines = terminal.askSilently([question] + (isNew ? ["The same once more: "] : []))
        defer { for index in lines.indices { wipeSecret(&lines[index]) } }
        guard lines[0] == lines[lines.count - 1] else { throw Failure.input("the two passphrases differ") }
        guard let passphrase = Passphrase(lines[0]) else { throw Failure.input("a passphrase has 1 to 1,024 bytes") }
        return passphrase
    }

    /// Goes on only if the person types `yes`, or has said so with --yes.
    static func confirm(_ warning: String, isConfirmed: Bool) throws {
        guard !isConfirmed else { return }
        guard let terminal = Terminal()
        else { throw Failure.usage("\(warning) Say --yes to go on: there is no terminal to ask at.") }
        guard terminal.ask("\(warning)\nType yes to go on: ", until: nil) == Array("yes".utf8)
        else { throw Failure.usage("nothing was changed") }
    }
}

/// The terminal that the program was started from.
private struct Terminal {
    private let handle: FileHandle
    private var descriptor: Int32 { handle.fileDescriptor }

    init?() {
        guard let handle = FileHandle(forUpdatingAtPath: "/dev/tty") else { return nil }
        self.handle = handle
    }

    /// One line of at most 1,024 bytes, without its end; nil where a signal came first. The caller wipes what is secret.
    func ask(_ question: String, until signals: CaughtSignals?) -> [UInt8]? {
        let bytes = Array(question.utf8)
        _ = write(descriptor, bytes, bytes.count)
        var line = [UInt8](repeating: 0, count: 1_025)
        var count = 0
        while count < line.count {
            if let signals, !signals.wait(for: descriptor) {
                wipeSecret(&line)
                return nil
            }
            guard read(descriptor, &line[count], 1) == 1, line[count] != UInt8(ascii: "\n") else { break }
            count += 1
        }
        line.removeLast(line.count - count)
        return line
    }

    /// A line for each question, none of which is shown.
    ///
    /// A signal that ends or stops the program does so once the terminal shows again what is typed. After a stop all is asked
    /// anew. As readpassphrase(3) does it.
    func askSilently(_ questions: [String]) -> [[UInt8]] {
        while true {
            var lines: [[UInt8]] = []
            let signals = CaughtSignals()
            SilentTerminal.begin(descriptor)
            for question in questions {
                guard let line = ask(question, until: signals) else { break }
                lines.append(line)
            }
            SilentTerminal.end()
            guard let number = signals?.end() else { return lines }
            for index in lines.indices { wipeSecret(&lines[index]) }
            CaughtSignals.act(on: number)
        }
    }
}

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
    @discardableResult static func end() -> Bool {
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
            if Self.isSame(before, SIG_IGN) { _ = signal(number, SIG_IGN) } else { handlers.append((number, before)) }
        }
    }

    /// Waits until there is something to read; false where a signal came.
    func wait(for descriptor: Int32) -> Bool {
        while true {
            var events = [descriptor, readEnd].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let count = poll(&events, 2, -1)
            if count < 0, errno == EINTR { continue }
            return events[1].revents == 0
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
