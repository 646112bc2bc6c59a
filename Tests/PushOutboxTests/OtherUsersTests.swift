import Foundation
import GRDB
import PushSender
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushOutbox

@Suite("The outbox file and other users", .blocking) struct OtherUsersTests {
    private let folder: TemporaryFolder
    private var path: String { folder.appending("outbox.db").path }

    init() throws { folder = try TemporaryFolder() }

    /// Objects that another user may have put next to the file.
    enum Plant: String, CaseIterable, Sendable {
        case link, pipe, folder, writable, foreign

        func put(at path: String, in folder: TemporaryFolder) throws {
            switch self {
            case .link: symlink(try folder.write("", to: "elsewhere"), path)
            case .pipe: mkfifo(path, 0o600)
            case .folder: mkdir(path, 0o700)
            case .writable:
                try Data().write(to: URL(filePath: path))
                chmod(path, 0o620)
            case .foreign:
                try Data().write(to: URL(filePath: path))
                chmod(path, 0o600)
                chown(path, 1_600, 1_600)
            }
        }
    }

    @Test(
        "a companion file that others could have created is refused before any file is opened",
        arguments: ["-wal", "-shm", "-journal"], Plant.allCases)
    func companions(suffix: String, plant: Plant) throws {
        if plant == .foreign, geteuid() != 0 { return print("Not tested: only root can create files of other users.") }
        _ = try Outbox(at: path)
        let before = try Data(contentsOf: URL(filePath: path))
        try plant.put(at: path + suffix, in: folder)
        Self.expectExposed(path, naming: path + suffix)
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
        // Also if the file itself doesn't exist yet.
        try FileManager.default.removeItem(atPath: path)
        Self.expectExposed(path, naming: path + suffix)
    }

    @Test("a folder where others can create files is refused, with or without the sticky bit")
    func sharedFolder() throws {
        let own = folder.appending("own").path
        mkdir(own, 0o700)
        let path = own + "/outbox.db"
        for mode: mode_t in [0o777, 0o1777, 0o770, 0o775, 0o702, 0o1730] {
            chmod(own, mode)
            Self.expectExposed(path, naming: own)
        }
        for mode: mode_t in [0o700, 0o755, 0o1755] {
            chmod(own, mode)
            #expect(throws: Never.self) { try Outbox(at: path) }
        }
    }

    @Test("a folder that others could replace is refused") func sharedFolderAbove() throws {
        let above = folder.appending("above").path
        mkdir(above, 0o700)
        mkdir(above + "/own", 0o700)
        let path = above + "/own/outbox.db"
        chmod(above, 0o777)
        Self.expectExposed(path, naming: above)
        // There, a link to the caller's own folder is equivalent to the folder.
        chmod(above, 0o1777)
        #expect(throws: Never.self) { try Outbox(at: path) }
        symlink(above + "/own", folder.appending("link").path)
        #expect(throws: Never.self) { try Outbox(at: folder.appending("link/outbox.db").path) }
        guard geteuid() == 0 else { return print("Not tested further: only root makes folders of other users.") }
        chmod(above, 0o755)
        chown(above, 1_600, 1_600)
        Self.expectExposed(path, naming: above)
        chown(above, 0, 0)
        chown(above + "/own", 1_600, 1_600)
        Self.expectExposed(path, naming: above + "/own")
    }

    private static func expectExposed(_ path: String, naming place: String) {
        do throws(OutboxError) {
            _ = try Outbox(at: path)
            Issue.record("the outbox was opened")
        } catch {
            guard case .exposed(let words) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(words.contains(place), "\(words)")
        }
    }

