import Foundation
import PushKeyring
import SealedPush
import Testing

/// All that a person or a program learns from a keyring, as text that is equal where the state is: what is listed,
/// whom it trusts, which secret opens it and what its keys are good for.
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
            for entry in entries.keys {
                lines.append(try Self.line(entry, known))
                lines.append(contentsOf: Self.uses(of: entry, keyring, known))
            }
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

    /// Whether the change that says nothing was made.
    static func hasMarker(_ folder: URL, _ secrets: [KeyringSecret]) throws -> Bool {
        try open(folder, secrets).0.trustList().entries.contains { $0.topic.description == marker }
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

    /// What can be done with it.
    private static func uses(of entry: KeyringEntry, _ keyring: Keyring, _ known: Set<String>) -> [String] {
        func attempt(_ label: String, _ work: () throws(KeyringError) -> String) -> String {
            do throws(KeyringError) { return "  \(label): \(try work())" } catch { return "  \(label): \(error.code)" }
        }
        switch entry.kind {
        case .device:
            return [
                attempt("opens") { () throws(KeyringError) in
                    "\(try keyring.deviceKeys(named: entry.name).map { name($0.identity.recipient.keyID, known) })"
                },
                attempt("sealed to") { () throws(KeyringError) in
                    name(try keyring.unverifiedRecipient(named: entry.name).keyID, known)
                },
            ]
        case .sender:
            return [
                attempt("seals") { () throws(KeyringError) in
                    name(try keyring.senderKey(named: entry.name).sender.keyID, known)
                }
            ]
        case .authority: return []
        }
    }

    private static func name(_ id: KeyID, _ known: Set<String>) -> String {
        known.contains(id.description) ? id.description : "new"
    }
}

extension KeyringError {
    /// The case alone, where it is one that tells of a key's state; else everything, so that damage shows.
    fileprivate var code: String {
        switch self {
        case .noSecret: "no secret"
        case .notUsable(_, let state): "is \(state.rawValue)"
        default: "ERROR \(self)"
        }
    }
}
