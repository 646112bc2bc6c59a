internal import CommandSupport
internal import Foundation
internal import Glibc
internal import PushCore
internal import PushSimulator

/// The programs of a trial, which run until one ends.
final class TrialPrograms: Sendable {
    private let running = Locked<[(name: String, process: ChildProcess)]>([])

    /// Starts a program from the folder of this one.
    func start(_ name: String, _ words: [String]) throws {
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: name)
        do throws(ChildProcess.NotRunnable) {
            let process = try ChildProcess(program, arguments: words)
            running.withLock { $0.append((name, process)) }
        } catch { throw CommandFailure(status: 69, message: error.description) }
    }

    /// The name of a program that has ended, if one has.
    var firstEnded: String? { running.withLock { $0.first { $0.process.hasEnded }?.name } }

    /// Waits for a moment. Throws if the program has ended.
    func sleep(unlessEnded name: String) async throws {
        try await Task.sleep(for: .milliseconds(100))
        guard let ended = running.withLock({ $0.first { $0.name == name && $0.process.hasEnded } }) else { return }
        guard case .exited(let status) = ended.process.wait() else {
            throw CommandFailure(status: 69, message: "\(name) was killed")
        }
        throw CommandFailure(status: status == 0 ? 69 : status, message: "\(name) ended with status \(status)")
    }

    /// Sends this process SIGTERM when a program ends.
    func endWithFirst() async {
        while firstEnded == nil {
            do { try await Task.sleep(for: .milliseconds(200)) } catch { return }
        }
        kill(getpid(), SIGTERM)
    }

    /// Stops the programs, the last first, and waits for them.
    func stop() {
        for (_, process) in running.withLock({ $0.reversed() }) {
            if !process.hasEnded { kill(process.identifier, SIGTERM) }
            process.wait()
        }
    }
}
