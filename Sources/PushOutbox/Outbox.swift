internal import GRDB
internal import _PushBase

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The server's list of devices and its durable queue of sealed pushes, in one SQLite file.
///
/// What waits in it is unreadable: ``enqueue(_:to:from:priority:expiration:includingUnverified:key:progress:)`` seals and
/// stores in one step, and nothing of a message but its sealed payload is ever written. Once that call has returned, the
/// push is sent at least once, whatever is killed or loses its power; a ``Courier`` does that.
///
/// Several processes may open one file on a local disk (not on a network's) at once, and a value is safe to use from many
/// tasks. The memory it takes does not grow with the number of devices or pushes: about 20 MB. Its files, of which there
/// are up to three, are readable by their owner only, and nobody else may write their folder. Why SQLite: Docs/Decisions/0019-an-outbox-in-sqlite.md.
public final class Outbox: Sendable {
    let clock: OutboxClock
    private let pool: DatabasePool

    /// Opens a file, or makes it.
    ///
    /// The file, what SQLite keeps beside it (`-wal`, `-shm`, `-journal`) and their folder must be the caller's (the folder
    /// may be root's) and nobody else's to write, sticky bit or not: who may make files there decides what is sent to whom.
    ///
    /// - Throws: `exposed`, `damaged`, `foreign`, `tooNew`, `cannotOpen`, `readOnly`, `diskFull`, `busy`.
    public convenience init(at path: String) throws(OutboxError) { try self.init(at: path, clock: .system) }

    /// - Parameter busyLimit: seconds to wait for another process that writes.
    package init(at path: String, clock: OutboxClock, busyLimit: Double = 30) throws(OutboxError) {
        self.clock = clock
        do {
            try OutboxPlace.prepare(path)
            try Self.check(path, busyLimit)
            pool = try Self.connect(path, busyLimit)
            try pool.writeWithoutTransaction { db in
                // The log is synced at each commit: what was acknowledged outlives a power failure, too. On a Mac that
                // takes fullfsync, which means nothing elsewhere.
                try db.execute(
                    sql: """
                        PRAGMA synchronous = FULL; PRAGMA fullfsync = 1;
                        PRAGMA cache_size = -16000; PRAGMA journal_size_limit = 67108864
                        """)
                try db.inTransaction(.immediate) {
                    try Schema.check(db)
                    try Schema.migrate(db)
                    return .commit
                }
            }
        } catch { throw OutboxError(error) }
    }

    /// Runs a transaction to its end, also when the calling task is cancelled.
    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Answer
    ) async throws(OutboxError) -> Answer {
        let result: Result<Answer, any Error> = await withCheckedContinuation { continuation in
            pool.asyncWrite(body) { _, result in continuation.resume(returning: result) }
        }
        do { return try result.get() } catch { throw OutboxError(error) }
    }

    /// Reads from one snapshot; does not wait for writers.
    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Answer
    ) async throws(OutboxError) -> Answer {
        let result: Result<Answer, any Error> = await withCheckedContinuation { continuation in
            pool.asyncRead { access in continuation.resume(returning: Result { try body(try access.get()) }) }
        }
        do { return try result.get() } catch { throw OutboxError(error) }
    }

    /// Writes the log back into the file and empties it; waits for readers.
    func checkpoint() async throws(OutboxError) {
        do { try await pool.barrierWriteWithoutTransaction { db in _ = try db.checkpoint(.truncate) } } catch {
            throw OutboxError(error)
        }
    }

    /// Looks before anything is changed: opening for good switches a file to another kind of log.
    private static func check(_ path: String, _ busyLimit: Double) throws {
        var configuration = configuration(busyLimit)
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.read { try Schema.check($0) }
        try queue.close()
    }

    /// Two processes that make a new file at once may meet where SQLite does not wait by itself.
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
            // Freed space within a page is overwritten, so that tokens of removed devices do not stay there. Whole pages
            // that are free, and the log until it is written back, may still hold some.
            try db.execute(sql: "PRAGMA secure_delete = FAST; PRAGMA cache_size = -4000")
        }
        return configuration
    }
}

/// Where time comes from: the wall clock, since several processes and several days share the file.
package struct OutboxClock: Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package var now: @Sendable () -> Int64
    package var sleep: @Sendable (Duration) async -> Void

    package init(now: @escaping @Sendable () -> Int64, sleep: @escaping @Sendable (Duration) async -> Void) {
        self.now = now
        self.sleep = sleep
    }

    package static let system = OutboxClock(
        now: { Int64(Date().timeIntervalSince1970 * 1_000) },
        sleep: { try? await Task.sleep(for: $0) })
}

extension Duration {
    /// Cut to the millisecond.
    var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
