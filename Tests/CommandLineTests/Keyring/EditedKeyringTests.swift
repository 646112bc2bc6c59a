import Foundation
import SealedPush
import TestPrograms
import TestSupport
import Testing

/// Somebody has put his own key in the place of another, and whoever carries it on is to notice.
@Suite("A sealed keyring that was edited", .blocking) struct EditedKeyringTests {
    private let fixture: KeyringFixture
    private let copy: KeyringCopy
    private let strangers: [String]

    init() throws {
        fixture = try KeyringFixture(sealed: .key)
        copy = try fixture.copy()
        strangers = [
            SenderPrivateKey().sender.description, AuthorityPrivateKey().authority.description,
            DevicePrivateKey().recipient.description,
        ]
        let file = copy.keyring.appending(path: "keyring.txt")
        let text = try String(contentsOf: file, encoding: .utf8)
        var edited = text
        for (prefix, stranger) in [
            ("pushsender1", strangers[0]), ("pushauthority1", strangers[1]), ("push1", strangers[2]),
        ] { edited = edited.replacing(try Regex("public: \(prefix)\\w+"), with: "public: \(stranger)") }
        try #require(edited != text)
        try Data(edited.utf8).write(to: file)
    }

    private func run(_ words: String, isOpen: Bool) throws -> Program.Result {
        try Program("sealedpush").run(
            words.split(separator: " ").map(String.init) + ["--keyring", copy.keyring.path]
                + (isOpen ? ["--unlock", fixture.folder.appending("key").path] : []))
    }

    @Test(
        "prints nothing of it that somebody is to believe",
        arguments: [
            "keys export newsroom", "keys export alice-phone", "keys export alice-phone --record",
            "keys export bob-phone", "keys show newsroom", "keys show authority --json", "keys show newsroom --qr",
            "keys export newsroom --secret --yes", "trust list", "keys rotate --older-than 1d",
        ])
    func believed(_ words: String) throws {
        for (isOpen, status) in [(true, Int32(65)), (false, 77)] {
            let result = try run(words, isOpen: isOpen)
            #expect(result.status == status, "\(result.output)\(result.errors)")
            #expect(result.output.isEmpty)
            #expect(
                result.errors.contains(isOpen ? "was changed by something else than the keyring" : "SEALED_PUSH_KEY"))
        }
    }

    @Test("A list of it is unverified without the secret, and refused with it") func listed() throws {
        let open = try run("keys list", isOpen: true)
        #expect(open.status == 65 && open.output.isEmpty, "\(open.errors)")
        #expect(open.errors.contains("was changed by something else"))
        let locked = try run("keys list", isOpen: false)
        #expect(locked.status == 0 && locked.output.contains("newsroom"), "\(locked.errors)")
        #expect(locked.errors.contains("unverified"))
    }
}
