internal import Dispatch
internal import Foundation
internal import PushCore
internal import UserNotifications

/// The successive processes of one extension on one device. A running process is reused; one that has exited is
/// replaced at the next request.
///
/// Thread-safe. Concurrent requests are handled concurrently.
final class ExtensionSession: Sendable {
    private let program: ExtensionProgram
    private let setting: ExtensionSetting
    private let rules: ExtensionRules
    private let center: PhoneCenter
    private let state = Locked(State())

    private struct State {
        var current: RunningExtension?
        var lateRemarks: [String] = []
    }

    init(
        _ program: ExtensionProgram, on device: SimulatedDevice, _ standard: StandardConfiguration?,
        rules: ExtensionRules, _ center: PhoneCenter = PhoneCenter()
    ) {
        self.program = program
        self.center = center
        setting = ExtensionSetting(device: device, standard: standard, memoryLimit: rules.memoryLimit)
        self.rules = rules
    }

    deinit { state.withLock { $0.current }?.close() }

    /// Waits until the handler is called, the process exits, or the time is up.
    func run(identifier: String, payload: Data) throws(ChildProcess.NotRunnable) -> ExtensionResult {
        // The process may have just exited, or have been idle for too long; the next try starts a new one.
        for _ in 0..<3 {
            let process = try current()
            let ticket = process.submit(identifier) { .deliver(number: $0, identifier: identifier, payload: payload) }
            if let ticket { return ticket.wait() }
            retire(process)
        }
        return ExtensionResult(ending: .ended("it had already exited"), elapsed: .zero)
    }

    /// Ends the process, giving it a moment to finish its cleanup. Returns the mistakes that extensions made after their
    /// answers.
    func end() -> [String] {
        let remarks = state.withLock { $0.current.take() }?.end() ?? []
        return state.withLock { state in
            defer { state.lateRemarks = [] }
            return state.lateRemarks + remarks
        }
    }

    /// The current process's ID, for tests.
    var processIdentifier: pid_t? { state.withLock { $0.current?.identifier } }

    private func current() throws(ChildProcess.NotRunnable) -> RunningExtension {
        try state.withLock { (state) throws(ChildProcess.NotRunnable) in
            if let current = state.current { return current }
            let process = try RunningExtension(program, setting: setting, rules: rules, center)
            state.current = process
            return process
        }
    }

    private func retire(_ process: RunningExtension) {
        state.withLock { state in
            guard state.current === process else { return }
            state.current = nil
            state.lateRemarks += process.lateRemarks
        }
    }
}

/// One process of an extension, and the thread that watches its answers, its time, its memory, and its exit.
///
/// Thread-safe. Only the watching thread reads from and writes to the process, so an extension that doesn't read can't
/// block the submitter of a request.
final class RunningExtension: Sendable {
    private let process: ChildProcess
    private let rules: ExtensionRules
    private let center: PhoneCenter
    private let state: Locked<State>
    private let isOver = DispatchGroup()

    private struct State {
        var requests: OutstandingRequests
        var outgoing: [UInt8] = []
        /// Whether further requests are refused. The process ends once the current ones are finished.
        var isClosed = false
        var idleSince: ContinuousClock.Instant
    }

    init(
        _ program: ExtensionProgram, setting: ExtensionSetting, rules: ExtensionRules,
        _ center: PhoneCenter = PhoneCenter()
    ) throws(ChildProcess.NotRunnable) {
        let start = ContinuousClock.now
        let (process, started) = try program.start(on: setting.device)
        self.process = process
        self.rules = rules
        self.center = center
        state = Locked(
            State(
                requests: OutstandingRequests(processStart: start, timeLimit: rules.timeLimit),
                outgoing: Self.line(.begin(setting)), idleSince: start))
        isOver.enter()
        // Nothing else uses the pipes.
        nonisolated(unsafe) let pipes = started
        Thread.detachNewThread { [self] in
            watch(pipes)
            isOver.leave()
        }
    }

    var identifier: pid_t { process.identifier }

    var lateRemarks: [String] { state.withLock { $0.requests.lateRemarks } }

    /// Submits a request. Returns nil if the process no longer accepts any.
    ///
    /// - Parameter command: Returns the command for the request's number.
    func submit(_ identifier: String, _ command: (Int) -> ExtensionCommand) -> ExtensionTicket? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            let ticket = ExtensionTicket()
            let number = state.requests.add(identifier, ticket, at: .now)
            state.outgoing += Self.line(command(number))
            return ticket
        }
    }

    /// Refuses further requests. The process ends once the current ones are finished.
    func close() { state.withLock { $0.isClosed = true } }

    /// Closes the process, waits until it has exited, and returns the late remarks.
    func end() -> [String] {
        close()
        isOver.wait()
        return lateRemarks
    }

    private static func line(_ command: ExtensionCommand) -> [UInt8] {
        guard let line = try? JSONEncoder().encode(command) else { return [] }
        return Array(line) + [UInt8(ascii: "\n")]
    }
}

