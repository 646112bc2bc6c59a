import Foundation
import Glibc
import PushKeyring
import PushSimulator
import TestPrograms
import TestSupport
import Testing

/// The users have the same numbers as their groups. 1700 is the group of the clients, and 1600 is in it.
@Suite(
    "Several users of a machine", .blocking,
    .enabled(if: Machine.hasOtherUsers, "They need other users: run them as root."))
struct SeveralUsersTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        chmod(folder.path, 0o755)
        try Keyring(folder: folder.appending("Keys")).generateSender(named: "newsroom")
        mkdir(folder.appending("work").path, 0o700)
        for path in ["work", "Keys"] + (try contents("Keys").map { "Keys/\($0)" }) { give(path, to: 1_500) }
    }

    private func contents(_ path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.appending(path).path).sorted()
    }

    private func give(_ path: String, to user: uid_t, group: gid_t? = nil) {
        chown(folder.appending(path).path, user, group ?? user)
    }

    private static func asUser(_ user: Int, _ words: [String]) -> [String] {
        let groups = user == 1_600 ? "1600,1700" : "\(user)"
        return ["--reuid", "\(user)", "--regid", "\(user)", "--groups", groups] + words
    }

    private func run(as user: Int, _ words: [String]) throws -> Program.Result {
        try Program(at: "/usr/bin/setpriv", in: folder.url).run(Self.asUser(user, words))
    }

    private func sealedpush(as user: Int, _ words: String) throws -> Program.Result {
        try run(as: user, [Program("sealedpush").executable.path] + words.split(separator: " ").map(String.init))
    }

    private static let serve =
        "serve --from newsroom --topic com.example.app --outbox work/outbox.sqlite --json --listen"

    @Test(
        "A socket is its user's. In a folder that is shared with a group (setgid, closed to others), the group connects",
        arguments: [
            (0o700, "no", "no"), (0o2700, "no", "no"), (0o750, "no", "no"), (0o710, "no", "no"), (0o755, "no", "no"),
            (0o2755, "no", "no"), (0o2751, "no", "no"), (0o2710, "yes", "no"), (0o2750, "yes", "no"),
        ])
    func sockets(mode: Int, member: String, stranger: String) async throws {
        mkdir(folder.appending("run").path, 0o700)
        give("run", to: 1_500, group: 1_700)
        chmod(folder.appending("run").path, mode_t(mode))
        let output = folder.appending("output")
        try Data().write(to: output)
        let words = "\(Self.serve) run/serve.sock".split(separator: " ").map(String.init)
        let process = try Program(at: "/usr/bin/setpriv", in: folder.url).start(
            Self.asUser(1_500, [Program("sealedpush").executable.path] + words),
            output: FileHandle(forWritingTo: output))
        defer { process.kill() }
        try await eventually("the listener") {
            if process.hasEnded { throw POSIXError(.ECHILD) }
            return try !Data(contentsOf: output).isEmpty
        }
        let answers = try [1_500, 1_600, 1_800].map { user in
            try run(
                as: user,
                ["curl", "-s", "-o", "/dev/null", "--unix-socket", "run/serve.sock", "http://localhost/healthz"]
            ).status == 0 ? "yes" : "no"
        }
        #expect(answers == ["yes", member, stranger])
    }

    @Test("A folder that its group may write is refused for a socket, even if it's shared") func writers() throws {
        mkdir(folder.appending("run").path, 0o700)
        give("run", to: 1_500, group: 1_700)
        chmod(folder.appending("run").path, 0o2770)
        let result = try sealedpush(as: 1_500, "\(Self.serve) run/serve.sock")
        #expect(
            result.status == 74 && result.errors.contains("other users can write to its folder"), "\(result.errors)")
    }

    @Test("Root doesn't change another user's keyring, which that user then couldn't read") func root() throws {
        let before = try contents("Keys")
        let changes = [
            "generate sender radio", "rotate newsroom", "revoke newsroom --yes", "passphrase --new-unlock key",
        ]
        for words in changes {
            let result = try sealedpush(as: 0, "keys \(words)")
            #expect(result.status == 77, "\(words): \(result.status) \(result.errors)")
            #expect(
                result.errors.contains("belongs to another user") && result.errors.contains("run the command as"),
                "\(result.errors)")
        }
        #expect(try contents("Keys") == before)
        for name in before {
            let facts = try FileManager.default.attributesOfItem(atPath: folder.appending("Keys/\(name)").path)
            #expect(facts[.ownerAccountID] as? Int == 1_500, "\(name)")
        }
        #expect(try sealedpush(as: 0, "keys list").status == 0)
        #expect(try sealedpush(as: 1_500, "keys generate sender radio").status == 0)
    }

    @Test(
        "A keyring that serve may not read ends it with status 77, for which units don't restart it",
        arguments: [
            "Keys/keyring.txt", "Keys",
        ])
    func unreadable(path: String) throws {
        give(path, to: 0)
        chmod(folder.appending(path).path, path == "Keys" ? 0o700 : 0o600)
        let result = try sealedpush(as: 1_500, "\(Self.serve) work/serve.sock")
        #expect(result.status == 77 && result.errors.contains("keyring.txt: Permission denied"), "\(result.errors)")
        #expect(result.errors.contains("chown"))
    }
}
