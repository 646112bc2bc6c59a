import Foundation
import PushKeyring
import SealedPush
import TestSupport
import Testing

/// What a loss of power, or a killed process, leaves after each single call of a change: found by playing the calls of
/// one undisturbed run back, so that no moment is left to chance.
@Suite("A keyring on a disk that loses its power", .blocking) struct KeyringPowerCutTests {
    @Test(
        "A loss of power after any call leaves the old keyring or the new one",
        arguments: Thoroughness.sample(8, of: Array(KeyringCommand.all.indices)))
    func everyCall(_ index: Int) throws {
        let command = KeyringCommand.all[index]
        guard SystemCallTrace.isPossible else { return print("no process can be traced here: strace is missing") }
        let seal = command.seals[(index + 1) % command.seals.count]
        let aftermath = try KeyringAftermath(command, KeyringFixture(sealed: seal))
        let copy = try aftermath.fixture.copy()
        let model = try FileSystemModel(of: copy.folder.url)
        let trace = try SystemCallTrace(copy.words(command))
        #expect(trace.status == 0)
        var placeCount = 0
        var stateCount = 0
        let stride = aftermath.stride * Thoroughness.stride(4)
        for call in trace.calls where try model.play(call) {
            // What other processes see is what is left of a killed one: see there. A sync alters what lasts, and else
            // nothing; files and bytes that are not synced are as if they were not written.
            guard !["write", "openat"].contains(call.name) else { continue }
            placeCount += 1
            // Other places of each command, where not all of them are looked at.
            guard (placeCount + index) % stride == 0 else { continue }
            let view: FileSystemModel.View = call.name == "fsync" ? .synced : .ordered
            let disk = try TemporaryFolder(inMemory: true)
            try model.write(view, to: disk.url)
            _ = try aftermath.check(disk.appending("Keys"), "\(view) after \(call)")
            stateCount += 1
        }
        #expect(placeCount >= 4 && stateCount >= placeCount / stride)
        // A command that has said that it is done has synced all it did.
        for view in FileSystemModel.View.allCases {
            let disk = try TemporaryFolder(inMemory: true)
            try model.write(view, to: disk.url)
            #expect(try aftermath.check(disk.appending("Keys"), "\(view) at the end") == .new)
        }
    }

    @Test("is there for good once its first command is done") func firstKey() throws {
        guard SystemCallTrace.isPossible else { return print("no process can be traced here: strace is missing") }
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
}
