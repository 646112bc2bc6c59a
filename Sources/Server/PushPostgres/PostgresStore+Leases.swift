#if Postgres
import PushOutbox
import PushSender
import SealedPush
import PushCore

extension PostgresStore {
    /// A carrier's response about an address changes the device's row, which an enqueueing transaction may hold. So
    /// each one is settled in a separate transaction before the rest, or stays unsettled. Any outcome may be submitted
    /// twice.
    func settle(_ exchange: LeaseExchange) async throws(OutboxError) -> LeaseAnswer {
        var (settled, held): ([SettledLease], [SettledLease]) = ([], [])
        for (lease, settlement) in exchange.settled {
            guard settlement.concernsAddress else {
                settled.append((lease, settlement))
                continue
            }
            do throws(OutboxError) {
                let left = try await writeUnlessHeld { db, now throws(OutboxError) in
                    try Self.settleAddress(of: lease, settlement, at: now, db)
                }
                if let left { settled.append((lease, left)) }
            } catch {
                guard error == .deviceBusy else { throw error }
                held.append((lease, settlement))
            }
        }
        guard !settled.isEmpty || !exchange.extended.isEmpty || exchange.order != nil else {
            var answer = LeaseAnswer()
            answer.unsettled = held
            return answer
        }
        let answer = try await write { [settled, held] db, now throws(OutboxError) in
            var answer = LeaseAnswer()
            answer.unsettled =
                try held
                + Self.settle(settled, extending: exchange.extended, by: exchange.hold, at: now, db)
            if var order = exchange.order {
                order.removesExpired = order.removesExpired && self.isCertain(now)
                answer.leases = try self.take(order, at: now, db)
            }
            return answer
        }
        await turnIfDue(after: answer.leases.count)
        return answer
    }

    func hasProvenAddress(of carrier: Carrier) async throws(OutboxError) -> Bool {
        try await read { db, _ throws(OutboxError) in
            let sql = "SELECT 1 FROM sealed_push.devices WHERE is_proven AND carrier = $1 LIMIT 1"
            return try !db.rows(sql, [.text(carrier.description)]).isEmpty
        }
    }

    // MARK: Outcomes of leases

    /// Returns the outcomes that couldn't be recorded, because another transaction is enqueueing to the device.
    private static func settle(
        _ settled: [SettledLease], extending extended: [Lease], by hold: Duration, at now: Int64,
        _ db: PostgresConnection
    ) throws(OutboxError) -> [SettledLease] {
        guard !settled.isEmpty || !extended.isEmpty else { return [] }
        try changeEntries(settled, at: now, db)
        // The following statements see every entry enqueued to these devices before their rows were locked.
        let places = try lockQueues(of: (settled.map(\.lease) + extended).map(\.device), skipsLocked: true, db)
        let held = extended.compactMap { lease in places[lease.device].map { Found(lease: lease, place: $0) } }
        if !held.isEmpty {
            try db.rows(
                """
                UPDATE sealed_push.queues q SET due = $3 FROM unnest($1::tid[], $2::bigint[]) AS x(place, number)
                WHERE q.ctid = x.place AND q.lease = x.number
                """,
                [
                    .places(held.map(\.place)), .ints(held.map(\.lease.number)), .int(now + hold.milliseconds),
                ])
        }
        var (ended, released): ([Found], [(found: Found, due: Int64, attempts: Int)]) = ([], [])
        var unsettled: [SettledLease] = []
        for (lease, settlement) in settled {
            guard let place = places[lease.device] else {
                unsettled.append((lease, settlement))
                continue
            }
            let found = Found(lease: lease, place: place)
            for change in settlement.changes(to: lease) {
                switch change {
                case .release(let delay, let attempts):
                    released.append((found, now + delay.milliseconds, attempts))
                case .advance: ended.append(found)
                // Made by `changeEntries` and `settleAddress`.
                case .remove, .bury, .prove, .dropAddress, .disableAddress, .discardAll, .buryAll: break
                }
            }
        }
        try release(released, db)
        try advance(ended, at: now, db)
        guard !unsettled.isEmpty else { return [] }
        // Outcomes whose lease is gone no longer affect the queue.
        let rows = try db.rows(
            "SELECT lease FROM sealed_push.queues WHERE \(areOf)", [.ints(unsettled.map(\.lease.device))])
        let numbers = Set(try rows.map { row throws(OutboxError) in try row.optionalInt("lease") })
        return unsettled.filter { numbers.contains($0.lease.number) }
    }