    @Test(
        "another user's log next to the file doesn't add that user's devices to the outbox",
        .enabled(if: Machine.hasOtherUsers, "This needs two users: run it as root, with setpriv(1)."))
    func plantedLog() async throws {
        let shared = folder.appending("shared").path
        let path = shared + "/outbox.db"
        chmod(folder.path, 0o755)
        mkdir(shared, 0o755)
        chown(shared, 1_500, 1_500)
        try expect(0, of: ["register", path, "d0"])
        // Closed cleanly, so that there is no log.
        let queue = try DatabaseQueue.patient(at: path)
        _ = try await queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM devices") }
        try queue.close()
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))

        // The whole outbox of the other user, as frames that SQLite would replay.
        let theirs = try await Fixture()
        try await theirs.addDevice("d0", user: "theirs")
        try FileManager.default.copyItem(atPath: theirs.path + "-wal", toPath: path + "-wal")
        chown(path + "-wal", 1_600, 1_600)
        chmod(path + "-wal", 0o666)

        chmod(shared, 0o1777)
        let log = ["work", path, shared + "/log", "0", "empty"]
        let words = "not protected from other users"
        #expect(try expect(nil, of: log).errors.contains(words))
        chmod(shared, 0o755)
        #expect(try expect(nil, of: log).errors.contains(words))
        unlink(path + "-wal")
        try expect(0, of: log)
        for place in [shared, path, path + "-wal", path + "-shm"] { chown(place, 0, 0) }
        let device = try await Outbox(at: path).device("d0")
        #expect(device != nil && device?.user != "theirs")
    }

    @Test(
        "the users of a group share an outbox in a folder that root shares with the group, and nobody else opens it",
        .enabled(if: Machine.hasOtherUsers, "This needs two users: run it as root, with setpriv(1)."))
    func group() async throws {
        let shared = folder.appending("shared").path
        let path = shared + "/outbox.db"
        chmod(folder.path, 0o755)
        mkdir(shared, 0o700)
        func share(owner: uid_t = 0, mode: mode_t = 0o2770) {
            chown(shared, owner, 1_700)
            chmod(shared, mode)
        }
        share()
        // The first member creates the file, and while it works, SQLite's companions.
        let first = try Self.asUser.start(Self.words(["work", path, "/dev/null", "0", "stopped"], as: 1_500))
        defer { first.kill() }
        try await eventually("the first member's files") {
            if first.hasEnded { throw POSIXError(.ECHILD) }
            return ["", "-wal", "-shm"].allSatisfy { FileManager.default.fileExists(atPath: path + $0) }
        }
        try expect(0, of: ["register", path, "d1"], as: 1_600)
        for suffix in ["", "-wal", "-shm"] {
            let facts = try FileManager.default.attributesOfItem(atPath: path + suffix)
            #expect(facts[.posixPermissions] as? Int == 0o660, "\(suffix)")
            #expect(facts[.groupOwnerAccountID] as? Int == 1_700, "\(suffix)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: shared).count == 3)
        // Root may use it, too, without shutting the others out.
        try expect(0, of: ["register", path, "d2"], as: 0)
        try expect(0, of: ["register", path, "d3"], as: 1_600)
        #expect(try expect(nil, of: ["register", path, "d4"], as: 1_800, group: 1_800).errors.contains("can't be"))

        // Only root's folder, with exactly this meaning, is shared.
        for (owner, mode) in [(1_500, 0o2770), (0, 0o770), (0, 0o2771), (0, 0o2774), (0, 0o2777), (0, 0o3777)] {
            share(owner: uid_t(owner), mode: mode_t(mode))
            let result = try expect(nil, of: ["register", path, "d4"], as: 1_600)
            #expect(result.errors.contains("not protected from other users"), "\(owner) \(mode): \(result.errors)")
        }
        share()
        for (mode, words) in [
            (0o600, "chmod 660"), (0o640, "chmod 660"), (0o664, "not protected"), (0o662, "not protected"),
        ] {
            chmod(path, mode_t(mode))
            let result = try expect(nil, of: ["register", path, "d4"], as: 1_600)
            #expect(result.errors.contains(words), "\(mode): \(result.errors)")
        }
        chmod(path, 0o660)
        try expect(0, of: ["register", path, "d4"], as: 1_600)
    }

    /// Runs the worker as a user.
    @discardableResult private func expect(
        _ status: Int32?, of arguments: [String], as user: Int = 1_500, group: Int = 1_700
    ) throws -> Program.Result {
        let result = try Self.asUser.run(Self.words(arguments, as: user, group: group))
        #expect(status.map { $0 == result.status } ?? (result.status != 0), "\(result.errors)")
        return result
    }

    /// The words after setpriv(1) that run the worker as a user who is in a group, with a service's umask.
    private static func words(_ arguments: [String], as user: Int, group: Int = 1_700) -> [String] {
        ["--reuid", "\(user)", "--regid", "\(user)", "--groups", "\(group)", "/bin/sh", "-c"]
            + [#"umask 077; exec "$0" "$@""#, Program("outbox-worker").executable.path] + arguments
    }

    private static let asUser = Program(at: "/usr/bin/setpriv")
}
