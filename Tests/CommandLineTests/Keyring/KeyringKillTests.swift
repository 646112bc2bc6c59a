import Foundation
import PushSimulator
import TestPrograms
import TestSupport
import TestThreads
import Testing

/// Processes that are killed in the middle of a change of a keyring.
@Suite("A keyring whose process is killed", .blocking)
struct KeyringKillTests {
    @Test(
        "is as before or as it is to be, wherever in a change that was",
        arguments: Thoroughness.sample(3, of: Array(KeyringCommand.all.indices)))
    func everyCall(_ index: Int) throws {
        let command = KeyringCommand.all[index]
        guard SystemCallTrace.isPossible else { return print("no process can be traced here: strace is missing") }
        // In turn, so that each way of sealing is met by many commands.
        let seal = command.seals[index % command.seals.count]
        let aftermath = try KeyringAftermath(command, KeyringFixture(sealed: seal))
        let calls = try Self.calls(of: aftermath)
        try #require(calls.count > 15)
        var outcomes: [KeyringAftermath.Outcome?] = []
        // In a thorough run every call of every seventh command, and every fourth one of the rest, since all go the same
        // way, and the playing back of ``KeyringPowerCutTests`` leaves none out.
        let stride = index % 7 == 0 ? aftermath.stride : 4 * aftermath.stride
        let walk = calls.enumerated().filter { ($0.offset + index) % stride == 0 }.map(\.element)
        var random = SeededGenerator()
        for call in Thoroughness.isThorough ? walk : Thoroughness.sample(3, of: calls, using: &random) {
            let copy = try aftermath.fixture.copy()
            let status = try SystemCallTrace.kill(copy.words(command), at: call)
            #expect(status == -SIGKILL, "\(command), \(call)")
            outcomes.append(try aftermath.check(copy.keyring, "killed at \(call)"))
        }
        // There is one moment at which the change is made: nothing of it before, all of it after.
        let commit = outcomes.firstIndex(of: .new) ?? outcomes.endIndex
        #expect(commit > 0 && commit < outcomes.endIndex, "\(command)")
        #expect(outcomes[..<commit].allSatisfy { $0 == .old }, "\(command)")
        #expect(outcomes[commit...].allSatisfy { $0 == .new }, "\(command)")
    }

    @Test(
        "is as before or as it is to be also where it is killed again while that is finished",
        arguments: Thoroughness.isThorough ? [0, 1] : [Int.random(in: 0...1)])
    func twice(_ seal: Int) throws {
        guard SystemCallTrace.isPossible else { return print("no process can be traced here: strace is missing") }
        let command = KeyringCommand.all.first { $0.description == "keys rename newsroom newsroom-2025" }!
        let aftermath = try KeyringAftermath(command, KeyringFixture(sealed: command.seals[seal]))
        let next = { (copy: KeyringCopy) in
            ["trust", "add", "authority", "--topic", KeyringState.marker, "--keyring", copy.keyring.path]
                + copy.fixture.unlocking
        }
        // A few moments of the first change, and with each of them others of what comes after.
        var pairCount = 0
        let firsts = try Self.calls(of: aftermath).enumerated().filter { $0.offset % 4 == 3 }.map(\.element)
        var random = SeededGenerator()
        for first in Thoroughness.sample(2, of: firsts, using: &random) {
            let copy = try aftermath.fixture.copy()
            _ = try SystemCallTrace.kill(copy.words(command), at: first)
            let half = try KeyringCopy(of: copy)
            var opened: [Int: String] = [:]
            let calls = try SystemCallTrace(next(half)).calls.filter { $0.concerns(half.keyring.path, &opened) }
            for (index, second) in calls.enumerated() where index % 9 == pairCount % 9 {
                let again = try KeyringCopy(of: copy)
                let status = try SystemCallTrace.kill(next(again), at: second)
                #expect(status == -SIGKILL, "\(first), then \(second)")
                let marker = try KeyringState.hasMarker(again.keyring, aftermath.fixture.secrets)
                _ = try aftermath.check(
                    again.keyring, "killed at \(first), then \(second)", moreEvents: marker ? ["trusted"] : [])
                pairCount += 1
            }
        }
        #expect(pairCount > Thoroughness.count(5, thorough: 20))
    }

    @Test("is as before or as it is to be, whenever that was")
    func random() throws {
        var random = SeededGenerator()
        let fixtures = try [KeyringFixture.Seal.clear, .key].map { try KeyringFixture(sealed: $0) }
        var outcomes: [KeyringAftermath.Outcome: Int] = [:]
        let roundCount = Thoroughness.count(1, thorough: 8)
        for fixture in fixtures {
            for command in [KeyringCommand.all[0], KeyringCommand.all[6], KeyringCommand.all[9]] {
                let aftermath = try KeyringAftermath(command, fixture)
                for _ in 0..<roundCount {
                    let copy = try fixture.copy()
                    let process = try Program("sealedpush").start(copy.words(command))
                    usleep(.random(in: 0...30_000, using: &random))
                    process.kill()
                    process.wait()
                    if let outcome = try aftermath.check(copy.keyring, "killed by chance") {
                        outcomes[outcome, default: 0] += 1
                    }
                }
            }
        }
        #expect(outcomes.values.reduce(0, +) == 6 * roundCount)
    }

    /// The calls of a command that change the keyring's files, as one undisturbed run makes them.
    private static func calls(of aftermath: KeyringAftermath) throws -> [SystemCallTrace.Call] {
        let copy = try aftermath.fixture.copy()
        let trace = try SystemCallTrace(copy.words(aftermath.command))
        #expect(trace.status == 0)
        var opened: [Int: String] = [:]
        return trace.calls.filter { $0.concerns(copy.keyring.path, &opened) && !["fsync", "flock"].contains($0.name) }
    }
}
