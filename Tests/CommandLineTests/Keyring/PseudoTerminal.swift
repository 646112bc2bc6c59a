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

    /// - Parameter answers: what is typed, each once the words before it have appeared.
    static func run(_ arguments: [String], answers: [(question: String, answer: String)]) throws -> Outcome {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // ioctl_tty(2): unlock the other side, and get its number.
        var isLocked: Int32 = 0
        var number: Int32 = -1
        guard master >= 0, ioctl(master, 0x4004_5431, &isLocked) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
            throw Failure()
        }
        defer { close(master) }
        let slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw Failure() }
        let process = try ChildProcess(
            URL(filePath: "/usr/bin/setsid"),
            arguments: ["--ctty", "--wait", Program("sealedpush").executable.path] + arguments, input: slave,
            output: slave, errors: slave)
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
