import Foundation
import Glibc
import PushSimulator
import TestPrograms
import TestSupport

/// Runs a program at a terminal of its own, and answers what it asks.
enum PseudoTerminal {
    struct Outcome {
        let status: Int32
        /// All that was to be seen, echoes included.
        let screen: String
    }

    struct Failure: Error {}

    /// Whether a program hid what is typed, and whether the terminal shows it again after a signal ended it.
    ///
    /// - Parameter what: 3 for Ctrl-C, 28 for Ctrl-\\, else a signal's number.
    static func interrupt(
        _ arguments: [String], at question: String, with what: UInt8
    ) throws -> (hidIt: Bool, showsAgain: Bool) {
        let (master, slave) = try open()
        defer {
            close(master)
            close(slave)
        }
        // A shell's background job ignores Ctrl-C, and so would what it starts.
        let process = try ChildProcess(
            URL(filePath: "/usr/bin/env"),
            arguments: ["--default-signal", "setsid", "--ctty", "--wait", Program("sealedpush").executable.path]
                + arguments, input: slave, output: slave, errors: slave, environment: Program.withoutNotes)
        var screen: [UInt8] = []
        let deadline = ContinuousClock.now + .seconds(300)
        while ContinuousClock.now < deadline, !process.hasEnded,
            !String(decoding: screen, as: UTF8.self).contains(question)
        {
            var poll = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
            guard Glibc.poll(&poll, 1, 100) > 0 else { continue }
            var buffer = [UInt8](repeating: 0, count: 4_096)
            screen += buffer[..<max(0, read(master, &buffer, buffer.count))]
        }
        let hidIt = !isEchoing(slave)
        if what == 3 || what == 28 {
            var byte = what
            write(master, &byte, 1)
        } else {
            // The program's own group is the terminal's.
            Glibc.kill(-tcgetpgrp(master), Int32(what))
        }
        while ContinuousClock.now < deadline, !process.hasEnded { usleep(1_000) }
        process.kill()
        return (hidIt, isEchoing(slave))
    }

    private static func isEchoing(_ descriptor: Int32) -> Bool {
        var settings = termios()
        return tcgetattr(descriptor, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    private static func open() throws -> (master: Int32, slave: Int32) {
        let master = Glibc.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // ioctl_tty(2): unlock the other side, and get its number.
        var isLocked: Int32 = 0
        var number: Int32 = -1
        guard master >= 0, ioctl(master, 0x4004_5431, &isLocked) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
            throw Failure()
        }
        let slave = Glibc.open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw Failure() }
        return (master, slave)
    }

    /// - Parameter answers: what is typed, each once the words before it have appeared.
    static func run(_ arguments: [String], answers: [(question: String, answer: String)]) throws -> Outcome {
        let (master, slave) = try open()
        defer { close(master) }
        let process = try ChildProcess(
            URL(filePath: "/usr/bin/setsid"),
            arguments: ["--ctty", "--wait", Program("sealedpush").executable.path] + arguments, input: slave,
            output: slave, errors: slave, environment: Program.withoutNotes)
        close(slave)
        var screen: [UInt8] = []
        var seen = 0
        var left = answers[...]
        let deadline = ContinuousClock.now + .seconds(300)
        while ContinuousClock.now < deadline {
            var poll = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
            guard Glibc.poll(&poll, 1, 100) > 0 else { continue }
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = read(master, &buffer, buffer.count)
            // The last one at the other side is gone.
            guard count > 0 else { break }
            screen += buffer[..<count]
            let text = String(decoding: screen[seen...], as: UTF8.self)
            if let next = left.first, text.contains(next.question) {
                seen = screen.count
                let line = Array((next.answer + "\n").utf8)
                guard write(master, line, line.count) == line.count else { throw Failure() }
                left.removeFirst()
            }
        }
        if ContinuousClock.now >= deadline { process.kill() }
        return Outcome(status: process.wait().status, screen: String(decoding: screen, as: UTF8.self))
    }
}
