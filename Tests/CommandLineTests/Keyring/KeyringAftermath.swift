import Foundation
import PushCore
import PushKeyring
import SealedPush
import TestPrograms
import TestSupport
import Testing

/// A check of a keyring after an interrupted change, against its states before and after the change.
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

    /// The sampling interval for moments to check. Opening with a passphrase is slow, so fewer moments are checked then.
    var stride: Int { command.description.contains("passphrase") && isSlow ? 3 : 1 }
    private var isSlow: Bool { fixture.seal == .passphrase || command.description.contains("new-passphrase") }

    /// Runs the command once, without interruption.
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

    /// Checks that readers see the old or the new state, that the next change succeeds and preserves it, that the log is
    /// complete, and that no other file is left. Returns which state it was, or nil if it was neither.
    ///
    /// - Parameter moreEvents: the events of other changes made since then.
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
        // An export changes only the log. The log may already contain all or part of a change that wasn't made.
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

/// Everything that can be read from a keyring, as text that is equal for equal states: its entries, its trust list, the secret
/// that opens it, and its problems.
///
/// Keys that aren't in `known` are called new, because each run creates different ones. Only the presence of times matters.
struct KeyringState: Equatable, CustomStringConvertible {
    let description: String
    /// The part that lists the trusted senders and authorities.
    private(set) var trust: [String] = []

    /// - Parameter secrets: the secrets that may open it; the state includes which one does.
    init(of folder: URL, known: Set<String>, secrets: [KeyringSecret]) {
        var lines: [String] = []
        do {
            let locked = Keyring(folder: folder)
            let entries = try locked.entries()
            lines.append("seal: \(try locked.sealKind()?.rawValue ?? "none")")
            let (keyring, opener) = try Self.open(folder, secrets)
            lines.append("opened by: \(opener)")
            lines += try entries.keys.map { try Self.line($0, known) }
            // These include secrets that don't belong to their keys, and records that weren't signed. Ignore modes, which a
            // played-back disk doesn't preserve.
            let problems = try keyring.examine().filter { $0.severity == .problem && !$0.code.hasSuffix("-by-others") }
            lines += problems.map { "ERROR \($0.code)" }
            trust = try Self.trust(in: keyring)
            lines += trust
        } catch { lines.append("ERROR \(error)") }
        description = lines.joined(separator: "\n")
    }

    /// Returns the keys and records of a keyring, for ``init(of:known:secrets:)``.
    static func keyIDs(in folder: URL) throws -> Set<String> {
        let entries = try Keyring(folder: folder).entries().keys
        let records = entries.compactMap { entry in entry.record.map { label(entry, $0) } }
        return Set(entries.flatMap(\.keys).map(\.key.keyID.description) + records)
    }

    /// Returns a record's label. Counters increase with the clock, so each run signs a different record.
    private static func label(_ entry: KeyringEntry, _ record: DeviceRecord) -> String {
        "\(record.enrollment), record \(record.counter)"
    }

    /// An app that isn't part of the state, for a change that only shows that changes still work.
    static let marker = "com.example.marker"

    /// Returns the trust list in the form of ``init(of:known:secrets:)``.
    static func trust(of folder: URL, secrets: [KeyringSecret]) -> [String] {
        do { return try trust(in: open(folder, secrets).0) } catch { return ["ERROR \(error)"] }
    }

    private static func trust(in keyring: Keyring) throws -> [String] {
        try keyring.trustList().entries.filter { $0.topic.description != marker }
            .map { "trusted for \($0.topic): \($0.trusted)" }
    }

    /// Opens the keyring with the only secret that fits.
    static func open(_ folder: URL, _ secrets: [KeyringSecret]) throws -> (Keyring, String) {
        let locked = Keyring(folder: folder)
        guard let kind = try locked.sealKind() else { return (locked, "nothing") }
        var found: (Keyring, String)?
        for (index, secret) in secrets.enumerated() where secret.kind == kind {
            let keyring = Keyring(folder: folder, unlocking: .given(secret), command: "test")
            do throws(KeyringError) { _ = try keyring.trustList() } catch {
                if case .wrongSecret = error { continue }
                throw error
            }
            guard found == nil else { throw Ambiguous() }
            found = (keyring, "secret \(index)")
        }
        return try found ?? { throw KeyringError.needsSecret(kind) }()
    }

    private struct Ambiguous: Error {}

    private static func line(_ entry: KeyringEntry, _ known: Set<String>) throws -> String {
        let keys = entry.keys.map { key in
            let times = [key.life.confirmed, key.life.retired, key.life.revoked, key.life.erased]
            return [
                name(key.key.keyID, known), key.life.state.rawValue, key.hasSecret ? "secret" : "public",
                times.map { $0 == nil ? "-" : "+" }.joined(),
            ].joined(separator: " ")
        }
        let record = entry.record.map { record in
            " record \(known.contains(label(entry, record)) ? "as it was" : "new") of \(record.recipients.map { name($0.keyID, known) })"
        }
        return "\(entry.name) \(entry.kind.rawValue) \(entry.isOwn)\(record ?? ""): \(keys)"
    }

    private static func name(_ id: KeyID, _ known: Set<String>) -> String {
        known.contains(id.description) ? id.description : "new"
    }
}

/// A keyring's audit log, read by its documented format without the library's code.
struct KeyringAudit {
    private(set) var events: [String] = []
    /// The problems found in it.
    private(set) var faults: [String] = []

    init(of keyring: URL) throws {
        let text = (try? Checkout.text(keyring.appending(path: "audit.jsonl"))) ?? ""
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.popLast() != "" { faults.append("its last line is incomplete") }
        var hash = [UInt8](repeating: 0, count: 32)
        for line in lines {
            hash = BLAKE2b.hash(hash + Array(line.utf8), byteCount: 32)
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            events.append(object?["event"] as? String ?? "none")
        }
        let file = (try? Checkout.text(keyring.appending(path: "keyring.txt"))) ?? ""
        if !file.contains("\nlog-bytes: \(text.utf8.count)\nlog-hash: \(Hex.encode(hash))\n") {
            faults.append("keyring.txt does not match the log's end")
        }
    }
}
