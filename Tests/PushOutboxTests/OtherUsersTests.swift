import Foundation
import GRDB
import PushSender
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
        .enabled(if: hasTwoUsers, "This needs two users: run it as root, with setpriv(1)."))
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

    /// Runs the worker as user 1500.
    @discardableResult private func expect(_ status: Int32?, of arguments: [String]) throws -> Program.Result {
        let worker = Program("outbox-worker").executable.path
        let result = try Self.asUser.run(Self.user + [worker] + arguments)
        #expect(status.map { $0 == result.status } ?? (result.status != 0), "\(result.errors)")
        return result
    }

    private static let asUser = Program(at: "/usr/bin/setpriv")
    private static let user = ["--reuid", "1500", "--regid", "1500", "--clear-groups"]
    private static let hasTwoUsers: Bool = geteuid() == 0 && access(asUser.executable.path, X_OK) == 0
}
