internal import Foundation
internal import PushKeyring

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Questions to the person at the terminal, through /dev/tty, so that standard input and output stay a script's own.
enum Prompt {
    /// A passphrase, typed without being shown; nil where there is no terminal.
    static func passphrase(_ question: String) throws -> Passphrase? {
        guard let terminal = Terminal() else { return nil }
        defer { terminal.close() }
        var line = terminal.withoutEcho { terminal.ask(question) }
        defer { wipeSecret(&line) }
        guard let passphrase = Passphrase(line) else {
            throw Failure.input("a passphrase has 1 to 1,024 bytes")
        }
        return passphrase
    }

    /// A new passphrase, typed twice.
    static func newPassphrase(_ question: String) throws -> Passphrase? {
        guard let terminal = Terminal() else { return nil }
        defer { terminal.close() }
        var first: [UInt8] = []
        var second: [UInt8] = []
        defer {
            wipeSecret(&first)
            wipeSecret(&second)
        }
        terminal.withoutEcho {
            first = terminal.ask(question)
            second = terminal.ask("The same once more: ")
        }
        guard first == second else { throw Failure.input("the two passphrases differ") }
        guard let passphrase = Passphrase(first) else { throw Failure.input("a passphrase has 1 to 1,024 bytes") }
        return passphrase
    }

    /// Goes on only if the person types `yes`, or has said so with --yes.
    static func confirm(_ warning: String, isConfirmed: Bool) throws {
        guard !isConfirmed else { return }
        guard let terminal = Terminal() else {
            throw Failure.usage("\(warning) Say --yes to go on: there is no terminal to ask at.")
        }
        defer { terminal.close() }
        guard terminal.ask("\(warning)\nType yes to go on: ") == Array("yes".utf8) else {
            throw Failure.usage("nothing was changed")
        }
    }
}

/// The terminal that the program was started from.
private struct Terminal {
    private let descriptor: Int32

    init?() {
        descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
    }

    func close() {
        #if canImport(Darwin)
            _ = Darwin.close(descriptor)
        #else
            _ = Glibc.close(descriptor)
        #endif
    }

    /// One line of at most 1,024 bytes, without its end; the caller wipes what is secret.
    func ask(_ question: String) -> [UInt8] {
        let bytes = Array(question.utf8)
        _ = write(descriptor, bytes, bytes.count)
        var line = [UInt8](repeating: 0, count: 1_025)
        var count = 0
        while count < line.count, read(descriptor, &line[count], 1) == 1, line[count] != UInt8(ascii: "\n") {
            count += 1
        }
        line.removeLast(line.count - count)
        return line
    }

    func withoutEcho<Answer>(_ body: () -> Answer) -> Answer {
        var before = termios()
        guard tcgetattr(descriptor, &before) == 0 else { return body() }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(descriptor, TCSAFLUSH, &silent)
        defer {
            tcsetattr(descriptor, TCSAFLUSH, &before)
            _ = write(descriptor, "\n", 1)
        }
        return body()
    }
}
