internal import Foundation
internal import _PushBase

/// The content extension's process: one for each expansion, never the service extension's own, as on iOS.
struct ExpansionProcess {
    let program: ExtensionProgram
    let device: SimulatedDevice

    /// Waits for the view for ten seconds. Where there is none, the system's own is shown, with the reason.
    func expand(_ request: ExpansionRequest) throws(ExtensionProcessError) -> ShownExpansion {
        signal(SIGPIPE, SIG_IGN)
        guard let input = ChildPipe(), let output = ChildPipe(), let wake = ChildPipe() else {
            throw .notRunnable(program.file)
        }
        let pipes = ExtensionPipes(input: input.writeEnd, output: output.readEnd, wake: wake)
        defer { pipes.close() }
        let process: ChildProcess
        do {
            process = try ChildProcess(
                program.file, arguments: program.arguments, input: input.readEnd, output: output.writeEnd,
                environment: device.processEnvironment, isolated: true)
        } catch {
            for end in [input.readEnd, output.writeEnd] { close(end) }
            throw .notRunnable(program.file)
        }
        for end in [input.readEnd, output.writeEnd] { close(end) }
        defer {
            process.kill()
            process.wait()
        }
        return answer(to: request, process, pipes)
    }

    private func answer(to request: ExpansionRequest, _ process: ChildProcess, _ pipes: ExtensionPipes)
        -> ShownExpansion
    {
        var outgoing = Array((try? JSONEncoder().encode(ExtensionCommand.expand(request))) ?? Data()) + [0x0a]
        let deadline = ContinuousClock.now + Self.timeLimit
        while ContinuousClock.now < deadline {
            let hadEnded = process.hasEnded
            pipes.wait(milliseconds: hadEnded ? 0 : 10, forWriting: !outgoing.isEmpty)
            outgoing.removeFirst(pipes.write(outgoing))
            var lines: [[UInt8]] = []
            let isOpen = pipes.read { lines.append($0) }
            for line in lines {
                guard case .expanded(let shown) = try? JSONDecoder().decode(ExtensionReport.self, from: Data(line))
                else { continue }
                return shown
            }
            if hadEnded || !isOpen {
                return ShownExpansion(system: request.shown, note: "the content extension ended without a view")
            }
        }
        return ShownExpansion(system: request.shown, note: "the content extension had no view in time")
    }

    private static let timeLimit = Duration.seconds(10)
}