    /// A lease, and the location of its device's row, which is locked until the transaction ends.
    struct Found {
        let lease: Lease
        let place: Int64
    }

    /// Makes the changes to entries and addresses, no matter who holds the lease now.
    private static func changeEntries(
        _ settled: [SettledLease], at now: Int64, _ db: PostgresConnection
    ) throws(OutboxError) {
        var removed: [String: [Int64]] = [:]
        var (proven, buried): ([Lease], [(lease: Lease, reason: String)]) = ([], [])
        for (lease, settlement) in settled {
            for change in settlement.changes(to: lease) {
                switch change {
                case .remove(let outcome): removed[outcome, default: []].append(lease.entry)
                case .prove: proven.append(lease)
                case .bury(let reason): buried.append((lease, reason))
                // Made by `settleAddress`, or once the queues' rows are locked.
                case .dropAddress, .disableAddress, .discardAll, .buryAll, .release, .advance: break
                }
            }
        }
        for (outcome, entries) in removed {
            try removeEntries("id = ANY($1)", [.ints(entries.sorted())], PushEnding(outcome, at: now), db)
        }
        try prove(proven, db)
        for (lease, reason) in buried {
            try bury([lease.entry], reason: reason, attempts: lease.attempts, at: now, db)
        }
    }

    /// Records that the carrier accepts pushes for these addresses. Skips a device's row that is held by another
    /// transaction: the next push provides the information again.
    private static func prove(_ leases: [Lease], _ db: PostgresConnection) throws(OutboxError) {
        guard !leases.isEmpty else { return }
        try db.rows(
            """
            UPDATE sealed_push.devices SET is_proven = true WHERE id IN (
                SELECT d.id FROM unnest($1::bigint[], $2::bytea[]) AS x(id, token)
                JOIN sealed_push.devices d ON d.id = x.id AND d.token = x.token
                WHERE NOT d.is_proven FOR UPDATE OF d SKIP LOCKED)
            """, [.ints(leases.map(\.device)), .byteArrays(leases.map { $0.request.address.bytes })])
    }

    private static func release(
        _ released: [(found: Found, due: Int64, attempts: Int)], _ db: PostgresConnection
    ) throws(OutboxError) {
        guard !released.isEmpty else { return }
        try db.rows(
            """
            UPDATE sealed_push.queues q SET due = x.due, lease = NULL, holder = NULL, attempts = x.attempts
            FROM unnest($1::tid[], $2::bigint[], $3::bigint[], $4::bigint[]) AS x(place, number, due, attempts)
            WHERE q.ctid = x.place AND q.lease = x.number
            """,
            [
                .places(released.map(\.found.place)), .ints(released.map(\.found.lease.number)),
                .ints(released.map(\.due)), .ints(released.map { Int64($0.attempts) }),
            ])
    }

    /// Advances to devices' next entries once their heads are gone. If another courier has a lease now, its row stays: a
    /// newer entry must wait until that courier settles the old one.
    private static func advance(_ found: [Found], at now: Int64, _ db: PostgresConnection) throws(OutboxError) {
        guard !found.isEmpty else { return }
        try removeEmpty(found.map(\.place), heldBy: found.map(\.lease.number), db)
        try db.rows(
            """
            UPDATE sealed_push.queues q SET due = $3, lease = NULL, holder = NULL, entry = NULL, attempts = 0,
                head = least(h.immediate, h.considerate),
                priority = CASE WHEN h.immediate IS NULL THEN 5 ELSE 10 END
            FROM unnest($1::tid[], $2::bigint[]) AS x(place, number)
                JOIN sealed_push.queues o ON o.ctid = x.place AND o.lease = x.number,
                LATERAL (SELECT \(heads(of: "o"))) AS h
            WHERE q.ctid = o.ctid
            """, [.places(found.map(\.place)), .ints(found.map(\.lease.number)), .int(now)])
    }

    /// Removes the queues without waiting entries. The rows at these locations are locked. With `leases`, keeps those that
    /// are leased under another number.
    static func removeEmpty(
        _ places: [Int64], heldBy leases: [Int64]? = nil, _ db: PostgresConnection
    ) throws(OutboxError) {
        guard !places.isEmpty else { return }
        try db.rows(
            """
            DELETE FROM sealed_push.queues q USING unnest($1::tid[], $2::bigint[]) AS x(place, number)
                JOIN sealed_push.queues o ON o.ctid = x.place, LATERAL (SELECT \(heads(of: "o"))) AS h
            WHERE q.ctid = o.ctid AND h.immediate IS NULL AND h.considerate IS NULL
                AND coalesce(o.lease = x.number, true)
            """, [.places(places), .ints(leases ?? [])])
    }

