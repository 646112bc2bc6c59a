#if Postgres
    import PushOutbox
    import PushSender
    import SealedPush
    import PushCore

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
                    case .removed: forgetPlace(of: lease)
                    }
                case .addressRefused(let reason):
                    let isDisabled = try await write { db, now throws(OutboxError) in
                        try Self.disableAddress(of: lease, reason: reason, at: now, db)
                    }
                    if isDisabled { forgetPlace(of: lease) } else { ordinary.append((lease, .returned)) }
                default: ordinary.append((lease, settlement))
                }
            }
            let (settled, floors, places) = (ordinary, self.floors, self.places)
            guard !settled.isEmpty || !exchange.extended.isEmpty || exchange.order != nil else { return LeaseAnswer() }
            let answer = try await write { db, now throws(OutboxError) in
                var answer = LeaseAnswer()
                answer.unsettled = try Self.settle(
                    settled, extending: exchange.extended, by: exchange.hold, at: now, places, db)
                if var order = exchange.order {
                    order.removesStale = order.removesStale && self.isCertain(now)
                    answer.leases = try Self.take(order, at: now, floors, places, db)
                }
                return answer
            }
            await turnIfDue(after: answer.leases.count)
            return answer
        }

        private func forgetPlace(of lease: Lease) { places.withLock { $0[lease.device] = nil } }

        func hasProvenAddress(of carrier: Carrier) async throws(OutboxError) -> Bool {
            try await read { db, _ throws(OutboxError) in
                try db.rows(
                    "SELECT 1 AS found FROM sealed_push.devices WHERE is_proven AND carrier = $1 LIMIT 1",
                    [.text(carrier.description)]
                ).first != nil
            }
        }

        func timeUntilDue(by carrier: Carrier) async throws(OutboxError) -> Duration? {
            try await timeUntilDue(by: carrier, above: { _ in .min }, within: nil)
        }

        /// - Parameters:
        ///   - floor: below which nothing is looked for, in each lane.
        ///   - limit: nothing is looked for that is due later: what was leased and is gone lies there, all of the last minutes.
        func timeUntilDue(
            by carrier: Carrier, above floor: @escaping @Sendable (Int) -> Int64, within limit: Duration?
        ) async throws(OutboxError) -> Duration? {
            try await read { db, now throws(OutboxError) in
                let end = limit.map { now + $0.milliseconds } ?? .max
                let immediate = try Self.first(carrier, 10, above: floor(10), upTo: end, db)
                let considerate = try Self.first(carrier, 5, above: floor(5), upTo: end, db)
                return [immediate, considerate].compactMap(\.self).min().map { .milliseconds(max(0, $0) - now) }
            }
        }

        // MARK: What became of leases

        /// Returns what could not be noted, since somebody is enqueueing to the device.
        private static func settle(
            _ settled: [(lease: Lease, settlement: Settlement)], extending extended: [Lease], by hold: Duration,
            at now: Int64, _ places: Locked<[Int64: Int64]>, _ db: PostgresConnection
        ) throws(OutboxError) -> [(lease: Lease, settlement: Settlement)] {
            guard !settled.isEmpty || !extended.isEmpty else { return [] }
            try removeEntries(settled, at: now, db)
            let found = try lockQueues((settled.map(\.lease) + extended), places, db)
            let held = extended.compactMap { lease in found[lease.device].map { Found(lease: lease, place: $0) } }
            try prolong(held, until: now + hold.milliseconds, places, db)
            var (ended, released): ([Found], [(found: Found, due: Int64, isAttempt: Bool)]) = ([], [])
            var unsettled: [(lease: Lease, settlement: Settlement)] = []
            for (lease, settlement) in settled {
                guard let place = found[lease.device] else {
                    unsettled.append((lease, settlement))
                    continue
                }
                let found = Found(lease: lease, place: place)
                switch settlement {
                case .accepted, .dead: ended.append(found)
                case .later(let delay): released.append((found, now + delay.milliseconds, true))
                case .returned, .addressGone, .addressRefused: released.append((found, now, false))
                }
            }
            try release(released, db)
            try advance(ended, at: now, db)
            return try stillHeld(unsettled, db)
        }

        /// A lease, and where its device's row lies, which is ours until the transaction's end.
        private struct Found {
            let lease: Lease
            let place: Int64
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
                let count = try bury([lease.entry], reason: reason, attempts: lease.attempts, at: now, db)
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

        /// Where the devices' rows lie that are ours until the transaction's end. What follows sees all that was enqueued to
        /// them before.
        ///
        /// A row is looked for where its lease was noted: by its key, all that was deleted and not vacuumed is walked through.
        /// One that was written meanwhile is found by its key.
        private static func lockQueues(
            _ leases: [Lease], _ places: Locked<[Int64: Int64]>, _ db: PostgresConnection
        ) throws(OutboxError) -> [Int64: Int64] {
            let known = places.withLock { places in
                leases.compactMap { lease in places.removeValue(forKey: lease.device).map { (lease.device, $0) } }
            }
            var found = try Self.places(
                db.rows(
                    """
                    SELECT q.device, q.ctid AS place FROM unnest($1::bigint[], $2::tid[]) AS x(device, place)
                    JOIN sealed_push.queues q ON q.ctid = x.place AND q.device = x.device FOR UPDATE OF q SKIP LOCKED
                    """, [.ints(known.map(\.0)), .places(known.map(\.1))]))
            let others = leases.map(\.device).filter { found[$0] == nil }
            found.merge(try lockQueues(of: others, skipsLocked: true, db)) { $1 }
            return found
        }

        /// Notes where rows lie that were written.
        static func remember(_ rows: PostgresRows, _ places: Locked<[Int64: Int64]>) throws(OutboxError) {
            let written = try Self.places(rows)
            places.withLock { $0.merge(written) { $1 } }
        }

        /// Those whose lease is still there: the others have nothing to say about the queue any more.
        private static func stillHeld(
            _ unsettled: [(lease: Lease, settlement: Settlement)], _ db: PostgresConnection
        ) throws(OutboxError) -> [(lease: Lease, settlement: Settlement)] {
            guard !unsettled.isEmpty else { return [] }
            let rows = try db.rows(Self.living("lease"), [.ints(unsettled.map(\.lease.device))])
            let numbers = Set(try rows.map { row throws(OutboxError) in try row.optionalInt("lease") })
            return unsettled.filter { numbers.contains($0.lease.number) }
        }

        private static func prolong(
            _ found: [Found], until due: Int64, _ places: Locked<[Int64: Int64]>, _ db: PostgresConnection
        ) throws(OutboxError) {
            guard !found.isEmpty else { return }
            let rows = try db.rows(
                """
                UPDATE sealed_push.queues q SET due = $3 FROM unnest($1::tid[], $2::bigint[]) AS x(place, number)
                WHERE q.ctid = x.place AND q.lease = x.number RETURNING q.device, q.ctid AS place
                """, [.places(found.map(\.place)), .ints(found.map(\.lease.number)), .int(due)])
            try remember(rows, places)
        }

        private static func release(
            _ released: [(found: Found, due: Int64, isAttempt: Bool)], _ db: PostgresConnection
        ) throws(OutboxError) {
            guard !released.isEmpty else { return }
            try db.rows(
                """
                UPDATE sealed_push.queues q
                SET due = x.due, lease = NULL, holder = NULL, attempts = greatest(q.attempts, x.returned) - x.returned
                FROM unnest($1::tid[], $2::bigint[], $3::bigint[], $4::bigint[]) AS x(place, number, due, returned)
                WHERE q.ctid = x.place AND q.lease = x.number
                """,
                [
                    .places(released.map(\.found.place)), .ints(released.map(\.found.lease.number)),
                    .ints(released.map(\.due)), .ints(released.map { $0.isAttempt ? 0 : 1 }),
                ])
        }

        /// Goes on to devices' next entries, once their heads are gone.
        private static func advance(_ found: [Found], at now: Int64, _ db: PostgresConnection) throws(OutboxError) {
            guard !found.isEmpty else { return }
            try removeEmpty(found.map(\.place), db)
            try db.rows(
                """
                UPDATE sealed_push.queues q SET due = $3, lease = NULL, holder = NULL, entry = NULL, attempts = 0,
                    head = least(h.immediate, h.considerate),
                    priority = CASE WHEN h.immediate IS NULL THEN 5 ELSE 10 END
                FROM unnest($1::tid[], $2::bigint[]) AS x(place, number)
                    JOIN sealed_push.queues o ON o.ctid = x.place AND o.lease = x.number,
                    LATERAL (SELECT \(heads("o"))) AS h
                WHERE q.ctid = o.ctid
                """, [.places(found.map(\.place)), .ints(found.map(\.lease.number)), .int(now)])
        }

        /// Removes the queues for which nothing waits; their rows, at these places, are ours.
        static func removeEmpty(_ places: [Int64], _ db: PostgresConnection) throws(OutboxError) {
            try db.rows(
                """
                DELETE FROM sealed_push.queues q USING unnest($1::tid[]) AS x(place)
                    JOIN sealed_push.queues o ON o.ctid = x.place, LATERAL (SELECT \(heads("o"))) AS h
                WHERE q.ctid = o.ctid AND h.immediate IS NULL AND h.considerate IS NULL
                """, [.places(places)])
        }

        /// The oldest that waits in each lane: one step into the index, however many wait, and however many are gone.
        private static func heads(_ queue: String) -> String {
            [(10, "immediate"), (5, "considerate")].map { priority, name in
                """
                (SELECT id FROM sealed_push.entries e WHERE e.device = \(queue).device AND e.priority = \(priority)
                    AND e.id + 0 >= \(queue).head ORDER BY e.id + 0 LIMIT 1) AS \(name)
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
                SET token = NULL, token_refusal = $1, is_proven = false, \(nextRevision) WHERE id = $2
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
                UPDATE sealed_push.devices SET token_refusal = $1, is_proven = false, \(nextRevision) WHERE id = $2
                """, [.text(reason), .int(lease.device)])
            let head = try bury([lease.entry], reason: reason, attempts: lease.attempts, at: now, db)
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
