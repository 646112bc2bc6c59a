import Foundation
import PushCore
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

/// All that a person or a program learns from a keyring, as text that is equal where the state is: what is listed,
/// whom it trusts, which secret opens it, and what is wrong with it.
///
/// Keys that are none of `known` are called new, since each run makes others; of times only counts whether they are there.
struct KeyringState: Equatable, CustomStringConvertible {
    let description: String
    /// Of that, whom it trusts.
    private(set) var trust: [String] = []

    /// - Parameter secrets: those that may seal it; the state says which one does.
    init(of folder: URL, known: Set<String>, secrets: [KeyringSecret]) {
        var lines: [String] = []
        do {
            let locked = Keyring(folder: folder)
            let entries = try locked.entries()
            lines.append("seal: \(try locked.sealKind()?.rawValue ?? "none")")
            let (keyring, opener) = try Self.open(folder, secrets)
            lines.append("opened by: \(opener)")
            lines += try entries.keys.map { try Self.line($0, known) }
            // Among it secrets that are not those of their keys, and records that nobody signed. A disk that is played back
            // has modes of its own.
            let problems = try keyring.examine().filter { $0.severity == .problem && !$0.code.hasSuffix("-by-others") }
            lines += problems.map { "ERROR \($0.code)" }
            trust = try Self.trust(in: keyring)
            lines += trust
        } catch { lines.append("ERROR \(error)") }
        description = lines.joined(separator: "\n")
    }

    /// The keys and records of a keyring, for ``init(of:known:secrets:)``.
    static func keyIDs(in folder: URL) throws -> Set<String> {
        let entries = try Keyring(folder: folder).entries().keys
        let records = entries.compactMap { entry in entry.record.map { label(entry, $0) } }
        return Set(entries.flatMap(\.keys).map(\.key.keyID.description) + records)
    }

    /// Counters rise with the clock, so each run signs another.
    private static func label(_ entry: KeyringEntry, _ record: DeviceRecord) -> String {
        "\(record.enrollment), record \(record.counter)"
    }

    /// An app of which nothing is said: for a change that only shows that changes go on.
    static let marker = "com.example.marker"

    /// Whom a keyring trusts, as ``init(of:known:secrets:)`` says it.
    static func trust(of folder: URL, secrets: [KeyringSecret]) -> [String] {
        do { return try trust(in: open(folder, secrets).0) } catch { return ["ERROR \(error)"] }
    }

    private static func trust(in keyring: Keyring) throws -> [String] {
        try keyring.trustList().entries.filter { $0.topic.description != marker }
            .map { "trusted for \($0.topic): \($0.trusted)" }
    }

    /// The keyring, opened by the only secret that opens it.
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

/// A keyring's audit log, read by the rules of its description and by none of the library's code.
struct KeyringAudit {
    private(set) var events: [String] = []
    /// What is wrong with it.
    private(set) var faults: [String] = []

    init(of keyring: URL) throws {
        let text = (try? Checkout.text(keyring.appending(path: "audit.jsonl"))) ?? ""
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.popLast() != "" { faults.append("its last line has no end") }
        var hash = [UInt8](repeating: 0, count: 32)
        for line in lines {
            hash = BLAKE2b.hash(hash + Array(line.utf8), byteCount: 32)
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            events.append(object?["event"] as? String ?? "none")
        }
        let file = (try? Checkout.text(keyring.appending(path: "keyring.txt"))) ?? ""
        if !file.contains("\nlog-bytes: \(text.utf8.count)\nlog-hash: \(Hex.encode(hash))\n") {
            faults.append("keyring.txt does not say where it ends")
        }
    }
}
