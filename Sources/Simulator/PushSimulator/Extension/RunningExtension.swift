internal import Dispatch
internal import Foundation
internal import PushCore

/// One process of an extension, and the thread that watches it: its answers, its time, its memory and its end.
///
/// Safe from several threads. Everything is read and written by the watching thread alone, so that nobody who hands over a
/// request can be held up by an extension that does not read.
final class RunningExtension: Sendable {
    private let process: ChildProcess
    private let pipes: ExtensionPipes
    private let rules: ExtensionRules
    private let state: Locked<State>
    private let isOver = DispatchGroup()

    private struct State {
        var requests: OutstandingRequests
        var outgoing: [UInt8] = []
        /// No further request is taken; the process ends once there is none.
        var isClosed = false
        var idleSince: ContinuousClock.Instant
    }

    static let neverBegun = ExtensionResult(
        ending: .ended("it had ended before"), elapsed: .zero, peakMemoryByteCount: 0)

    init(_ program: ExtensionProgram, setting: ExtensionSetting, rules: ExtensionRules) throws(ExtensionProcessError) {
        let start = ContinuousClock.now
        (process, pipes) = try program.start(on: setting.device)
        self.rules = rules
        state = Locked(
            State(
                requests: OutstandingRequests(processStart: start, timeLimit: rules.timeLimit),
                outgoing: Self.line(.begin(setting)), idleSince: start))
        isOver.enter()
        Thread.detachNewThread { [self] in watch() }
    }

    var identifier: pid_t { process.identifier }

    /// What came after its request was finished.
    var lateRemarks: [String] { state.withLock { $0.requests.lateRemarks } }

    /// Hands over a request; nil where the process takes none any more.
    func submit(identifier: String, payload: Data) -> ExtensionTicket? {
        let ticket: ExtensionTicket? = state.withLock { state in
            guard !state.isClosed else { return nil }
            let ticket = ExtensionTicket()
            let number = state.requests.add(identifier, ticket, at: .now)
            let request = ExtensionRequest(number: number, identifier: identifier, payload: payload)
            state.outgoing += Self.line(.deliver(request))
            return ticket
        }
        pipes.wakeUp()
        return ticket
    }

    /// Takes no further request; once all are finished, the process ends.
    func close() {
        state.withLock { $0.isClosed = true }
        pipes.wakeUp()
    }

    /// Closes, waits until it has ended, and returns what came too late.
    func end() -> [String] {
        close()
        isOver.wait()
        return lateRemarks
    }

    static func line(_ command: ExtensionCommand) -> [UInt8] {
        guard let line = try? JSONEncoder().encode(command) else { return [] }
        return Array(line) + [UInt8(ascii: "\n")]
    }
}

extension RunningExtension {
    /// Why nothing more will come.
    private enum End {
        case byItself
        case killed(ExtensionResult.Ending)
        /// It was told to end, and has had its time.
        case tidiedUp
    }

    private func watch() {
        let memory = ProcessMemory(of: String(process.identifier))
        var closedInputAt: ContinuousClock.Instant?
        var end: End?
        while end == nil {
            let hadEnded = process.hasEnded
            let (isBusy, hasOutgoing) = state.withLock { (!$0.requests.isEmpty, !$0.outgoing.isEmpty) }
            pipes.wait(
                milliseconds: hadEnded ? 0 : isBusy ? 1 : closedInputAt == nil ? Self.idlePoll : 2,
                forWriting: hasOutgoing)
            let output = read()
            // After what it wrote, so that it had what it needed for that; before that counts: iOS would not have seen it either.
            if isBusy, let sample = memory?.sample(), exceeds(sample) {
                end = .killed(.overMemory)
                break
            }
            if isBusy, rules.killsAtStart {
                end = .killed(.killed("it was still starting"))
                break
            }
            let isAtEnd = !take(output.lines) || !output.isOpen
            if hadEnded || isAtEnd {
                end = .byItself
                break
            }
            if advance() { end = .killed(.killed("another notification's time was up")) }
            send()
            if let closedInputAt {
                if .now >= closedInputAt + ExtensionRules.tidyTime { end = .tidiedUp }
            } else if state.withLock({ isToEnd(&$0) }) {
                pipes.closeInput()
                closedInputAt = .now
            }
        }
        finish(end ?? .byItself, wasTold: closedInputAt != nil)
    }

