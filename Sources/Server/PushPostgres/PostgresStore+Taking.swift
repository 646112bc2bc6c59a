#if Postgres
import PushOutbox
import PushSender
import SealedPush
import PushCore

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The start of a search for due queues. Deleted rows stay in an index until a vacuum, which any long transaction
/// delays, and a scan from the beginning visits all of them each time. So a search begins where the first row was last
/// found, minus a margin for transactions in progress. Searches from the beginning take up only a fiftieth of the time.
struct SearchStart: Sendable {
    /// Milliseconds.
    var due: Int64 = .min
    var nextWholeLook: ContinuousClock.Instant = .now

    static let margin: Int64 = 1_000

    /// Returns the time of the next search from the beginning, after one that began at `start`.
    static func nextWholeLook(after start: ContinuousClock.Instant) -> ContinuousClock.Instant {
        .now + (.now - start) * 50
    }
}

extension PostgresStore {
    func take(_ order: LeaseOrder, at now: Int64, _ db: PostgresConnection) throws(OutboxError) -> [Lease] {
        var leases: [Lease] = []
        var lanes = LaneSequence(order)
        while let (priority, limit) = lanes.next(after: leases.count) {
            let lane = QueueLane(carrier: order.carrier, priority: priority.rawValue)
            let places = try due(in: lane, limit: limit, at: now, db)
            let taken = try Self.take(places, order, after: leases.count, at: now, db)
            // Recorded before the next lane, which may be the same one: SKIP LOCKED doesn't skip our own locks.
            try Self.note(taken, until: now + order.duration.milliseconds, db)
            leases += taken.map(\.lease)
        }
        return leases
    }

    func timeUntilDue(by carrier: Carrier) async throws(OutboxError) -> Duration? {
        try await timeUntilDue(by: carrier, from: [:], within: nil)
    }

    /// `searchStarts` are the due times below which no search is made. `limit` is the largest due time searched; every recent
    /// lease lies beyond it.
    func timeUntilDue(
        by carrier: Carrier, from searchStarts: [QueueLane: SearchStart], within limit: Duration?
    ) async throws(OutboxError) -> Duration? {
        try await read { db, now throws(OutboxError) in
            var first: Int64?
            for priority in [10, 5] {
                let lane = QueueLane(carrier: carrier, priority: priority)
                let due = try Self.first(
                    lane, from: searchStarts[lane]?.due ?? .min, upTo: limit.map { now + $0.milliseconds } ?? .max,
                    db)
                if let due { first = min(first ?? due, due) }
            }
            return first.map { DueTimes.delay(until: $0, at: now) }
        }
    }

    /// Queues that are taken from together, in the order in which they are due.
    struct QueueLane: Hashable, Sendable {
        let carrier: Carrier
        let priority: Int

        fileprivate var values: [PostgresValue] { [.text(carrier.description), .int(Int64(priority))] }
    }

    /// Returns the locations of due queues' rows, longest waiting first, and skips those that others hold. They are
    /// locked until the transaction ends.
    private func due(
        in lane: QueueLane, limit: Int, at now: Int64, _ db: PostgresConnection
    ) throws(OutboxError) -> [Int64] {
        var searchStart = searchStarts.withLock { $0[lane] } ?? SearchStart()
        let start = ContinuousClock.now
        // A clock that was set back makes the start uncertain, too.
        let isWhole = start >= searchStart.nextWholeLook || searchStart.due > now
        let lowest = isWhole ? .min : searchStart.due
        var places: [Int64] = []
        for times in DueTimes.searched(at: now) where places.isEmpty {
            places = try Self.due(lane, from: max(lowest, times.first), upTo: times.last, limit: limit, db)
        }
        searchStart.due = max(0, try Self.first(lane, from: lowest, upTo: now, db) ?? now) - SearchStart.margin
        if isWhole { searchStart.nextWholeLook = SearchStart.nextWholeLook(after: start) }
        searchStarts.withLock { $0[lane] = searchStart }
        return places
    }

    /// Returns the first queue between two times, including held ones, because other processes' are searched again.
    private static func first(
        _ lane: QueueLane, from lowest: Int64, upTo highest: Int64, _ db: PostgresConnection
    ) throws(OutboxError) -> Int64? {
        try db.rows(
            """
            SELECT due FROM sealed_push.queues
            WHERE carrier = $1 AND priority = $2 AND due >= $3 AND due <= $4 ORDER BY due LIMIT 1
            """, lane.values + [.int(lowest), .int(highest)]
        ).first?.int("due")
    }

