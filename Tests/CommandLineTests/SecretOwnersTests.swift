import Foundation
import Glibc
import PushKeyring
import TestPrograms
import TestSupport
import Testing

/// The user is 1500, or root. 1600 is another user. Groups have the same numbers.
@Suite(
    "The owners of a secret file and of the folders above it", .blocking,
    .enabled(if: Machine.hasOtherUsers, "They need other users: run them as root."))
struct SecretOwnersTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        chmod(folder.path, 0o755)
        mkdir(folder.appending("Keys").path, 0o755)
        let key = KeyringKey().withText { String(decoding: $0, as: UTF8.self) }
        mkdir(folder.appending("a").path, 0o755)
        mkdir(folder.appending("a/b").path, 0o755)
        try folder.write(key + "\n", to: "a/b/key")
        try Keyring(
            folder: folder.appending("Keys"), unlocking: .given(.key(KeyringKey(parsing: Array(key.utf8))))
        ).generateSender(named: "newsroom")
        for path in ["Keys", "Keys/keyring.txt", "a", "a/b", "a/b/key"] { give(path, to: 1_500, mode: nil) }
    }

    private func give(_ path: String, to owner: uid_t, group: gid_t? = nil, mode: Int?) {
        let path = folder.appending(path).path
        #expect(lchown(path, owner, group ?? owner) == 0)
        if let mode { #expect(chmod(path, mode_t(mode)) == 0) }
    }

    /// Returns the exit status of a command that reads the key.
    private func status(as user: Int = 1_500, unlocking file: String = "a/b/key") throws -> Int32? {
        let result = try Program(at: "/usr/bin/setpriv", in: folder.url).run(
            [
                "--reuid", "\(user)", "--regid", "\(user)", "--clear-groups", Program("sealedpush").executable.path,
                "trust", "list", "--keyring", "Keys", "--unlock", file,
            ])
        if result.status == 77 { #expect(result.errors.contains("contains a secret, but "), "\(result.errors)") }
        return result.status
    }

    @Test("The owner is the user or root, and only root lets its group read a file that isn't the user's") func files()
        throws
    {
        for (user, owner, group, mode, expected) in [
            (1_500, 1_500, 1_500, 0o600, 0), (1_500, 1_500, 1_500, 0o400, 0), (1_500, 1_500, 1_500, 0o640, 77),
            (1_500, 1_500, 1_500, 0o604, 77), (1_500, 1_500, 1_500, 0o620, 77), (1_500, 1_500, 1_500, 0o602, 77),
            // A file of root's, and systemd's credentials, whose list of users shows as the group's mode.
            (1_500, 0, 1_500, 0o640, 0), (1_500, 0, 1_500, 0o440, 0), (1_500, 0, 1_500, 0o660, 77),
            // The defaults of Docker and Kubernetes.
            (1_500, 0, 0, 0o444, 77), (1_500, 0, 0, 0o644, 77),
            (1_500, 1_600, 1_500, 0o640, 77), (1_500, 1_600, 1_500, 0o440, 77), (1_500, 1_600, 1_600, 0o604, 77),
            (0, 0, 0, 0o600, 0), (0, 0, 0, 0o400, 0), (0, 0, 0, 0o640, 77), (0, 1_600, 1_600, 0o600, 77),
            (0, 1_600, 1_600, 0o400, 77), (0, 1_600, 0, 0o640, 77), (0, 1_500, 1_500, 0o600, 77),
        ] {
            give("a/b/key", to: uid_t(owner), group: gid_t(group), mode: mode)
            for path in ["a", "a/b"] { give(path, to: 0, mode: 0o755) }
            let row = "user \(user), owner \(owner):\(group), mode \(String(mode, radix: 8))"
            #expect(try status(as: user) == Int32(expected), "\(row)")
        }
    }

    @Test("No other user can replace a folder above it", arguments: ["a", "a/b"]) func folders(_ path: String) throws {
        for (owner, mode, expected) in [
            (0, 0o755, 0), (1_500, 0o700, 0), (1_500, 0o775, 0), (0, 0o2775, 0), (0, 0o1777, 0), (0, 0o3777, 0),
            (1_500, 0o1777, 0), (0, 0o777, 77), (1_500, 0o777, 77), (1_500, 0o757, 77), (0, 0o2777, 77),
            (1_600, 0o755, 77), (1_600, 0o1777, 77),
            // Outside such a namespace, the number that stands for its unmapped users is a user like any other.
            (65_534, 0o755, 77), (65_534, 0o1777, 77),
        ] {
            give(path, to: uid_t(owner), mode: mode)
            #expect(try status() == Int32(expected), "\(path): owner \(owner), mode \(String(mode, radix: 8))")
        }
    }

    @Test("Links are followed as Kubernetes makes them, and count like the folders they replace") func links() throws {
        let links = [("link", "a/b/key"), ("mount", "..data/b/key"), ("..data", "a"), ("around", "a/../a/b/./key")]
        for (link, target) in links { symlink(target, folder.appending(link).path) }
        for path in ["a", "a/b"] { give(path, to: 0, mode: 0o755) }
        give("a/b/key", to: 0, group: 1_500, mode: 0o440)
        let absolute = folder.appending("mount").path(percentEncoded: false)
        for link in links.map(\.0).filter({ $0 != "..data" }) + [absolute] { #expect(try status(unlocking: link) == 0) }
        give("..data", to: 1_600, mode: nil)
        #expect(try status(unlocking: "mount") == 77)
        give("..data", to: 0, mode: nil)
        #expect(try status(unlocking: "mount") == 0)
        give("a", to: 1_600, mode: nil)
        for link in ["link", "mount", "around"] { #expect(try status(unlocking: link) == 77) }
    }

    @Test("Standard input was opened by whoever started the program, as with sudo") func standardInput() throws {
        give("a/b/key", to: 0, mode: 0o600)
        give("a", to: 0, mode: 0o700)
        let command = """
            setpriv --reuid 1500 --regid 1500 --clear-groups "$0" trust list --keyring Keys --unlock - < a/b/key
            """
        let run = {
            try Program(at: "/bin/sh", in: folder.url).run("-c", command, Program("sealedpush").executable.path)
        }
        #expect(try run().status == 0)
        give("a/b/key", to: 1_600, mode: 0o600)
        #expect(try run().status == 77)
    }

    @Test(
        "In a user namespace without root, root's folders are accepted, and open ones are still refused",
        .enabled(if: Machine.hasUserNamespaces, "There are no user namespaces."))
    func namespace() throws {
        let words = ["--reuid", "1500", "--regid", "1500", "--clear-groups", "/usr/bin/unshare", "--map-root-user"]
        let run = { (program: [String]) in try Program(at: "/usr/bin/setpriv", in: folder.url).run(words + program) }
        let list = [Program("sealedpush").executable.path, "trust", "list", "--keyring", "Keys", "--unlock", "a/b/key"]
        let result = try run(list)
        #expect(result.status == 0, "\(result.errors)")
        give("a", to: 1_500, mode: 0o777)
        #expect(try run(list).status == 77)
    }
}