extension RunningExtension {
    /// The reason that no more reports will come.
    private enum End {
        case byItself
        case killed(ExtensionResult.Ending)
        /// It was told to end, and its time for cleanup is up.
        case tidiedUp
    }

    private func watch(_ pipes: ExtensionPipes) {
        let memory = ProcessMemory(of: String(process.identifier))
        var closedInputAt: ContinuousClock.Instant?
        var end: End?
        while end == nil {
            let hadEnded = process.hasEnded
            let (isBusy, hasOutgoing) = state.withLock { (!$0.requests.isEmpty, !$0.outgoing.isEmpty) }
            pipes.wait(milliseconds: hadEnded ? 0 : isBusy ? 1 : 2, forWriting: hasOutgoing)
            let output = read(pipes)
            // Sample after reading the output, to include the memory used to produce it, but check before using the
            // output: iOS wouldn't have seen it either.
            if isBusy, let sample = memory?.sample(), exceeds(sample) {
                end = .killed(.overMemory)
            } else if isBusy, rules.killsAtStart {
                end = .killed(.killed("it was still starting"))
            } else if !take(output.lines) || !output.isOpen || hadEnded {
                end = .byItself
            }
            if end != nil { break }
            if advance() { end = .killed(.killed("another notification's time was up")) }
            send(pipes)
            if let closedInputAt {
                if .now >= closedInputAt + ExtensionRules.tidyTime { end = .tidiedUp }
            } else if state.withLock({ isToEnd(&$0) }) {
                pipes.closeInput()
                closedInputAt = .now
            }
        }
        finish(end ?? .byItself, wasTold: closedInputAt != nil, pipes)
    }

    /// Whether the process's memory exceeds, or has exceeded, the limit.
    private func exceeds(_ sample: ProcessMemory.Sample) -> Bool {
        state.withLock { $0.requests.note(memory: sample.own) }
        guard ProcessMemory.isMeaningful else { return false }
        // The past peak is inferred, so a small error must not kill the process.
        return sample.own > rules.memoryLimit || sample.past > rules.memoryLimit + 4 << 20
    }

    /// Returns the lines it has written since the last call. `isOpen` is false at the end of its output.
    private func read(_ pipes: ExtensionPipes) -> (lines: [[UInt8]], isOpen: Bool) {
        var lines: [[UInt8]] = []
        let isOpen = pipes.read { lines.append($0) }
        return (lines, isOpen)
    }

    /// Handles the lines. Returns false if one isn't a valid report.
    private func take(_ lines: [[UInt8]]) -> Bool {
        for line in lines {
            guard let report = try? JSONDecoder().decode(ExtensionReport.self, from: Data(line)) else { return false }
            state.withLock { state in
                if case .asksForList = report {
                    state.outgoing += Self.line(.list(center.value.notifications.map(ExpansionRequest.init)))
                } else {
                    state.requests.receive(report, at: .now)
                }
            }
        }
        return true
    }

    /// Whether to kill the process.
    private func advance() -> Bool {
        state.withLock { state in
            let demand = state.requests.advance(to: .now)
            if demand.expires { state.outgoing += Self.line(.expire) }
            return demand.kills
        }
    }

    private func send(_ pipes: ExtensionPipes) {
        state.withLock { state in
            guard !state.outgoing.isEmpty else { return }
            state.outgoing.removeFirst(pipes.write(state.outgoing))
        }
    }

    /// Whether to end the process, because it was closed or has been idle for too long.
    private func isToEnd(_ state: inout State) -> Bool {
        guard state.requests.isEmpty else {
            state.idleSince = .now
            return false
        }
        if .now >= state.idleSince + rules.idleTime { state.isClosed = true }
        return state.isClosed && state.outgoing.isEmpty
    }

    private func finish(_ end: End, wasTold: Bool, _ pipes: ExtensionPipes) {
        if case .byItself = end {
            // The pipe may close a moment before the process exits.
            let deadline = ContinuousClock.now + .milliseconds(200)
            while !process.hasEnded, ContinuousClock.now < deadline { usleep(1_000) }
        }
        let endedByItself = process.hasEnded
        process.kill()
        let how = process.wait()
        if case .byItself = end { _ = take(read(pipes).lines) }
        state.withLock { state in
            state.isClosed = true
            let now = ContinuousClock.now
            switch end {
            case .killed(let ending): state.requests.finishAll(ending, at: now)
            case .tidiedUp: state.requests.finishAll(.ended("it had to exit"), at: now)
            case .byItself:
                let words = endedByItself ? how.words : "it closed its output"
                if state.requests.isEmpty, !(wasTold && how == .exited(0)) {
                    state.requests.remark("the extension exited after its answer (\(words))")
                }
                state.requests.finishAll(.ended(words), at: now)
            }
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
