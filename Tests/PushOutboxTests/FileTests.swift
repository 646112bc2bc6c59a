import Foundation
import GRDB
import PushCore
import PushSender
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushOutbox

@Suite("The outbox file", .blocking) struct FileTests {
    private let folder: TemporaryFolder
    private var path: String { folder.appending("outbox.db").path }

    init() throws { folder = try TemporaryFolder() }

    @Test("the outbox file and its log are readable only by their owner") func permissions() async throws {
        let fixture = try await Fixture()
        try await fixture.addDevice("phone")
        let files = try Checkout.allFiles(in: fixture.folder.url)
        #expect(files.count == 3)
        for file in files {
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(file.lastPathComponent)")
        }
    }

    @Test("the outbox syncs its log at each commit") func durable() async throws {
        let fixture = try await Fixture()
        let store = try #require(fixture.outbox.store as? SQLiteStore)
        let level = try await store.write { db, _ in try Int.fetchOne(db, sql: "PRAGMA synchronous") }
        #expect(level == 2)
        #expect(try await store.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
    }

    @Test("many processes can create the outbox at once") func madeAtOnce() async throws {
        let path = path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { _ = try await Outbox(at: path, clock: .system, busyLimit: 600).status() } }
            try await group.waitForAll()
        }
    }

    @Test("another program's database is refused and not changed") func foreign() throws {
        let queue = try DatabaseQueue.patient(at: path)
        try queue.write { try $0.execute(sql: "CREATE TABLE theirs(id); INSERT INTO theirs VALUES (1)") }
        try queue.close()
        let before = try Data(contentsOf: URL(filePath: path))
        #expect(throws: OutboxError.foreign) { try Outbox(at: path) }
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
    }

    @Test("a file that is not a database is refused and not changed") func noDatabase() throws {
        let text = String(repeating: "This is a letter to my aunt. ", count: 200)
        try folder.write(text, to: "outbox.db")
        #expect(throws: OutboxError.damaged) { try Outbox(at: path) }
        #expect(try Checkout.text(URL(filePath: path)) == text)
    }

    @Test("a file of another version is refused and not changed") func otherSchema() throws {
        _ = try Outbox(at: path)
        let queue = try DatabaseQueue.patient(at: path)
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 99") }
        try queue.close()
        #expect(throws: OutboxError.otherSchema) { try Outbox(at: path) }
    }

    @Test("a later version upgrades a file, which this version then still uses, unless it must not")
    func laterSchema() async throws {
        let fixture = try await Fixture()
        let path = Fixture.path(fixture.folder)
        let now = Schema.version.number
        let later = SchemaVersion(now + 1, oldest: now)
        let queue = try DatabaseQueue.patient(at: path)
        try await queue.write { try Schema.make($0, later, by: [now: "ALTER TABLE devices ADD COLUMN note TEXT"]) }
        #expect(try await queue.read { try $0.columns(in: "devices").map(\.name) }.contains("note"))
        try queue.close()
        try await fixture.addDevice("phone")
        try await Outbox(at: path).requireWritable()
        #expect(try await Outbox(at: path, clock: .system, isReadOnly: true).status().deviceCount == 1)
        let again = try DatabaseQueue.patient(at: path)
        #expect(try await again.read { try Schema.userVersion($0) } == later.stored)
        try await again.write { try $0.execute(sql: "PRAGMA user_version = \(now + 1)") }
        try again.close()
        #expect(throws: OutboxError.otherSchema) { try Outbox(at: path) }
    }

    @Test("an upgrade runs every step from the stored version, and is refused without them") func steps() throws {
        let program = SchemaVersion(7, oldest: 6)
        let steps = [5: "a", 6: "b"]
        #expect(try SchemaVersion(5).upgrade(to: program, by: steps) == ["a", "b"])
        #expect(try SchemaVersion(7, oldest: 6).upgrade(to: program, by: steps) == [])
        #expect(try SchemaVersion(9, oldest: 7).upgrade(to: program, by: steps) == [])
        for refused in [SchemaVersion(4), SchemaVersion(9, oldest: 8), SchemaVersion(8)] {
            #expect(throws: OutboxError.otherSchema) { try refused.upgrade(to: program, by: steps) }
        }
        for version in [SchemaVersion(5), program] { #expect(SchemaVersion(stored: version.stored) == version) }
        for stored in [0, -1, 7 << 16 | 6, 1 << 16] { #expect(SchemaVersion(stored: stored) == nil, "\(stored)") }
    }

    @Test("a missing folder, and a folder in the file's place, give suitable errors") func noFolder() throws {
        #expect(throws: OutboxError.cannotOpen("No such file or directory")) {
            try Outbox(at: folder.appending("none/outbox.db").path)
        }
        #expect(throws: OutboxError.cannotOpen("Is a directory")) { try Outbox(at: folder.path) }
    }

    @Test("only a path is accepted as a file: no URL in any spelling, and no special name of SQLite's") func paths()
        throws
    {
        for text in ["outbox.db", "./a:b@c=d", "/srv/push@2/o.db", "../o.db", "our outbox.db"] {
            #expect(OutboxPlace.isPath(text), "\(text)")
        }
        for text in [
            "", " o.db", "o.db\n", "'o.db'", ":memory:", "file:o.db", "sqlite:o.db", "sqlite:///o.db",
            "o.db?mode=memory",
            "postgresql+psycopg://push:secret@db/push", "jdbc:postgresql:push?password=secret",
            "POSTGRES://secret@db/push",
            " postgres://push:secret@db/push", "push:secret@db/push", "//push:secret@db/push", "/srv/pgsql://secret@db",
            "host=db password=secret",
        ] {
            let error = #expect(throws: OutboxError.self, "\(text)") { try Outbox(at: text) }
            #expect(error?.description.contains("postgres://USER@HOST/DATABASE") == true, "\(text)")
            #expect(error?.description.contains("secret") == false, "\(text)")
        }
    }

    @Test(
        "a file that others can write, a link, and anything but a regular file are refused; others' read access is removed"
    ) func exposed() throws {
        _ = try Outbox(at: path)
        chmod(path, 0o666)
        let problem = OutboxError.exposed("other users can write to \(path); run `chmod 600`")
        #expect(throws: problem) { try Outbox(at: path) }
        chmod(path, 0o644)
        _ = try Outbox(at: path)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let link = folder.appending("link.db").path
        symlink(path, link)
        #expect(throws: OutboxError.cannotOpen("it is a symbolic link")) { try Outbox(at: link) }
        let pipe = folder.appending("pipe").path
        mkfifo(pipe, 0o600)
        #expect(throws: OutboxError.cannotOpen("it is not a regular file")) { try Outbox(at: pipe) }
    }

    @Test("a read-only file system gives an error that says so", .enabled(if: Machine.canMount)) func readOnly()
        async throws
    {
        let result = try onOwnDisk("mount -o remount,ro \"$1\" && \"$2\" enqueue \"$1/outbox.db\" \"$3\" \"$4\" 0 1 1")
        #expect(result.status != 0)
        #expect(result.errors.contains("can't be written to"), "\(result.errors)")
    }

    @Test("a failed system call is reported with its own cause, whatever SQLite calls it") func causes() {
        let failures: [ResultCode] = [
            .SQLITE_CANTOPEN, .SQLITE_IOERR_WRITE, .SQLITE_IOERR_FSYNC, .SQLITE_IOERR_SHMOPEN, .SQLITE_IOERR_SHMSIZE,
            .SQLITE_IOERR_SHMMAP, .SQLITE_IOERR_LOCK,
        ]
        let causes: [(Int32, OutboxError)] = [
            (EMFILE, .tooManyOpenFiles), (ENFILE, .tooManyOpenFiles), (ENOSPC, .diskFull), (EDQUOT, .diskFull),
            (EFBIG, .diskFull), (EROFS, .readOnly("Read-only file system")), (EACCES, .readOnly("Permission denied")),
            (EPERM, .readOnly("Operation not permitted")),
        ]
        for failure in failures {
            for (code, expected) in causes {
                #expect(OutboxError(DatabaseError(resultCode: failure), errno: code) == expected, "\(failure) \(code)")
                #expect(OutboxError(opening: code) == expected)
            }
        }
        let failed = OutboxError(DatabaseError(resultCode: .SQLITE_IOERR_READ, message: "disk I/O error"), errno: EIO)
        #expect(failed == .database(code: 266, "disk I/O error: Input/output error"))
        let missing = OutboxError(DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "unable to open"), errno: ENOENT)
        #expect(missing == .cannotOpen("unable to open: No such file or directory"))
        // An error number from before says nothing about other failures.
        for (code, expected) in [
            (.SQLITE_FULL, .diskFull), (.SQLITE_CORRUPT, .damaged), (.SQLITE_BUSY, .busy),
            (.SQLITE_CONSTRAINT, .database(code: 19, "constraint failed")),
        ] as [(ResultCode, OutboxError)] {
            for (number, _) in causes {
                #expect(OutboxError(DatabaseError(resultCode: code), errno: number) == expected)
            }
        }
        #expect(OutboxError(DatabaseError(resultCode: .SQLITE_IOERR_SHMSIZE)) == .diskFull)
        for failure in [ResultCode.SQLITE_READONLY, .SQLITE_IOERR_SHMOPEN, .SQLITE_IOERR_LOCK] {
            guard case .readOnly = OutboxError(DatabaseError(resultCode: failure)) else {
                Issue.record("\(failure)")
                continue
            }
        }
    }

    @Test("with too few file descriptors, the error says so, wherever the limit is reached") func descriptors() throws {
        _ = try Outbox(at: path)
        let program = Program("sealedpush").executable.path
        var failureCount = 0
        for limit in 3..<40 {
            let result = try Program(at: "/bin/sh").run([
                "-c", "ulimit -n \(limit) && exec \"$1\" outbox status --outbox \"$2\"", "sh", program, path,
            ])
            guard result.status != 0 else { break }
            #expect(!result.errors.contains("unable to open"), "\(limit): \(result.errors)")
            failureCount += result.errors.contains("too many files are open") ? 1 : 0
        }
        #expect(failureCount > 0)
        #expect(OutboxError.tooManyOpenFiles.description.contains("ulimit -n"))
    }

    @Test("a full disk gives an error that says so, and loses nothing", .enabled(if: Machine.canMount))
    func full() async throws {
        // Fills the disk by enqueueing, delivers while the disk is still full, makes room, and delivers the rest.
        let result = try onOwnDisk(
            """
            "$2" enqueue "$1/outbox.db" "$3" "$4" 0 100000 1 2>&1 | grep -o "disk is full" | head -1
            "$2" work "$1/outbox.db" "$5" 0 empty
            mount -o remount,size=20m "$1" && "$2" work "$1/outbox.db" "$5" 0 empty
            """)
        #expect(result.output.contains("disk is full"))
        #expect(result.status == 0, "\(result.errors)")
        let acknowledged = try Checkout.text(folder.appending("acknowledged")).split(separator: "\n").count
        let sent = try Checkout.text(folder.appending("log")).split(separator: "\n")
        #expect(acknowledged > 20)
        #expect(Set(sent.map { $0.prefix(36) }).count >= acknowledged)
    }

    /// Runs a script with its own small disk: $1 is its folder, $2 the worker, $3 a sender's key, and $4 and $5 are files.
    private func onOwnDisk(_ script: String) throws -> Program.Result {
        let worker = Program("outbox-worker").executable.path
        let disk = folder.appending("disk").path
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        let key = URL(filePath: folder.appending("key").path)
        try SenderPrivateKey().withSecretText { try Data($0).write(to: key) }
        let prepare = "mount -t tmpfs -o size=1m,mode=700 none \"$1\" && \"$2\" register \"$1/outbox.db\" d0 && "
        return try Program(at: "/usr/bin/unshare").run([
            "-rm", "sh", "-c", prepare + "{ \(script)\n}", "sh", disk, worker, key.path,
            folder.appending("acknowledged").path, folder.appending("log").path,
        ])
    }
}
