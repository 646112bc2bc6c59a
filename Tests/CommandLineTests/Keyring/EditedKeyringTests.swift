import Foundation
import SealedPush
import TestPrograms
import TestSupport
import TestThreads
import Testing

/// Somebody has put his own key in the place of another, and whoever carries it on is to notice.
@Suite("A sealed keyring that was edited", .blocking)
struct EditedKeyringTests {
    private let fixture: KeyringFixture
    private let copy: KeyringCopy
    private let strangers: [String]

    init() throws {
        fixture = try KeyringFixture(sealed: .key)
        copy = try fixture.copy()
        strangers = [
            SenderKey().sender.description, AuthorityKey().authority.description, Identity().recipient.description,
        ]
        for (path, stranger) in [
            ("private/newsroom.txt", strangers[0]), ("private/authority.txt", strangers[1]),
            ("private/alice-phone.txt", strangers[2]), ("public/bob-phone.txt", strangers[2]),
        ] {
            let file = copy.keyring.appending(path: path)
            let text = try String(contentsOf: file, encoding: .utf8)
            let edited = text.replacing(/public: .*/, with: "public: \(stranger)", maxReplacements: 1)
            try #require(edited != text)
            try Data(edited.utf8).write(to: file)
        }
    }

    private func run(_ words: String, isOpen: Bool) throws -> Program.Result {
        try Program("sealedpush").run(
            words.split(separator: " ").map(String.init) + ["--keyring", copy.keyring.path]
                + (isOpen ? ["--key-file", fixture.folder.appending("key").path] : []))
    }

    @Test(
        "prints nothing of it that somebody is to believe",
        arguments: [
            "keys export newsroom", "keys export alice-phone", "keys export alice-phone --record",
            "keys export bob-phone", "keys fingerprint newsroom", "keys fingerprint newsroom --json",
            "keys fingerprint alice-phone", "keys fingerprint authority", "authority show authority",
            "authority show authority --json", "keys show newsroom --qr", "keys export newsroom --secret --yes",
        ])
    func believed(_ words: String) throws {
        for (isOpen, status) in [(true, Int32(65)), (false, 77)] {
            let result = try run(words, isOpen: isOpen)
            #expect(result.status == status, "\(result.output)\(result.errors)")
            #expect(result.output.isEmpty)
            #expect(result.errors.contains(isOpen ? "was changed by something else than the keyring" : "--key-file"))
        }
    }

    @Test(
        "is shown as it is where no secret is at hand, and as edited where one is",
        arguments: ["keys list", "keys show", "keys show newsroom", "keys show newsroom --json"])
    func shown(_ words: String) throws {
        let open = try run(words, isOpen: true)
        #expect(open.status == 65 && open.errors.contains("was changed by something else"), "\(open.errors)")
        #expect(!strangers.contains { open.output.contains($0) })
        #expect(!open.output.contains("newsroom"))
        let locked = try run(words, isOpen: false)
        #expect(locked.status == 0 && locked.output.contains("newsroom"), "\(locked.errors)")
    }

    @Test("plans no rotation by it where the secret is at hand")
    func planned() throws {
        let result = try run("keys rotate --older-than 1d --dry-run", isOpen: true)
        #expect(result.status == 65, "\(result.output)\(result.errors)")
    }
}
