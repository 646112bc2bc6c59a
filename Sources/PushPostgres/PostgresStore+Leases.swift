#if Postgres
    import PushOutbox
    import PushSender
    import SealedPush
    import _PushBase

    extension PostgresStore {
        /// What is said of an address changes the device's row, for which whoever enqueues may make us wait: each in a transaction
        /// of its own, before the rest. All of it may be handed in twice.
        func settle(_ exchange: LeaseExchange) async throws(OutboxError) -> LeaseAnswer {
            var ordinary: [(lease: Lease, settlement: Settlement)] = []
            for (lease, settlement) in exchange.settled {
                switch settlement {
                case .addressGone(let reason, let since, let delay):
                    let isGone = try await write { db, now throws(OutboxError) in
                        try Self.removeAddress(of: lease, reason: reason, since: since, at: now, db)
                    }
                    switch isGone {
                    case .other: ordinary.append((lease, .returned))
                    case .registeredSince: ordinary.append((lease, .later(delay)))
                    case .removed: break
                    }
                case .addressRefused(let reason):
                    let isDisabled = try await write { db, now throws(OutboxError) in
                        try Self.disableAddress(of: lease, reason: reason, at: now, db)
                    }
                    if !isDisabled { ordinary.append((lease, .returned)) }
                default: ordinary.append((lease, settlement))
                }
            }
            let (settled, floors) = (ordinary, self.floors)
            guard !settled.isEmpty || !exchange.extended.isEmpty || exchange.order != nil else { return LeaseAnswer() }
            return try await write { db, now throws(OutboxError) in
                var answer = LeaseAnswer()
                answer.unsettled = try Self.settle(
                    settled, extending: exchange.extended, by: exchange.hold, at: now, db)
                if let order = exchange.order { answer.leases = try Self.take(order, at: now, floors, db) }
                return answer
            }
        }

        func timeUntilDue(by carrier: Carrier) async throws(OutboxError) -> Duration? {
            try await read { db, now throws(OutboxError) in
                let rows = try db.rows(
                    """
                    SELECT least(
                        (SELECT due FROM sealed_push.queues WHERE carrier = $1 AND priority = 10 ORDER BY due LIMIT 1),
                        (SELECT due FROM sealed_push.queues WHERE carrier = $1 AND priority = 5 ORDER BY due LIMIT 1)
                    ) AS due
                    """, [.text(carrier.description)])
                return try rows.first?.optionalInt("due").map { .milliseconds($0 - now) }
            }
        }

        // MARK: What became of leases

        /// Returns what could not be noted, since somebody is enqueueing to the device.
        private static func settle(
            _ settled: [(lease: Lease, settlement: Settlement)], extending extended: [Lease], by hold: Duration,
            at now: Int64, _ db: PostgresConnection
        ) throws(OutboxError) -> [(lease: Lease, settlement: Settlement)] {
            guard !settled.isEmpty || !extended.isEmpty else { return [] }
            try removeEntries(settled, at: now, db)
            let free = try lockQueues((settled.map(\.lease) + extended), db)
            try prolong(extended.filter { free.contains($0.device) }, until: now + hold.milliseconds, db)
            var (ended, released): ([Lease], [(lease: Lease, due: Int64, isAttempt: Bool)]) = ([], [])
            var unsettled: [(lease: Lease, settlement: Settlement)] = []
            for (lease, settlement) in settled {
                guard free.contains(lease.device) else {
                    unsettled.append((lease, settlement))
                    continue
                }
                switch settlement {
                case .accepted, .dead: ended.append(lease)
                case .later(let delay): released.append((lease, now + delay.milliseconds, true))
                case .returned, .addressGone, .addressRefused: released.append((lease, now, false))
                }
            }
            try release(released, db)
            try advance(ended, at: now, db)
            return try held(unsettled, db)
        }

        /// What was taken is removed, what is dead buried: whoever holds the lease now, and without a look at the queue.
        private static func removeEntries(
            _ settled: [(lease: Lease, settlement: Settlement)], at now: Int64, _ db: PostgresConnection
        ) throws(OutboxError) {
            let accepted = settled.filter { $0.settlement == .accepted }.map(\.lease)
            if !accepted.isEmpty {
                let removed = try db.rows(
                    "DELETE FROM sealed_push.entries WHERE id = ANY($1)", [.ints(accepted.map(\.entry).sorted())])
                try tally(Tally.accepted, removed.changedCount, at: now, db)
                try prove(accepted.filter { !$0.request.isProven }, db)
            }
            for (lease, settlement) in settled {
                guard case .dead(let reason) = settlement else { continue }
                let count = try bury("id = $4", lease.entry, reason: reason, attempts: lease.attempts, at: now, db)
                try tally(Tally.dead(reason), count, at: now, db)
            }
        }

        /// Remembers, once, that the carrier takes pushes for these addresses; not where somebody holds the device's row, since
        /// the next push will tell it again.
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

        /// Devices whose row is ours until the transaction's end. What follows sees all that was enqueued to them before.
        private static func lockQueues(_ leases: [Lease], _ db: PostgresConnection) throws(OutboxError) -> Set<Int64> {
            let rows = try db.rows(
                """
                SELECT device FROM sealed_push.queues WHERE device = ANY($1) ORDER BY device FOR UPDATE SKIP LOCKED
                """, [.ints(leases.map(\.device))])
            return Set(try rows.map { row throws(OutboxError) in try row.int("device") })
        }

        /// Those whose lease is still there: the others have nothing to say about the queue any more.
        private static func held(
            _ unsettled: [(lease: Lease, settlement: Settlement)], _ db: PostgresConnection
        ) throws(OutboxError) -> [(lease: Lease, settlement: Settlement)] {
            guard !unsettled.isEmpty else { return [] }
            let rows = try db.rows(
                """
                SELECT lease FROM sealed_push.queues q JOIN unnest($1::bigint[], $2::bigint[]) AS x(device, number)
                    ON q.device = x.device AND q.lease = x.number
                """, [.ints(unsettled.map(\.lease.device)), .ints(unsettled.map(\.lease.number))])
            let numbers = Set(try rows.map { row throws(OutboxError) in try row.int("lease") })
            return unsettled.filter { numbers.contains($0.lease.number) }
        }

        private static func prolong(
            _ leases: [Lease], until due: Int64, _ db: PostgresConnection
        ) throws(OutboxError) {
            guard !leases.isEmpty else { return }
            try db.rows(
                """
                UPDATE sealed_push.queues q SET due = $3 FROM unnest($1::bigint[], $2::bigint[]) AS x(device, number)
                WHERE q.device = x.device AND q.lease = x.number
                """, [.ints(leases.map(\.device)), .ints(leases.map(\.number)), .int(due)])
        }

        private static func release(
            _ released: [(lease: Lease, due: Int64, isAttempt: Bool)], _ db: PostgresConnection
        ) throws(OutboxError) {
            guard !released.isEmpty else { return }
            try db.rows(
                """
                UPDATE sealed_push.queues q
                SET due = x.due, lease = NULL, holder = NULL, attempts = q.attempts - x.returned
                FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS x(device, number, due, returned)
                WHERE q.device = x.device AND q.lease = x.number
                """,
                [
                    .ints(released.map(\.lease.device)), .ints(released.map(\.lease.number)),
                    .ints(released.map(\.due)), .ints(released.map { $0.isAttempt ? 0 : 1 }),
                ])
        }

        /// Goes on to devices' next entries, once their heads are gone.
        private static func advance(_ leases: [Lease], at now: Int64, _ db: PostgresConnection) throws(OutboxError) {
            guard !leases.isEmpty else { return }
            try removeEmpty(leases.map(\.device), db)
            try db.rows(
                """
                UPDATE sealed_push.queues q SET due = $3, lease = NULL, holder = NULL, entry = NULL, attempts = 0,
                    head = least(h.immediate, h.considerate),
                    priority = CASE WHEN h.immediate IS NULL THEN 5 ELSE 10 END
                FROM unnest($1::bigint[], $2::bigint[]) AS x(device, number)
                    JOIN sealed_push.queues o ON o.device = x.device AND o.lease = x.number,
                    LATERAL (SELECT \(heads("o"))) AS h
                WHERE q.device = o.device
                """, [.ints(leases.map(\.device)), .ints(leases.map(\.number)), .int(now)])
        }

        /// Removes the queues for which nothing waits; their rows are ours.
        static func removeEmpty(_ devices: [Int64], _ db: PostgresConnection) throws(OutboxError) {
            try db.rows(
                """
                DELETE FROM sealed_push.queues q USING unnest($1::bigint[]) AS x(device), LATERAL (
                    SELECT \(heads("o")) FROM sealed_push.queues o WHERE o.device = x.device) AS h
                WHERE q.device = x.device AND h.immediate IS NULL AND h.considerate IS NULL
                """, [.ints(devices)])
        }

        /// The oldest that waits in each lane: one step into the index, however many wait, and however many are gone.
        private static func heads(_ queue: String) -> String {
            [(10, "immediate"), (5, "considerate")].map { priority, name in
                """
                (SELECT id FROM sealed_push.entries e WHERE e.device = \(queue).device AND e.priority = \(priority)
                    AND e.id >= \(queue).head ORDER BY e.id LIMIT 1) AS \(name)
                """
            }.joined(separator: ",\n")
        }

        // MARK: Addresses

        private enum Address { case removed, registeredSince, other }

        private static func removeAddress(
            of lease: Lease, reason: String, since: Timestamp, at now: Int64, _ db: PostgresConnection
        ) throws(OutboxError) -> Address {
            guard let registered = try registration(of: lease, db) else { return .other }
            // Whole seconds, both cut: the same second counts as registered since.
            if registered / 1_000 >= since.secondsSince1970 { return .registeredSince }
            try db.rows(
                """
                UPDATE sealed_push.devices
                SET token = NULL, token_refusal = $1, is_proven = false, revision = revision + 1 WHERE id = $2
                """, [.text(reason), .int(lease.device)])
            try tally(Tally.dropped(reason), discardAll(of: lease.device, db), at: now, db)
            return .removed
        }

        /// False where the device has another address by now.
        private static func disableAddress(
            of lease: Lease, reason: String, at now: Int64, _ db: PostgresConnection
        ) throws(OutboxError) -> Bool {
            guard try registration(of: lease, db) != nil else { return false }
            try db.rows(
                """
                UPDATE sealed_push.devices SET token_refusal = $1, is_proven = false, revision = revision + 1 WHERE id = $2
                """, [.text(reason), .int(lease.device)])
            let head = try bury("id = $4", lease.entry, reason: reason, attempts: lease.attempts, at: now, db)
            try tally(Tally.dead(reason), head + buryAll(of: lease.device, reason: reason, at: now, db), at: now, db)
            return true
        }

        /// When the address that was sent to was registered, in milliseconds; nil where the device has another by now. Its row is
        /// ours from then on.
        private static func registration(of lease: Lease, _ db: PostgresConnection) throws(OutboxError) -> Int64? {
            try db.rows(
                """
                SELECT token_registered FROM sealed_push.devices
                WHERE id = $1 AND token = $2 AND token_refusal IS NULL FOR UPDATE
                """, [.int(lease.device), .bytes(lease.request.address.bytes)]
            ).first?.int("token_registered")
        }
    }
#endif
