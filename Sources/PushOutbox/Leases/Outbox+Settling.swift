internal import GRDB
import PushSender
import SealedPush

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension Outbox {
    /// Notes what became of one lease.
    ///
    /// A lease may have been lost in the meantime, to whoever took it after its deadline. What its carrier said about the entry
    /// or the address is true all the same; only the device's place in the queue is then left to the new holder.
    static func settle(_ lease: Lease, _ settlement: Settlement, at now: Int64, in db: Database) throws {
        switch settlement {
        case .accepted:
            try prove(lease, in: db)
            if try EntryTable.remove(lease.entry, in: db) { try Tally.add(Tally.accepted, at: now, in: db) }
            try QueueTable.advance(lease, at: now, in: db)
        case .later(let delay):
            try QueueTable.release(lease, until: now + delay.milliseconds, isAttempt: true, in: db)
        case .returned:
            try QueueTable.release(lease, until: now, isAttempt: false, in: db)
        case .dead(let reason):
            if try EntryTable.bury(lease.entry, reason: reason, attempts: lease.attempts, at: now, in: db) {
                try Tally.add(Tally.dead(reason), at: now, in: db)
            }
            try QueueTable.advance(lease, at: now, in: db)
        case .addressGone(let reason, let since, let delay):
            try removeAddress(of: lease, reason: reason, since: since, otherwise: delay, at: now, in: db)
        case .addressRefused(let reason):
            try disableAddress(of: lease, reason: reason, at: now, in: db)
        }
    }

    /// Remembers, once, that the carrier takes pushes for the address.
    private static func prove(_ lease: Lease, in db: Database) throws {
        guard !lease.request.isProven else { return }
        try db.cachedStatement(sql: "UPDATE devices SET is_proven = 1 WHERE id = ? AND token = ?")
            .execute(arguments: [lease.device, Data(lease.request.address.bytes)])
    }

    private static func removeAddress(
        of lease: Lease, reason: String, since: Timestamp, otherwise delay: Duration, at now: Int64, in db: Database
    ) throws {
        guard let registered = try registration(of: lease, in: db) else {
            return try QueueTable.release(lease, until: now, isAttempt: false, in: db)
        }
        // Whole seconds, both cut: the same second counts as registered since.
        if registered / 1_000 >= since.secondsSince1970 {
            return try QueueTable.release(lease, until: now + delay.milliseconds, isAttempt: true, in: db)
        }
        try db.execute(
            sql:
                "UPDATE devices SET token = NULL, token_refusal = ?, is_proven = 0, revision = revision + 1 WHERE id = ?",
            arguments: [reason, lease.device])
        let count = try EntryTable.discardAll(of: lease.device, in: db)
        try Tally.add(Tally.dropped(reason), count, at: now, in: db)
    }

    private static func disableAddress(of lease: Lease, reason: String, at now: Int64, in db: Database) throws {
        guard try registration(of: lease, in: db) != nil else {
            return try QueueTable.release(lease, until: now, isAttempt: false, in: db)
        }
        try db.execute(
            sql: "UPDATE devices SET token_refusal = ?, is_proven = 0, revision = revision + 1 WHERE id = ?",
            arguments: [reason, lease.device])
        let isHeadThere = try EntryTable.bury(lease.entry, reason: reason, attempts: lease.attempts, at: now, in: db)
        let count = try EntryTable.buryAll(of: lease.device, reason: reason, at: now, in: db)
        try Tally.add(Tally.dead(reason), count + (isHeadThere ? 1 : 0), at: now, in: db)
    }

    /// When the address that was sent to was registered, in milliseconds; nil where the device has another by now.
    private static func registration(of lease: Lease, in db: Database) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(
                sql: "SELECT token_registered FROM devices WHERE id = ? AND token = ? AND token_refusal IS NULL"),
            arguments: [lease.device, Data(lease.request.address.bytes)])
    }
}