    /// Returns SQL for the oldest waiting entry of each lane: one index lookup, however many entries wait or are gone.
    static func heads(of queue: String) -> String {
        [(10, "immediate"), (5, "considerate")].map { priority, name in
            """
            (SELECT id FROM sealed_push.entries e WHERE e.device = \(queue).device AND e.priority = \(priority)
                AND e.id + 0 >= \(queue).head ORDER BY e.id + 0 LIMIT 1) AS \(name)
            """
        }.joined(separator: ",\n")
    }

    // MARK: Addresses

    /// Makes the changes to an address and to all that waits for it, or returns the outcome left to settle.
    private static func settleAddress(
        of lease: Lease, _ settlement: Settlement, at now: Int64, _ db: PostgresConnection
    ) throws(OutboxError) -> Settlement? {
        let registered = try db.rows(
            """
            SELECT token_registered FROM sealed_push.devices
            WHERE id = $1 AND token = $2 AND token_refusal IS NULL FOR UPDATE
            """, [.int(lease.device), .bytes(lease.request.address.bytes)]
        ).first?.int("token_registered")
        let settlement = settlement.resolved(registered: registered)
        guard settlement.concernsAddress else { return settlement }
        for change in settlement.changes(to: lease, registered: registered) {
            switch change {
            case .dropAddress(let reason): try disable(lease.device, "token = NULL, token_refusal = $1", reason, db)
            case .disableAddress(let reason): try disable(lease.device, "token_refusal = $1", reason, db)
            case .discardAll(let outcome):
                try discardAll(of: lease.device, outcome, at: now, db)
            case .bury(let reason):
                try bury([lease.entry], reason: reason, attempts: lease.attempts, at: now, db)
            case .buryAll(let reason): try buryAll(of: lease.device, reason: reason, at: now, db)
            // Not for addresses.
            case .remove, .prove, .release, .advance: break
            }
        }
        return nil
    }

    /// Changes columns of a device's address, so that it has none that is used.
    static func disable(
        _ device: Int64, _ columns: String, _ reason: String, _ db: PostgresConnection
    ) throws(OutboxError) {
        try db.rows(
            "UPDATE sealed_push.devices SET \(columns), is_proven = false, \(nextRevision) WHERE id = $2",
            [.text(reason), .int(device)])
    }

    // MARK: Devices' rows in the queue

    /// Locks devices' rows in `queues` until the transaction ends, and returns their locations by device. Omits rows
    /// that are leased at `now`. With `skipsLocked`, skips rows that others hold instead of waiting.
    static func lockQueues(
        of devices: [Int64], freeAt now: Int64? = nil, skipsLocked: Bool = false, _ db: PostgresConnection
    ) throws(OutboxError) -> [Int64: Int64] {
        guard !devices.isEmpty else { return [:] }
        let rows = try db.rows(
            """
            SELECT device, ctid AS place FROM sealed_push.queues
            WHERE \(areOf) AND ($2::bigint IS NULL OR lease IS NULL OR due <= $2)
            FOR UPDATE \(skipsLocked ? "SKIP LOCKED" : "")
            """, [.ints(devices), .int(now)])
        let places = try rows.map { row throws(OutboxError) in (try row.int("device"), try row.int("place")) }
        return Dictionary(places, uniquingKeysWith: { first, _ in first })
    }

    /// Whether a row is one of the devices `$1`. Both generations are in one condition, which still holds for a row
    /// that is moved from one to the other while this waits for its lock.
    private static let areOf = """
        generation = ANY(ARRAY(SELECT unnest(ARRAY[current - 1, current]) FROM sealed_push.generations))
        AND device = ANY($1)
        """

    /// Starts another generation once in a while. If the server fails, the next exchange will notice, too.
    private func turnIfDue(after leaseCount: Int) async {
        let isDue = takenSinceTurn.withLock { count in
            count += leaseCount
            guard count >= Self.turnInterval else { return false }
            count = 0
            return true
        }
        if isDue { _ = try? await turn() }
    }

    /// Starts another generation if possible, and returns whether it did.
    func turn() async throws(OutboxError) -> Bool {
        try await write { db, _ throws(OutboxError) in
            try db.row("SELECT sealed_push.turn() AS has_begun").bool("has_begun")
        }
    }

    private static let turnInterval = 10_000
}
#endif
