import Foundation
import TestSupport

/// A command that changes a keyring, as typed, without `--keyring` and `--unlock`.
struct KeyringCommand: Sendable, CustomStringConvertible {
    let description: String
    /// The events that the command adds to the audit log.
    let events: [String]
    let seals: [KeyringFixture.Seal]
    private let more: @Sendable (KeyringFixture) throws -> [String]

    init(
        _ words: String, _ events: String..., seals: [KeyringFixture.Seal] = [.clear, .key],
        more: @escaping @Sendable (KeyringFixture) throws -> [String] = { _ in [] }
    ) {
        description = words
        self.events = events
        self.seals = seals
        self.more = more
    }

    func words(_ fixture: KeyringFixture) throws -> [String] {
        try description.split(separator: " ").map(String.init) + more(fixture)
    }

    private static func file(_ name: String) -> @Sendable (KeyringFixture) throws -> [String] {
        { fixture in [fixture.folder.appending(name).path] }
    }

    private static func text(_ name: String) -> @Sendable (KeyringFixture) throws -> [String] {
        { fixture in [try fixture.text(name)] }
    }

    /// All commands that change a keyring; each of them succeeds on a fixture.
    static let all: [KeyringCommand] = [
        KeyringCommand("keys generate sender radio", "generated"),
        KeyringCommand("keys generate device dave-phone --topic com.example.app", "generated"),
        KeyringCommand("keys import radio", "imported", more: text("sender")),
        KeyringCommand("keys import carol-phone", "imported", more: text("record")),
        KeyringCommand("keys import bob-phone", "imported", more: text("newer-record")),
        KeyringCommand("keys import radio --secret-file", "imported", more: file("secret")),
        KeyringCommand("keys rotate newsroom", "rotated"),
        KeyringCommand("keys rotate --older-than 30d", "rotated", "erased", "rotated"),
        KeyringCommand("keys rotate weather --confirm", "confirmed", "retired"),
        KeyringCommand("keys challenge bob-phone --from newsroom", "challenged"),
        KeyringCommand("keys revoke alice-phone --yes", "revoked", "revoked"),
        KeyringCommand("keys erase alice-phone --yes", "erased"), KeyringCommand("keys erase friend --yes", "removed"),
        KeyringCommand("keys export newsroom --secret --yes", "exported-secret"),
        KeyringCommand("keys backup", "backed-up") { fixture in
            let new = fixture.folder.appending("backup-\(UUID().uuidString)").path
            return [new, "--backup-secret", fixture.folder.appending("new-key").path]
        }, KeyringCommand("trust add authority --topic com.example.app", "trusted"),
        KeyringCommand("trust remove newsroom --topic com.example.app", "distrusted"),
        KeyringCommand("keys generate authority second", "generated"),
        KeyringCommand("trust sign authority newsroom weather --topic com.example.app", "signed"),
        KeyringCommand("keys passphrase --new-unlock", "sealed", more: file("new-key")),
        KeyringCommand("keys passphrase --clear --yes", "sealed", seals: [.key]),
        KeyringCommand(
            "keys passphrase --new-unlock", "sealed", seals: [.clear, .key], more: file("passphrase")),
        KeyringCommand("keys passphrase --clear --yes", "sealed", seals: [.passphrase]),
        KeyringCommand("keys passphrase --new-unlock", "sealed", seals: [.passphrase], more: file("new-key")),
    ]
}
