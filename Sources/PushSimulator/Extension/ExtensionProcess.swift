import Dispatch
public import Foundation
internal import Glibc
internal import PushCrypto
internal import SealedPush

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

    /// Where the app's bundle would be.
    var bundle: URL { program.deletingLastPathComponent() }

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
        /// The process ended, by itself or by a signal, before the handler was called: how, in words.
        case ended(String)
        /// The handler was not called in time; the process was killed.
        case timedOut
    }

    /// Starts the process and waits until the handler was called, the process has ended, or time is up.
    public func run(_ request: ExtensionRequest) throws(ExtensionProcessError) -> Result {
        // An extension that ends early must not end the simulator with it.
        signal(SIGPIPE, SIG_IGN)
        guard let input = ChildPipe(), let output = ChildPipe() else { throw .notRunnable(program) }
        defer { close(output.readEnd) }
        try? FileManager.default.createDirectory(at: request.device.temporaryFolder, withIntermediateDirectories: true)
        let clock = ContinuousClock()
        let start = clock.now
        let process: ChildProcess
        do {
            process = try ChildProcess(
                program, arguments: arguments, input: input.readEnd, output: output.writeEnd,
                environment: ["TMPDIR": request.device.temporaryFolder.path(percentEncoded: false)])
        } catch {
            for end in [input.readEnd, input.writeEnd, output.writeEnd] { close(end) }
            throw .notRunnable(program)
        }
        close(input.readEnd)
        close(output.writeEnd)
        defer { stop(process, input.writeEnd) }

        let answer = AnswerReader(output)
        let memory = MemorySampler(process: process.identifier)
        defer { memory.stop() }
        send(.deliver(request), to: input.writeEnd)
        var outcome = answer.wait(until: start + timeLimit, from: process)
        if case .nothing = outcome {
            send(.expire, to: input.writeEnd)
            outcome = answer.wait(until: clock.now + Self.grace, from: process)
        }
        let elapsed = clock.now - start
        switch outcome {
        case .answer(let answer):
            let peak = max(memory.peak, answer.memoryByteCount)
            return Result(ending: .returned(answer.content), elapsed: elapsed, peakMemoryByteCount: peak)
        case .ended:
            return Result(
                ending: .ended(description(process)), elapsed: elapsed, peakMemoryByteCount: memory.peak)
        case .nothing: return Result(ending: .timedOut, elapsed: elapsed, peakMemoryByteCount: memory.peak)
        }
    }

    private func description(_ process: ChildProcess) -> String {
        // The pipe may be closed a moment before the process is gone.
        let deadline = ContinuousClock.now + .milliseconds(200)
        while !process.hasEnded, ContinuousClock.now < deadline { usleep(1_000) }
        guard process.hasEnded else { return "it closed its output" }
        process.kill()
        switch process.wait() {
        case .exited(let status): return "status \(status)"
        case .signalled(let signal): return "signal \(signal)"
        }
    }

    private func send(_ command: ExtensionCommand, to input: Int32) {
        guard var line = try? JSONEncoder().encode(command) else { return }
        line.append(UInt8(ascii: "\n"))
        try? DurableFiles.writeAll(Array(line), to: input)
    }

    /// Lets the process end by itself for a moment, since it may still be tidying up; then kills it, and what it has
    /// started.
    private func stop(_ process: ChildProcess, _ input: Int32) {
        close(input)
        let deadline = ContinuousClock.now + .milliseconds(500)
        while !process.hasEnded, ContinuousClock.now < deadline { usleep(2_000) }
        process.kill()
        process.wait()
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

    /// Has a descriptor of its own for reading; nobody here may hold the end for writing open, or no end would ever come.
    init(_ pipe: ChildPipe) {
        let descriptor = fcntl(pipe.readEnd, F_DUPFD_CLOEXEC, 3)
        Thread.detachNewThread { [self] in
            let read = Self.readLine(descriptor)
            close(descriptor)
            outcome.withLock { $0 = read }
            isDone.signal()
        }
    }

    /// Ends with the process too: a child of its own may hold the pipe open, and does not answer for it.
    func wait(until deadline: ContinuousClock.Instant, from process: ChildProcess) -> Outcome {
        while ContinuousClock.now < deadline {
            let hadEnded = process.hasEnded
            // What the process wrote before it ended is in the pipe, and read within a moment.
            let isDone = isDone.wait(timeout: .now() + .milliseconds(hadEnded ? 100 : 10)) == .success
            if isDone || hadEnded { break }
        }
        let outcome = outcome.withLock { $0 }
        if case .nothing = outcome, process.hasEnded { return .ended }
        return outcome
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
