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
    private let marker = SenderPrivateKey().sender
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
        #expect(!old.description.contains("ERROR"), "\(command): \(old)")
        #expect(!new.description.contains("ERROR"), "\(command): \(new)")
        #expect(try KeyringAudit(of: copy.keyring).events.sorted() == (events + command.events).sorted())
    }

    /// Checks what is left: readers see the old or the new state, the next change goes through and leaves the same, the log
    /// lacks nothing, and no other file is left. Returns which of the two it was; nil if it was neither.
    ///
    /// - Parameter moreEvents: those of other changes that were made since.
    func check(_ keyring: URL, _ place: String, moreEvents: [String] = []) throws -> Outcome? {
        let place: Comment = "\(command), \(fixture.seal.rawValue), \(place)"
        let found = KeyringState(of: keyring, known: known, secrets: fixture.secrets)
        #expect(found == old || found == new, place)
        guard found == old || found == new else { return nil }
        do {
            let (keys, _) = try KeyringState.open(keyring, fixture.secrets)
            try keys.trust(.sender(marker), for: Topic(parsing: KeyringState.marker)!, at: now)
        } catch {
            Issue.record("\(place): the next change failed: \(error)")
            return nil
        }
        #expect(KeyringState.trust(of: keyring, secrets: fixture.secrets) == found.trust, place)
        let audit = try KeyringAudit(of: keyring)
        #expect(audit.faults.isEmpty, place)
        // An export changes nothing but the log. A change that was not made may be in the log already, in part too.
        let isNew = found == new && (old != new || audit.events.count > events.count + moreEvents.count + 1)
        let added = Array(audit.events.dropFirst(events.count).dropLast(1 + moreEvents.count))
        let made = isNew ? Array(added.suffix(command.events.count)) : command.events
        let unmade = isNew ? Array(added.dropLast(command.events.count)) : added
        #expect(made == command.events && command.events.starts(with: unmade), place)
        #expect(audit.events.suffix(1 + moreEvents.count) == (moreEvents + ["trusted"])[...], place)
        let allowed: Set = ["keyring.txt", "audit.jsonl", "lock", ".gitignore"]
        #expect(Set(try FileManager.default.contentsOfDirectory(atPath: keyring.path)) == allowed, place)
        return isNew ? .new : .old
    }
}
