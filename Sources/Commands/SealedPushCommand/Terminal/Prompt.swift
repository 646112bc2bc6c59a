internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushKeyring

/// Questions to the person at the terminal, through /dev/tty, so that standard input and output stay a script's own.
enum Prompt {
    /// A passphrase, typed without being shown; nil where there is no terminal.
    static func passphrase(_ question: String) throws -> Passphrase? {
        guard let terminal = Terminal() else { return nil }
        defer { terminal.close() }
        var lines = terminal.askSilently([question])
        defer { for index in lines.indices { wipeSecret(&lines[index]) } }
        guard let passphrase = Passphrase(lines[0]) else {
            throw Failure.input("a passphrase has 1 to 1,024 bytes")
        }
        return passphrase
    }

    /// A new passphrase, typed twice.
    static func newPassphrase(_ question: String) throws -> Passphrase? {
        guard let terminal = Terminal() else { return nil }
        defer { terminal.close() }
        var lines = terminal.askSilently([question, "The same once more: "])
        defer { for index in lines.indices { wipeSecret(&lines[index]) } }
        guard lines[0] == lines[1] else { throw Failure.input("the two passphrases differ") }
        guard let passphrase = Passphrase(lines[0]) else { throw Failure.input("a passphrase has 1 to 1,024 bytes") }
        return passphrase
    }

    /// Goes on only if the person types `yes`, or has said so with --yes.
    static func confirm(_ warning: String, isConfirmed: Bool) throws {
        guard !isConfirmed else { return }
        guard let terminal = Terminal() else {
            throw Failure.usage("\(warning) Say --yes to go on: there is no terminal to ask at.")
        }
        defer { terminal.close() }
        guard terminal.ask("\(warning)\nType yes to go on: ", until: nil) == Array("yes".utf8) else {
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
