internal import GRDB
internal import PushCore
import PushSender

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// An outbox in one SQLite file.
final class SQLiteStore: OutboxStore {
    let clock: OutboxClock
    private let pool: any DatabaseWriter
    /// The files that the connections use.
    private let files: OpenFiles

    /// Waits `busyLimit` seconds for another process's write. `isReadOnly` opens an outbox on a read-only file system.
    init(at path: String, clock: OutboxClock, busyLimit: Double, isReadOnly: Bool = false) throws(OutboxError) {
        self.clock = clock
        do {
            try OutboxPlace.prepare(path, isReadOnly: isReadOnly)
            guard !isReadOnly else {
                pool = try Self.check(Self.unchanging(path), busyLimit, isReadOnly: true)
                files = try OpenFiles(path)
                return
            }
            let file = try OpenFiles(path)
            try Self.check(path, busyLimit).close()
            pool = try Self.connect(path, busyLimit)
            try pool.writeWithoutTransaction { db in
                // The log is synced at each commit, so that acknowledged pushes survive even a power failure. On a Mac,
                // that requires fullfsync, which has no effect elsewhere.
                try db.execute(
                    sql: """
                        PRAGMA synchronous = FULL; PRAGMA fullfsync = 1;
                        PRAGMA cache_size = -16000; PRAGMA journal_size_limit = 67108864
                        """)
                try db.inTransaction(.immediate) {
                    try Schema.check(db)
                    try Schema.make(db)
                    return .commit
                }
            }
            try file.check()
            files = try OpenFiles(path, beside: ["-wal", "-shm"])
        } catch { throw OutboxError(error, errno: errno) }
    }

    /// Other processes that enqueue into the file can't send a notification, so the courier polls.
    func rest(for duration: Duration, by carrier: Carrier) async { await clock.sleep(duration) }

    func mark() async throws(OutboxError) -> [UInt8]? {
        try await read { db in try (db.value("SELECT mark FROM marks") as Data?).map { Array($0) } }
    }

    /// Sets the mark once; an existing mark stays.
    func setMark(_ mark: [UInt8]) async throws(OutboxError) {
        try await write { db, _ in
            try db.run("INSERT INTO marks(mark) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM marks)", [mark.blob])
        }
    }

    func requireWritable() async throws(OutboxError) {
        // A small write may fit into space that the log already has, even if the next message would not.
        var facts = statvfs()
        if statvfs(pool.path, &facts) == 0, UInt(facts.f_bavail) * facts.f_frsize < 1 << 20 { throw .diskFull }
        try await write { db, _ in try db.execute(sql: "PRAGMA user_version = \(Schema.userVersion(db))") }
    }

    func requireRegistering() async throws(OutboxError) { try await write { _, _ in } }

    /// Runs a transaction to completion, even if the calling task is canceled, and passes it the current time.
    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (Database, Int64) throws -> Answer
    ) async throws(OutboxError) -> Answer {
        let result: Result<Answer, OutboxError> = await withCheckedContinuation { continuation in
            pool.asyncWrite { [files, clock] db in
                errno = 0
                try files.check()
                return try body(db, ClockTable.now(by: clock, in: db))
            } completion: { _, result in
                let code = errno
                continuation.resume(returning: result.mapError { OutboxError($0, errno: code) })
            }
        }
        let answer = try result.get()
        // Otherwise, the transaction may be in a file that is gone.
        try files.check()
        return answer
    }

    /// Reads from one snapshot, without waiting for writers.
    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Answer
    ) async throws(OutboxError) -> Answer {
        let result: Result<Answer, OutboxError> = await withCheckedContinuation { continuation in
            pool.asyncRead { [files] access in
                let code = errno
                continuation.resume(
                    returning: access.mapError { OutboxError($0, errno: code) }.flatMap { db in
                        errno = 0
                        return Result {
                            try files.check()
                            return try body(db)
                        }.mapError { OutboxError($0, errno: errno) }
                    })
            }
        }
        return try result.get()
    }

    /// Writes the log back into the file and empties it; waits for readers.
    func checkpoint() async throws(OutboxError) {
        do { try await pool.barrierWriteWithoutTransaction { db in _ = try db.checkpoint(.truncate) } } catch {
            throw OutboxError(error)
        }
    }

    /// For a file without a log, which isn't open anywhere, returns a URL that makes SQLite read it without creating an
    /// index. If there is a log, it is read, and its index must exist. Source: SQLite, "Write-Ahead Logging", 7.
    private static func unchanging(_ path: String) -> String {
        access(path + "-wal", F_OK) == 0 ? path : URL(filePath: path).absoluteString + "?immutable=1"
    }

    /// Checks the file before anything is changed: opening it for writing switches it to another type of log.
    private static func check(_ path: String, _ busyLimit: Double, isReadOnly: Bool = false) throws -> DatabaseQueue {
        var configuration = configuration(busyLimit)
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.read { try Schema.check($0, isReadOnly: isReadOnly) }
        return queue
    }

    /// Two processes that create a new file at once may collide where SQLite doesn't wait by itself.
    private static func connect(_ path: String, _ busyLimit: Double) throws -> DatabasePool {
        for _ in 0..<50 {
            do {
                return try DatabasePool(path: path, configuration: configuration(busyLimit))
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY { usleep(20_000) }
        }
        throw OutboxError.busy
    }

    private static func configuration(_ busyLimit: Double) -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(busyLimit)
        configuration.maximumReaderCount = 2
        configuration.label = "outbox"
        configuration.prepareDatabase { db in
            // Freed space within a page is overwritten, so that tokens of removed devices don't stay there. Whole free
            // pages, and the log until it is written back, may still contain some.
            try db.execute(sql: "PRAGMA secure_delete = FAST; PRAGMA cache_size = -4000")
        }
        return configuration
    }
}

/// Each runs one statement, prepared on first use.
extension Database {
    func run(_ sql: String, _ arguments: StatementArguments) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    func rows(_ sql: String, _ arguments: StatementArguments) throws -> [SQLiteRow] {
        let statement = try cachedStatement(sql: sql)
        return try Array(Row.fetchCursor(statement, arguments: arguments).map { SQLiteRow($0, of: statement) })
    }

    func row(_ sql: String, _ arguments: StatementArguments) throws -> SQLiteRow? {
        let statement = try cachedStatement(sql: sql)
        return try Row.fetchOne(statement, arguments: arguments).map { SQLiteRow($0, of: statement) }
    }

    func value<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ sql: String, _ arguments: StatementArguments = []
    ) throws -> Value? {
        try Value.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }
}

extension [UInt8] {
    /// The bytes as a statement's argument.
    var blob: DatabaseValue { Data(self).databaseValue }
}