    private static func due(
        _ lane: QueueLane, from lowest: Int64, upTo highest: Int64, limit: Int, _ db: PostgresConnection
    ) throws(OutboxError) -> [Int64] {
        try db.rows(
            """
            SELECT ctid AS place FROM sealed_push.queues
            WHERE carrier = $1 AND priority = $2 AND due >= $3 AND due <= $4
            ORDER BY due LIMIT $5 FOR UPDATE SKIP LOCKED
            """, lane.values + [.int(lowest), .int(highest), .int(Int64(limit))]
        ).map { row throws(OutboxError) in try row.int("place") }
    }

    /// Judges queues' entries, oldest first, until one of each is leased or none is left. All queues advance together:
    /// equal verdicts are carried out by one statement, except for disabled addresses, which are rare. The queues' rows
    /// are locked.
    private static func take(
        _ places: [Int64], _ order: LeaseOrder, after leaseCount: Int, at now: Int64, _ db: PostgresConnection
    ) throws(OutboxError) -> [Found] {
        var (taken, left) = ([Found](), places)
        while !left.isEmpty {
            var (again, empty): ([Int64], [Int64]) = ([], [])
            var (removed, buried): ([String: [Int64]], [String: [Int64]]) = ([:], [:])
            for row in try db.rows(oldestEntries, [.places(left)]) {
                let place = try row.int("place")
                let head = try QueueHead(queue: row, entry: row.optionalInt("id") == nil ? nil : row)
                switch head.judge(for: order, after: leaseCount + taken.count, at: now) {
                case .lease(let lease): taken.append(Found(lease: lease, place: place))
                case .remove(let entry, let outcome):
                    removed[outcome, default: []].append(entry)
                    again.append(place)
                case .bury(let entry, let reason):
                    buried[reason, default: []].append(entry)
                    again.append(place)
                case .buryAll(let device, let reason): try buryAll(of: device, reason: reason, at: now, db)
                case .removeQueue: empty.append(place)
                }
            }
            try removeEmpty(empty, db)
            for (outcome, entries) in removed {
                try removeEntries("id = ANY($1)", [.ints(entries)], PushEnding(outcome, at: now), db)
            }
            for (reason, entries) in buried { try bury(entries, reason: reason, at: now, db) }
            left = again
        }
        return taken
    }

    private static func note(_ taken: [Found], until end: Int64, _ db: PostgresConnection) throws(OutboxError) {
        guard !taken.isEmpty else { return }
        let leases = taken.map(\.lease)
        try db.rows(
            """
            UPDATE sealed_push.queues q
            SET due = $5, lease = x.number, holder = $6, entry = x.entry, head = x.entry, attempts = x.attempts
            FROM unnest($1::tid[], $2::bigint[], $3::bigint[], $4::bigint[]) AS x(place, number, entry, attempts)
            WHERE q.ctid = x.place
            """,
            [
                .places(taken.map(\.place)), .ints(leases.map(\.number)), .ints(leases.map(\.entry)),
                .ints(leases.map { Int64($0.attempts) }), .int(end), .text(hostName),
            ])
    }

    private static let oldestEntries = """
        SELECT q.device, x.place, q.entry, q.attempts, e.id, e.send_until, e.priority, e.enqueued, e.expiration,
            e.apns_id, e.collapse_id, e.body, e.sender, e.code, d.name, d.topic, d.token, d.token_refusal,
            d.is_proven, d.address_code
        FROM unnest($1::tid[]) WITH ORDINALITY AS x(place, n)
        JOIN sealed_push.queues q ON q.ctid = x.place
        CROSS JOIN LATERAL (SELECT \(heads(of: "q"))) AS h
        LEFT JOIN sealed_push.entries e ON e.id = least(h.immediate, h.considerate)
        LEFT JOIN sealed_push.devices d ON d.id = q.device
        ORDER BY x.n
        """

    /// The name that `outbox status` uses to distinguish hosts.
    static let hostName: String = {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "unknown" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }()
}
#endif
