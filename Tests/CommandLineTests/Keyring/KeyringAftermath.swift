import Foundation
import PushKeyring
import SealedPush
import TestPrograms
import TestSupport
import Testing

/// A keyring after something happened to one change of it, against what it was before and what it is to be.
final class KeyringAftermath {
    let command: KeyringCommand
    let fixture: KeyringFixture
    let known: Set<String>
    let old: KeyringState
    let new: KeyringState
    private let events: [String]
    private let names: Set<String>
    /// Of files that are byte for byte the same, the state is found once.
    private var states: [[String: Data]: KeyringState] = [:]

    private let marker = SenderKey().sender
    private let now = Timestamp.now()

    enum Outcome { case old, new }

    /// Each opening by a passphrase takes its time: then only some moments are looked at.
    var stride: Int { command.description.contains("passphrase") && isSlow ? 3 : 1 }
    private var isSlow: Bool { fixture.seal == .passphrase || command.description.contains("new-passphrase") }

    /// Runs the command once, undisturbed.
    init(_ command: KeyringCommand, _ fixture: KeyringFixture) throws {
        self.command = command
        self.fixture = fixture
        known = try KeyringState.keyIDs(in: fixture.keyring)
        old = KeyringState(of: fixture.keyring, known: known, secrets: fixture.secrets)
        events = try KeyringAudit(of: fixture.keyring).events
        let copy = try fixture.copy()
        let result = try Program("sealedpush").run(copy.words(command))
        #expect(result.status == 0, "\(command): \(result.errors)")
        new = KeyringState(of: copy.keyring, known: known, secrets: fixture.secrets)
        names = Self.names(in: fixture.keyring).union(Self.names(in: copy.keyring))
        #expect(!old.description.contains("ERROR"), "\(command): \(old)")
        #expect(!new.description.contains("ERROR"), "\(command): \(new)")
        #expect(try KeyringAudit(of: copy.keyring).events.sorted() == (events + command.events).sorted())
    }

    /// Checks what is left: readers see the old or the new state, the next change goes through and leaves the same, a log
    /// that is whole, and nothing unfinished. Gives which of the two it was; nil where it was neither.
    ///
    /// - Parameter moreEvents: those of other changes that were made since.
    func check(_ keyring: URL, _ place: String, moreEvents: [String] = []) throws -> Outcome? {
        let place: Comment = "\(command), \(fixture.seal.rawValue), \(place)"
        let found = try state(of: keyring)
        #expect(found == old || found == new, place)
        guard found == old || found == new else { return nil }
        let files = Self.files(of: keyring)
        // A change that alters nothing that is listed: an export.
        let isNew = found == new && (old != new || hasEvents(keyring))
        do {
            let (keys, _) = try KeyringState.open(keyring, fixture.secrets)
            try keys.trust(.sender(marker), for: Topic(parsing: KeyringState.marker)!, at: now)
        } catch {
            Issue.record("\(place): the next change failed: \(error)")
            return nil
        }
        #expect(Self.files(of: keyring) == files, place)
        #expect(KeyringState.trust(of: keyring, secrets: fixture.secrets) == found.trust, place)
        let audit = try KeyringAudit(of: keyring)
        #expect(audit.faults.isEmpty, place)
        let expected = events + (isNew ? command.events : []) + moreEvents + ["trusted"]
        #expect(audit.events.sorted() == expected.sorted(), place)
        #expect(audit.events.last == "trusted", place)
        let allowed = names.union(["trust.txt"])
        #expect(Self.names(in: keyring).subtracting(allowed).isEmpty, place)
        return isNew ? .new : .old
    }

    private func hasEvents(_ keyring: URL) -> Bool {
        let waiting = (try? Checkout.text(keyring.appending(path: "changing/audit.jsonl"))) ?? ""
        let log = (try? Checkout.text(keyring.appending(path: "audit.jsonl"))) ?? ""
        let isCommitted = FileManager.default.fileExists(atPath: keyring.appending(path: "changing").path)
        return isCommitted || !waiting.isEmpty || log.split(separator: "\n").count > events.count
    }

    /// The keys' files as they are once a committed change is finished: an empty one stands for a removal.
    private static func files(of keyring: URL) -> [String: Data] {
        var files: [String: Data] = [:]
        for folder in [keyring, keyring.appending(path: "changing")] {
            for path in names(in: folder) where path.hasSuffix(".txt") && !path.hasPrefix("changing") {
                files[path] = try? Data(contentsOf: folder.appending(path: path))
            }
        }
        return files.filter { !$0.value.isEmpty && !["trust.txt", "audit-head.txt"].contains($0.key) }
    }

    /// What is listed, trusted, opened and sealed with; taken from an earlier time where all files are the same.
    private func state(of keyring: URL) throws -> KeyringState {
        var files: [String: Data] = [:]
        for path in Self.names(in: keyring) where !path.hasPrefix("changing.") && path.hasSuffix(".txt") {
            files[path] = try? Data(contentsOf: keyring.appending(path: path))
        }
        files["audit-head.txt"] = nil
        files["changing/audit-head.txt"] = nil
        if let known = states[files] { return known }
        let state = KeyringState(of: keyring, known: known, secrets: fixture.secrets)
        states[files] = state
        return state
    }

    private static func names(in folder: URL) -> Set<String> {
        Set(FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? [])
    }
}
