import Foundation
import PushKeyring
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

@Suite("A keyring changed by twenty processes at once", .blocking)
struct KeyringCrowdTests {
    @Test("has every change that was reported as made, and readers never get an error", arguments: [0, 1])
    func crowd(_ seal: Int) throws {
        let copy = try KeyringFixture(sealed: [.clear, .key][seal]).copy()
        let senders = (0..<4).map { _ in SenderPrivateKey().sender.description }
        let topic = ["--topic", "com.example.app"]
        let before = try KeyringAudit(of: copy.keyring).events
        let readers = try Readers(of: copy)

        let first = try atOnce(
            (0..<12).map { ["keys", "generate", "sender", "crowd-\($0)"] }
                + (0..<4).map { _ in ["keys", "generate", "device", "twin"] }
                + senders.map { ["trust", "add", $0] + topic }, on: copy)
        #expect(first[..<12].allSatisfy { $0 == 0 })
        #expect(first[12..<16].sorted() == [0, 65, 65, 65])
        #expect(first[16...].allSatisfy { $0 == 0 })

        let second = try atOnce(
            (0..<11).map { ["keys", "rotate", "crowd-\($0)"] } + (0..<5).map { _ in ["keys", "rotate", "twin"] }
                + senders[..<3].map { ["trust", "remove", $0] + topic } + [["keys", "erase", "crowd-11", "--yes"]],
            on: copy)
        #expect(second[..<11].allSatisfy { $0 == 0 } && second[16...].allSatisfy { $0 == 0 })
        // Later rotations fail because of the new key.
        #expect(second[11..<16].sorted() == [0, 65, 65, 65, 65])
        readers.stop()

        let (keyring, _) = try KeyringState.open(copy.keyring, copy.fixture.secrets)
        for index in 0..<12 {
            let entry = try keyring.entry(named: KeyName(parsing: "crowd-\(index)")!)
            #expect(entry.keys.count == (index < 11 ? 2 : 1))
            #expect(entry.current.life.state == (index == 11 ? .erased : .active))
        }
        #expect(try keyring.entry(named: "twin").keys.count == 2)
        let trusted = try keyring.trustList().entries.map { "\($0.trusted)" }.joined()
        #expect(senders.map { trusted.contains($0) } == [false, false, false, true])
        let audit = try KeyringAudit(of: copy.keyring)
        #expect(audit.faults.isEmpty)
        let added = audit.events.dropFirst(before.count)
        let counts = Dictionary(added.map { ($0, 1) }, uniquingKeysWith: +)
        #expect(
            counts == ["generated": 13, "trusted": 4, "rotated": 12, "distrusted": 3, "erased": 1])
    }

    @Test("keeps all changes even if one of them reseals it in the middle") func sealing() throws {
        let fixture = try KeyringFixture(sealed: .key)
        let copy = try fixture.copy()
        let newKey = fixture.folder.appending("new-key").path
        let readers = try Readers(of: copy)
        var commands = (0..<19).map { ["keys", "generate", "sender", "crowd-\($0)"] }
        commands.insert(["keys", "passphrase", "--new-unlock", newKey], at: 9)
        var statuses = try atOnce(commands, on: copy)
        readers.stop()
        #expect(statuses.remove(at: 9) == 0)
        let audit = try KeyringAudit(of: copy.keyring)
        #expect(audit.faults.isEmpty)
        #expect(audit.events.filter { $0 == "sealed" }.count == 2)
        let keyring = Keyring(folder: copy.keyring, unlocking: .given(fixture.secrets[1]))
        for (index, status) in statuses.enumerated() {
            let name = KeyName(parsing: "crowd-\(index)")!
            // Late processes had the old key and made no change.
            #expect(status == 0 || status == 77)
            if status == 0 {
                #expect(try keyring.senderKey(named: name).sender == keyring.sender(named: name))
            } else {
                #expect(throws: KeyringError.notFound(name)) { try keyring.entry(named: name) }
            }
        }
    }

    /// Starts all commands at the same time, and returns their statuses.
    private func atOnce(_ commands: [[String]], on copy: KeyringCopy) throws -> [Int32] {
        try #require(commands.count == 20)
        let processes = try commands.map { command in
            try Program("sealedpush").start(command + ["--keyring", copy.keyring.path] + copy.fixture.unlocking)
        }
        return processes.map { $0.wait().status }
    }
}

/// Processes that keep listing, sealing, and opening until they're told to stop.
private final class Readers: Sendable {
    private let copy: KeyringCopy
    private let payload: String
    private let group = DispatchGroup()
    private let isStopped = Collected<Bool>()
    private let count = Collected<String>()

    init(of copy: KeyringCopy) throws {
        self.copy = copy
        let content = try copy.folder.write(#"{"alert":{"body":"b"}}"#, to: "content")
        let seal = ["seal", content, "--from", "newsroom", "--to", "alice-phone", "--topic", "com.example.app"]
        let keyring = ["--keyring", copy.keyring.path]
        let sealed = try Program("sealedpush").run(seal + keyring + copy.fixture.unlocking)
        payload = try copy.folder.write(sealed.output, to: "payload")
        let open = ["open", payload, "--device", "alice-phone", "--topic", "com.example.app"]
        for command in [["keys", "list", "--json"], seal, open] {
            DispatchQueue.global().async(group: group) { self.read(command) }
        }
    }

    func stop() {
        isStopped.add(true)
        group.wait()
        #expect(count.all.count >= 3)
    }

    private func read(_ command: [String]) {
        let keyring = ["--keyring", copy.keyring.path]
        repeat {
            do {
                var result = try Program("sealedpush").run(command + keyring + copy.fixture.unlocking)
                // The keyring was resealed in the meantime, so use the new key.
                if result.status == 77 || result.errors.contains("keys-unavailable") {
                    let newKey = copy.fixture.folder.appending("new-key").path
                    result = try Program("sealedpush").run(command + keyring + ["--unlock", newKey])
                }
                #expect(result.status == 0, "\(command): \(result.errors)")
                if command[1] == "list" {
                    let list = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [[String: Any]]
                    #expect(list?.contains { $0["name"] as? String == "newsroom" } == true)
                }
                count.add(command[0])
            } catch { Issue.record(error) }
        } while isStopped.all.isEmpty
    }
}
