import Foundation
import PushKeyring
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

/// Tests of the state that a power loss or a killed process leaves after each system call of a change. They replay the calls of
/// one uninterrupted run, so that every moment is covered.
@Suite("A keyring after a power loss or a killed process", .blocking) struct KeyringPowerCutTests {
    @Test(
        "has the old state or the new one after any system call",
        .enabled(if: Machine.canTrace, "strace is missing, or may not trace processes."),
        arguments: Thoroughness.sample(8, of: Array(KeyringCommand.all.indices)))
    func everyCall(_ index: Int) throws {
        let command = KeyringCommand.all[index]
        let seal = command.seals[(index + 1) % command.seals.count]
        let aftermath = try KeyringAftermath(command, KeyringFixture(sealed: seal))
        let copy = try aftermath.fixture.copy()
        let model = try FileSystemModel(of: copy.folder.url)
        let trace = try SystemCallTrace(copy.words(command))
        #expect(trace.status == 0)
        var placeCount = 0
        var stateCount = 0
        var seen: [KeyringAftermath.Outcome?] = []
        let stride = aftermath.stride * Thoroughness.stride(4)
        for call in trace.calls where try model.play(call) {
            // A sync changes only what survives a power loss. Unsynced files and bytes count as not written.
            var views: [FileSystemModel.View] = call.name == "fsync" ? [.synced] : [.seen]
            if !["write", "openat", "fsync"].contains(call.name) { views.append(.ordered) }
            for view in views {
                placeCount += 1
                // If only a sample is checked, use different places for each command.
                guard (placeCount + index) % stride == 0 else { continue }
                let disk = try TemporaryFolder(inMemory: true)
                try model.write(view, to: disk.url)
                let outcome = try aftermath.check(disk.appending("Keys"), "\(view) after \(call)")
                if view == .seen { seen.append(outcome) }
                stateCount += 1
            }
        }
        #expect(placeCount >= 8 && stateCount >= placeCount / stride)
        // The change is atomic: it takes effect at one moment.
        let commit = seen.firstIndex(of: .new) ?? seen.endIndex
        #expect(seen[commit...].allSatisfy { $0 == .new }, "\(command)")
        // A command that reported success has synced all its changes.
        for view in FileSystemModel.View.allCases {
            let disk = try TemporaryFolder(inMemory: true)
            try model.write(view, to: disk.url)
            #expect(try aftermath.check(disk.appending("Keys"), "\(view) at the end") == .new)
        }
    }

    @Test(
        "is durable once its first command is done",
        .enabled(if: Machine.canTrace, "strace is missing, or may not trace processes."))
    func firstKey() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let model = try FileSystemModel(of: folder.url)
        let keyring = folder.appending("Deep/Deeper/Keys")
        let trace = try SystemCallTrace(["keys", "generate", "sender", "newsroom", "--keyring", keyring.path])
        #expect(trace.status == 0)
        for call in trace.calls where try model.play(call) {
            for view in FileSystemModel.View.allCases {
                let disk = try TemporaryFolder(inMemory: true)
                try model.write(view, to: disk.url)
                let keys = try Keyring(folder: disk.appending("Deep/Deeper/Keys")).entries().keys
                #expect(keys.count <= 1, "\(view) after \(call)")
            }
        }
        for view in FileSystemModel.View.allCases {
            let disk = try TemporaryFolder(inMemory: true)
            try model.write(view, to: disk.url)
            let keys = Keyring(folder: disk.appending("Deep/Deeper/Keys"))
            #expect(try keys.entries().keys.map(\.name) == ["newsroom"], "\(view)")
            #expect(try keys.senderKey(named: "newsroom").sender == keys.sender(named: "newsroom"))
        }
    }

    @Test("has the old state or the new one after a kill at random", arguments: [KeyringFixture.Seal.clear, .key])
    func killed(_ seal: KeyringFixture.Seal) throws {
        var random = SeededGenerator()
        let fixture = try KeyringFixture(sealed: seal)
        for index in [0, 6, 9] {
            let aftermath = try KeyringAftermath(KeyringCommand.all[index], fixture)
            for _ in 0..<Thoroughness.count(1, thorough: 8) {
                let copy = try fixture.copy()
                let process = try Program("sealedpush").start(copy.words(aftermath.command))
                usleep(.random(in: 0...30_000, using: &random))
                process.kill()
                #expect(try aftermath.check(copy.keyring, "killed at random") != nil)
            }
        }
    }
}
