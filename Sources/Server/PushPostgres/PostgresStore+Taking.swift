#if Postgres
    import PushOutbox
    import PushSender
    import SealedPush
    import PushCore

    /// Where a look for due queues begins.
    ///
    /// Rows that were deleted stay in an index until a vacuum, which any long transaction holds up, and a scan from the beginning
    /// walks through all of them each time. So it begins where the first row was found last time, less a margin for
    /// transactions that were under way; and from the beginning again and again, as seldom as it was slow.
    struct Floor: Sendable {
        var due: Int64 = .min
        var nextWhole: ContinuousClock.Instant = .now
        /// When a whole look costs little of all the time, if there is cause for one.
        var earliestWhole: ContinuousClock.Instant = .now
        var nextRise: ContinuousClock.Instant = .now

        /// Whether to look at all of it now; for a while others then need not.
        mutating func beginsWhole() -> Bool {
            guard ContinuousClock.now >= nextWhole else { return false }
            nextWhole = .now + Self.wholeInterval
            return true
        }

        /// When another whole look costs little of all the time, after one that began at `start`.
        static func nextWhole(after start: ContinuousClock.Instant) -> ContinuousClock.Instant {
            .now + (.now - start) * 50
        }

        static let wholeInterval = Duration.seconds(5)
        /// Milliseconds.
        static let margin: Int64 = 1_000
        static func lane(_ priority: Int, _ carrier: Carrier) -> String { "\(priority) \(carrier)" }
        static let interval = Duration.milliseconds(200)
    }

    extension PostgresStore {
        static func take(
            _ order: LeaseOrder, at now: Int64, _ floors: Locked<[String: Floor]>, _ places: Locked<[Int64: Int64]>,
            _ db: PostgresConnection
        ) throws(OutboxError) -> [Lease] {
            var taken = Taken()
            // A share for the considerate lane, the rest for the immediate one, and what that leaves for the other again.
            let lanes = [(5, order.considerateCount), (10, order.count), (5, order.count)]
            for (priority, limit) in lanes {
                let free = min(limit, order.count - taken.leases.count)
                guard free > 0 else { continue }
                let queues = try due(order.carrier, priority: priority, limit: free, at: now, floors, db)
                let count = taken.leases.count
                try take(queues, order, at: now, into: &taken, db)
                // Before the next lane, which may be the same: what is locked by ourselves is passed over by nobody.
                try note(
                    taken.leases[count...], at: queues, of: order, until: now + order.duration.milliseconds, places, db)
            }
            try tally(Tally.expired, taken.expiredCount, at: now, db)
            return taken.leases
        }

        /// A row of `queues` that is ours until the transaction's end.
        private struct DueQueue {
            let device: Int64
            let due: Int64
            let place: Int64
        }

        private struct Taken {
            var leases: [Lease] = []
            var expiredCount = 0
        }

        /// Whose time has come, longest waiting first; passes over those that others hold. What lies further ahead than any delay
        /// we give was noted before the clock was set back: it is due, too.
        private static func due(
            _ carrier: Carrier, priority: Int, limit: Int, at now: Int64, _ floors: Locked<[String: Floor]>,
            _ db: PostgresConnection
        ) throws(OutboxError) -> [DueQueue] {
            let lane = Floor.lane(priority, carrier)
            let start = ContinuousClock.now
            let (floor, isWhole) = floors.withLock { floors in
                let isWhole = floors[lane, default: Floor()].beginsWhole()
                return (floors[lane, default: Floor()], isWhole)
            }
            // A clock that was set back, too, makes all of it uncertain.
            let lowest = isWhole || floor.due > now ? .min : floor.due
            var queues = try due("due > $3 AND due <= $4", carrier, priority, [.int(lowest), .int(now)], limit, db)
            var next = floor
            if lowest == .min || start >= floor.nextRise {
                let first = try first(carrier, priority, above: lowest, upTo: now, db) ?? now
                next.due = max(0, min(queues.first?.due ?? now, first)) - Floor.margin
                next.nextRise = .now + Floor.interval
            }
            if lowest == .min {
                next.earliestWhole = Floor.nextWhole(after: start)
                next.nextWhole = max(next.earliestWhole, .now + Floor.wholeInterval)
            }
            floors.withLock { $0[lane] = next }
            if queues.isEmpty {
                queues = try due(
                    "due > $3 AND due <= $4", carrier, priority, [.int(now + Lease.longestDelay), .int(.max)], limit, db
                )
            }
            return queues
        }

        /// The first queue between two times, those included that others hold: they are looked for again.
        static func first(
            _ carrier: Carrier, _ priority: Int, above lowest: Int64, upTo highest: Int64, _ db: PostgresConnection
        ) throws(OutboxError) -> Int64? {
            try db.rows(
                """
                SELECT due FROM sealed_push.queues
                WHERE carrier = $1 AND priority = $2 AND due > $3 AND due <= $4 ORDER BY due LIMIT 1
                """, [.text(carrier.description), .int(Int64(priority)), .int(lowest), .int(highest)]
            ).first?.int("due")
        }

        private static func due(
            _ condition: String, _ carrier: Carrier, _ priority: Int, _ bounds: [PostgresValue], _ limit: Int,
            _ db: PostgresConnection
        ) throws(OutboxError) -> [DueQueue] {
            let rows = try db.rows(
                """
                SELECT device, due, ctid AS place FROM sealed_push.queues
                WHERE carrier = $1 AND priority = $2 AND \(condition) ORDER BY due LIMIT $5 FOR UPDATE SKIP LOCKED
                """,
                [.text(carrier.description), .int(Int64(priority))] + bounds + [.int(Int64(limit))])
            return try rows.map { row throws(OutboxError) in
                DueQueue(device: try row.int("device"), due: try row.int("due"), place: try row.int("place"))
            }
        }

        /// Takes devices' oldest entries, dropping those before them that are stale; their queues' rows are ours.
        private static func take(
            _ queues: [DueQueue], _ order: LeaseOrder, at now: Int64, into taken: inout Taken, _ db: PostgresConnection
        ) throws(OutboxError) {
            var left = queues.map(\.place)
            while !left.isEmpty {
                let rows = try db.rows(heads, [.places(left)])
                var (again, stale, empty): ([Int64], [Int64], [Int64]) = ([], [], [])
                for row in try rows.map({ row throws(OutboxError) in row }) {
                    let (device, place) = (try row.int("device"), try row.int("place"))
                    guard let head = try row.optionalInt("id") else {
                        empty.append(place)
                        continue
                    }
                    if now >= (try row.int("stale")) {
                        stale.append(head)
                        again.append(place)
                        continue
                    }
                    let refusal = try row.optionalText("token_refusal")
                    let address = try row.optionalBytes("token")
                    if refusal != nil || address == nil {
                        // Its app has taken the address away, or its carrier has.
                        let reason = refusal ?? SkipReason.noToken.rawValue
                        try tally(Tally.dead(reason), buryAll(of: device, reason: reason, at: now, db), at: now, db)
                    } else if let entry = try? EntryRow(row), let request = entry.request(of: order.carrier) {
                        let isSame = try row.optionalInt("entry") == head
                        let attempts = isSame ? min(try row.count("attempts"), Lease.countedAttempts) + 1 : 1
                        taken.leases.append(
                            Lease(
                                device: device, entry: head, number: order.firstNumber + Int64(taken.leases.count),
                                attempts: attempts, request: request, entryRow: entry))
                    } else {
                        // Somebody has been in the database: it costs this one, not all others.
                        try tally(Tally.dead("malformed"), bury([head], reason: "malformed", at: now, db), at: now, db)
                        again.append(place)
                    }
                }
                if !empty.isEmpty { try removeEmpty(empty, db) }
                if !stale.isEmpty, !order.removesStale {
                    _ = try bury(stale, reason: Tally.expired, at: now, db)
                } else if !stale.isEmpty {
                    try db.rows("DELETE FROM sealed_push.entries WHERE id = ANY($1)", [.ints(stale)])
                }
                taken.expiredCount += stale.count
                left = again
            }
        }

        private static func note(
            _ leases: ArraySlice<Lease>, at queues: [DueQueue], of order: LeaseOrder, until end: Int64,
            _ places: Locked<[Int64: Int64]>, _ db: PostgresConnection
        ) throws(OutboxError) {
            guard !leases.isEmpty else { return }
            let found = Dictionary(queues.map { ($0.device, $0.place) }, uniquingKeysWith: { first, _ in first })
            let rows = try db.rows(
                """
                UPDATE sealed_push.queues q
                SET due = $5, lease = x.number, holder = $6, entry = x.entry, head = x.entry, attempts = x.attempts
                FROM unnest($1::tid[], $2::bigint[], $3::bigint[], $4::bigint[]) AS x(place, number, entry, attempts)
                WHERE q.ctid = x.place RETURNING q.device, q.ctid AS place
                """,
                [
                    .places(leases.compactMap { found[$0.device] }), .ints(leases.map(\.number)),
                    .ints(leases.map(\.entry)), .ints(leases.map { Int64($0.attempts) }), .int(end), .text(hostName),
                ])
            try remember(rows, places)
        }

        private static let heads = """
            SELECT q.device, x.place, q.entry, q.attempts, e.id, e.stale, d.token_refusal, \(rowColumns)
            FROM unnest($1::tid[]) WITH ORDINALITY AS x(place, n)
            JOIN sealed_push.queues q ON q.ctid = x.place
            LEFT JOIN LATERAL (
                SELECT * FROM (
                    (SELECT * FROM sealed_push.entries WHERE device = q.device AND priority = 10 AND id + 0 >= q.head
                        ORDER BY id + 0 LIMIT 1)
                    UNION ALL
                    (SELECT * FROM sealed_push.entries WHERE device = q.device AND priority = 5 AND id + 0 >= q.head
                        ORDER BY id + 0 LIMIT 1)) AS lanes ORDER BY id LIMIT 1) AS e ON true
            LEFT JOIN sealed_push.devices d ON d.id = q.device LEFT JOIN sealed_push.senders s ON s.id = e.sender
            ORDER BY x.n
            """

        static let rowColumns = """
            e.priority, e.enqueued, e.expiration, e.apns_id, e.collapse_id, e.body, e.code, d.name, d.topic, d.token, d.is_proven,
            d.address_code, s.key AS sender
            """

        /// By which `outbox status` tells hosts apart.
        static let hostName: String = {
            var name = [CChar](repeating: 0, count: 256)
            guard gethostname(&name, name.count - 1) == 0 else { return "unknown" }
            return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }()
    }
#endif