    /// In milliseconds; a new request ends the wait.
    private static let idlePoll: Int32 = 20

    /// Whether it has had, or has, more than it may.
    private func exceeds(_ sample: ProcessMemory.Sample) -> Bool {
        state.withLock { $0.requests.note(memory: sample.own) }
        guard ProcessMemory.isMeaningful else { return false }
        // What nobody saw is inferred, and must not kill by a small error.
        return sample.own > rules.memoryLimit || sample.past > rules.memoryLimit + 4 << 20
    }

    /// What it has written meanwhile; not open at the end of its output.
    private func read() -> (lines: [[UInt8]], isOpen: Bool) {
        var lines: [[UInt8]] = []
        let isOpen = pipes.read { lines.append($0) }
        return (lines, isOpen)
    }

    /// False where that is no output of ours.
    private func take(_ lines: [[UInt8]]) -> Bool {
        for line in lines {
            guard let report = try? JSONDecoder().decode(ExtensionReport.self, from: Data(line)) else { return false }
            state.withLock { $0.requests.receive(report, at: .now) }
        }
        return true
    }

    /// Whether the process is to be killed.
    private func advance() -> Bool {
        state.withLock { state in
            let demand = state.requests.advance(to: .now)
            if demand.expires { state.outgoing += Self.line(.expire) }
            return demand.kills
        }
    }

    private func send() {
        state.withLock { state in
            guard !state.outgoing.isEmpty else { return }
            state.outgoing.removeFirst(pipes.write(state.outgoing))
        }
    }

    /// Whether it has been told, or has had nothing to do for long.
    private func isToEnd(_ state: inout State) -> Bool {
        guard state.requests.isEmpty else {
            state.idleSince = .now
            return false
        }
        if .now >= state.idleSince + rules.idleTime { state.isClosed = true }
        return state.isClosed && state.outgoing.isEmpty
    }

    private func finish(_ end: End, wasTold: Bool) {
        if case .byItself = end {
            // The pipe may be closed a moment before the process is gone.
            let deadline = ContinuousClock.now + .milliseconds(200)
            while !process.hasEnded, ContinuousClock.now < deadline { usleep(1_000) }
        }
        let endedByItself = process.hasEnded
        process.kill()
        let how = process.wait()
        if case .byItself = end { _ = take(read().lines) }
        state.withLock { state in
            state.isClosed = true
            let now = ContinuousClock.now
            switch end {
            case .killed(let ending): state.requests.finishAll(ending, at: now)
            case .tidiedUp: state.requests.finishAll(.ended("it had to end"), at: now)
            case .byItself:
                let words = endedByItself ? how.words : "it closed its output"
                if state.requests.isEmpty, !(wasTold && how == .exited(0)) {
                    state.requests.remark("the extension ended after its answer (\(words))")
                }
                state.requests.finishAll(.ended(words), at: now)
            }
        }
        pipes.close()
        isOver.leave()
    }
}

extension ExtensionProgram {
    /// Starts a process, with pipes at its input and output.
    func start(on device: SimulatedDevice) throws(ExtensionProcessError) -> (ChildProcess, ExtensionPipes) {
        // An extension that ends early must not end the simulator with it.
        signal(SIGPIPE, SIG_IGN)
        try? FileManager.default.createDirectory(at: device.temporaryFolder, withIntermediateDirectories: true)
        guard let input = ChildPipe(), let output = ChildPipe(), let wake = ChildPipe() else {
            throw .notRunnable(file)
        }
        // Nobody here may hold the child's ends open, or no end would ever come.
        defer { for end in [input.readEnd, output.writeEnd] { close(end) } }
        let pipes = ExtensionPipes(input: input.writeEnd, output: output.readEnd, wake: wake)
        do {
            let process = try ChildProcess(
                file, arguments: arguments, input: input.readEnd, output: output.writeEnd,
                environment: device.processEnvironment, isolated: true)
            return (process, pipes)
        } catch {
            pipes.close()
            throw .notRunnable(file)
        }
    }
}

extension ChildProcess.Ending {
    fileprivate var words: String {
        switch self {
        case .exited(let status): "status \(status)"
        case .signaled(let signal): "signal \(signal)"
        }
    }
}
