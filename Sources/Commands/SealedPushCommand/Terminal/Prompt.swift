internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushKeyring

/// Prompts for the person at the terminal, through /dev/tty, so that standard input and output stay free for scripts.
enum Prompt {
    /// Asks for a passphrase without echoing it, and for a new one twice. Returns nil if there is no terminal.
    static func passphrase(_ question: String, isNew: Bool = false) throws -> Passphrase? {
        guard let terminal = Terminal() else { return nil }
        var lines = terminal.askSilently([question] + (isNew ? ["Repeat the passphrase: "] : []))
        defer { for index in lines.indices { wipe(&lines[index]) } }
        guard lines[0] == lines[lines.count - 1] else { throw CommandFailure.input("the two passphrases differ") }
        guard let passphrase = Passphrase(lines[0]) else {
            throw CommandFailure.input("a passphrase must be 1 to 1,024 bytes long")
        }
        return passphrase
    }

    /// Asks for a line of text that isn't secret. Returns nil if there is no terminal, or if the line isn't valid UTF-8.
    static func line(_ question: String) -> String? {
        guard let terminal = Terminal() else { return nil }
        return String(strictUTF8: terminal.ask(question)).map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// Returns only if the person types `yes` or has given --yes. Otherwise, throws a failure with status 64.
    static func confirm(_ warning: String, isConfirmed: Bool) throws {
        guard !isConfirmed else { return }
        guard let terminal = Terminal()
        else { throw CommandFailure.usage("\(warning) There is no terminal for a prompt; use --yes to continue.") }
        guard terminal.ask("\(warning)\nType yes to continue: ") == Array("yes".utf8)
        else { throw CommandFailure.usage("nothing was changed") }
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

    /// Returns one line of at most 1,024 bytes, or nil if a signal arrives first. The caller must wipe secrets.
    private func ask(_ question: String, until signals: CaughtSignals?) -> [UInt8]? {
        let bytes = Array(question.utf8)
        _ = write(descriptor, bytes, bytes.count)
        var line = [UInt8](repeating: 0, count: 1_025)
        var count = 0
        while count < line.count {
            if let signals, !signals.wait(for: descriptor) {
                wipe(&line)
                return nil
            }
            guard read(descriptor, &line[count], 1) == 1, line[count] != UInt8(ascii: "\n") else { break }
            count += 1
        }
        line.removeLast(line.count - count)
        return line
    }

    /// Returns one line of at most 1,024 bytes.
    func ask(_ question: String) -> [UInt8] { ask([question], isSilent: false)[0] }

    /// Returns a line for each question, without echoing the lines.
    func askSilently(_ questions: [String]) -> [[UInt8]] { ask(questions, isSilent: true) }

    /// A signal that ends or stops the program takes effect after echo is on again. After a stop, all questions are asked
    /// again, as readpassphrase(3) does.
    private func ask(_ questions: [String], isSilent: Bool) -> [[UInt8]] {
        while true {
            var lines: [[UInt8]] = []
            let signals = CaughtSignals()
            if isSilent { SilentTerminal.begin(descriptor) }
            for question in questions {
                guard let line = ask(question, until: signals) else { break }
                lines.append(line)
            }
            SilentTerminal.end()
            guard let number = signals?.end() else { return lines }
            for index in lines.indices { wipe(&lines[index]) }
            CaughtSignals.act(on: number)
        }
    }
}

/// A terminal with echo turned off; at most one at a time.
enum SilentTerminal {
    private static let state = Locked<(descriptor: Int32, before: termios)?>(nil)

    /// Turns echo off. A no-op if the descriptor isn't a terminal.
    static func begin(_ descriptor: Int32) {
        var before = termios()
        guard tcgetattr(descriptor, &before) == 0 else { return }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        state.withLock { $0 = (descriptor, before) }
        tcsetattr(descriptor, TCSAFLUSH, &silent)
    }

    /// Turns echo on again and ends the line. Returns false if echo wasn't off.
    @discardableResult static func end() -> Bool {
        guard let (descriptor, settings) = state.withLock({ $0.take() }) else { return false }
        var before = settings
        tcsetattr(descriptor, TCSAFLUSH, &before)
        _ = write(descriptor, "\n", 1)
        return true
    }
}

/// Signals that would end or stop the program, held back until `end()`. At most one instance exists at a time.
///
/// Few functions are safe in a signal handler, so it only writes the signal's number to a pipe.
final class CaughtSignals {
    private let readEnd: Int32
    private var handlers: [(number: Int32, before: ProcessSignals.Handler?)] = []

    /// Starts to hold back signals, or returns nil if the system has no descriptors left.
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
            // An ignored signal stays ignored: because of nohup(1), or ``Interrupt`` if Dispatch installs no handler.
            if ProcessSignals.isSame(before, SIG_IGN) {
                _ = signal(number, SIG_IGN)
            } else {
                handlers.append((number, before))
            }
        }
    }

    /// Waits until there is something to read. Returns false if a signal arrived.
    func wait(for descriptor: Int32) -> Bool {
        while true {
            var events = [descriptor, readEnd].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let count = poll(&events, 2, -1)
            if count < 0, errno == EINTR { continue }
            return events[1].revents == 0
        }
    }

    /// Restores the handlers, and returns the first signal that arrived.
    func end() -> Int32? {
        for (number, before) in handlers { _ = signal(number, before) }
        close(signalPipe)
        // With the write end closed, this read doesn't block.
        var byte: UInt8 = 0
        let count = read(readEnd, &byte, 1)
        close(readEnd)
        return count == 1 ? Int32(byte) : nil
    }

    /// Performs a signal's default action. If that stops the program, returns when the program continues.
    ///
    /// Bypasses ``Interrupt``, which waits for requests in transit: there are none during a prompt.
    static func act(on number: Int32) {
        guard number == SIGTSTP else { ProcessSignals.end(by: number) }
        ProcessSignals.stop(by: number)
    }
}

/// The pipe to which the handler writes. Set before a handler is installed, and read only by the handler.
private nonisolated(unsafe) var signalPipe: Int32 = -1
