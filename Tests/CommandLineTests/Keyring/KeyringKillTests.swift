import Foundation
import PushSimulator
import TestPrograms
import TestSupport
import Testing

/// Processes that are killed in the middle of a change of a keyring.
@Suite("A keyring whose process is killed", .blocking) struct KeyringKillTests {
    @Test(
        "A kill at any moment leaves the old keyring or the new one",
        arguments: Thoroughness.sample(3, of: Array(KeyringCommand.all.indices)))
    func everyCall(_ index: Int) throws {
        let command = KeyringCommand.all[index]
        guard SystemCallTrace.isPossible else { return print("no process can be traced here: strace is missing") }
        // In turn, so that each way of sealing is met by many commands.
        let seal = command.seals[index % command.seals.count]
        let aftermath = try KeyringAftermath(command, KeyringFixture(sealed: seal))
        let calls = try Self.calls(of: aftermath)
        try #require(calls.count >= 5)
        var outcomes: [KeyringAftermath.Outcome?] = []
        // In a thorough run every call of every seventh command, and every fourth one of the rest, since all go the same
        // way, and the playing back of ``KeyringPowerCutTests`` leaves none out.
        let stride = index % 7 == 0 ? aftermath.stride : 4 * aftermath.stride
        let walk = calls.enumerated().filter { ($0.offset + index) % stride == 0 }.map(\.element)
        var random = SeededGenerator()
        // The last one comes after the rename.
        let some = Thoroughness.sample(2, of: Array(calls.dropLast()), using: &random) + calls.suffix(1)
        for call in Thoroughness.isThorough ? walk + calls.suffix(1) : some {
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

    @Test("A kill by chance leaves the old keyring or the new one") func random() throws {
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
        return trace.calls.filter { $0.concerns(copy.keyring.path, &opened) && $0.name != "flock" }
    }
}
