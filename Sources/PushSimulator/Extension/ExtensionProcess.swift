import Dispatch
public import Foundation
internal import Glibc
internal import PushCrypto

/// Runs one notification through an extension in a process of its own, under iOS's time limit.
public struct ExtensionProcess: Sendable {
    private let program: URL
    private let arguments: [String]
    private let timeLimit: Duration

    /// - Parameters:
    ///   - program: a program that calls ``ExtensionHost``.
    ///   - timeLimit: counted from the process's start, as iOS does; 30 seconds there.
    public init(program: URL, arguments: [String] = [], timeLimit: Duration = .seconds(30)) {
        self.program = program
        self.arguments = arguments
        self.timeLimit = timeLimit
    }

    /// How long an extension has, after it was told that its time is up, before it is killed.
    public static let grace = Duration.seconds(1)

    /// What became of it.
    public struct Result: Sendable {
        public var ending: Ending
        public var elapsed: Duration
        /// The extension's own memory at its highest, in bytes.
        public var peakMemoryByteCount: Int
    }

    public enum Ending: Sendable {
        case returned(ShownNotification)
        /// The process ended, by itself or by a signal, before the handler was called.
        case crashed
        /// The handler was not called in time; the process was killed.
        case timedOut
    }

    /// Starts the process and waits until the handler was called, the process has ended, or time is up.
    public func run(_ request: ExtensionRequest) throws(ExtensionProcessError) -> Result {
        // An extension that ends early must not end the simulator with it.
        signal(SIGPIPE, SIG_IGN)
        let process = Process()
        let input = Pipe()
        let output = Pipe()
        process.executableURL = program
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        let clock = ContinuousClock()
        let start = clock.now
        do { try process.run() } catch { throw .notRunnable(program) }
        let pid = process.processIdentifier
        defer { stop(process, input) }

        let answer = AnswerReader(output.fileHandleForReading)
        let memory = MemorySampler(process: pid)
        defer { memory.stop() }
        send(.deliver(request), to: input)
        var outcome = answer.wait(until: start + timeLimit)
        if case .nothing = outcome {
            send(.expire, to: input)
            outcome = answer.wait(until: clock.now + Self.grace)
        }
        let elapsed = clock.now - start
        switch outcome {
        case .answer(let answer):
            let peak = max(memory.peak, answer.memoryByteCount)
            return Result(ending: .returned(answer.content), elapsed: elapsed, peakMemoryByteCount: peak)
        case .ended: return Result(ending: .crashed, elapsed: elapsed, peakMemoryByteCount: memory.peak)
        case .nothing: return Result(ending: .timedOut, elapsed: elapsed, peakMemoryByteCount: memory.peak)
        }
    }

    private func send(_ command: ExtensionCommand, to input: Pipe) {
        guard var line = try? JSONEncoder().encode(command) else { return }
        line.append(UInt8(ascii: "\n"))
        try? input.fileHandleForWriting.write(contentsOf: line)
    }

    /// Lets the process end by itself for a moment, since it may still be tidying up; then kills it.
    private func stop(_ process: Process, _ input: Pipe) {
        try? input.fileHandleForWriting.close()
        let deadline = ContinuousClock.now + .milliseconds(500)
        while process.isRunning, ContinuousClock.now < deadline { usleep(2_000) }
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }
}

/// Why an extension's program could not be started.
public enum ExtensionProcessError: Error, Sendable, CustomStringConvertible {
    case notRunnable(URL)

    public var description: String {
        switch self {
        case .notRunnable(let program): "\(program.path(percentEncoded: false)) can't be run as an extension"
        }
    }
}

/// Reads the first answer off a pipe, on a thread of its own.
private final class AnswerReader: Sendable {
    private let outcome = Locked<Outcome>(.nothing)
    private let isDone = DispatchSemaphore(value: 0)

    enum Outcome: Sendable {
        case nothing
        case answer(ExtensionAnswer)
        case ended
    }

    /// No answer is longer: a payload of 4 KiB can't become more than this.
    private static let maximumLineByteCount = 1 << 20

    init(_ pipe: FileHandle) {
        let descriptor = dup(pipe.fileDescriptor)
        Thread.detachNewThread { [self] in
            let read = Self.readLine(descriptor)
            close(descriptor)
            outcome.withLock { $0 = read }
            isDone.signal()
        }
    }

    func wait(until deadline: ContinuousClock.Instant) -> Outcome {
        let left = max(.zero, deadline - .now)
        let milliseconds = Int(left.components.seconds * 1_000 + left.components.attoseconds / 1_000_000_000_000_000)
        _ = isDone.wait(timeout: .now() + .milliseconds(milliseconds))
        return outcome.withLock { $0 }
    }

    private static func readLine(_ pipe: Int32) -> Outcome {
        var line = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while line.count <= maximumLineByteCount {
            let count = read(pipe, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return .ended }
            line.append(contentsOf: buffer[..<count])
            guard let end = line.firstIndex(of: UInt8(ascii: "\n")) else { continue }
            guard let answer = try? JSONDecoder().decode(ExtensionAnswer.self, from: line[..<end]) else {
                return .ended
            }
            return .answer(answer)
        }
        return .ended
    }
}

/// Looks at a process's memory every few milliseconds.
private final class MemorySampler: Sendable {
    private let state = Locked((peak: 0, isStopped: false))

    init(process: pid_t) {
        Thread.detachNewThread { [self] in
            while !state.withLock({ $0.isStopped }) {
                let current = ProcessMemory.byteCount(of: String(process))
                state.withLock { $0.peak = max($0.peak, current) }
                usleep(3_000)
            }
        }
    }

    var peak: Int { state.withLock { $0.peak } }

    func stop() { state.withLock { $0.isStopped = true } }
}
