#if Postgres
    import PushOutbox
    import PushSender
    import SealedPush

    extension PostgresStore {
        /// Devices are changed side by side, but for those that share a name, an enrollment key or an address. Many at once are
        /// alone: who takes many such locks in no order would stand in another's way.
        func register(_ changes: [DeviceChange]) async throws(OutboxError) -> [RegistrationChange] {
            try await write { db, now throws(OutboxError) in
                let kind = changes.count > 1 ? "" : "_shared"
                try db.rows("SELECT pg_advisory_xact_lock\(kind)(\(PostgresSchema.advisoryClass), 3)")
                var answers: [RegistrationChange] = []
                for change in changes { answers.append(try Self.save(change, at: now, db)) }
                return answers
            }
        }

        func remove(_ name: DeviceName) async throws(OutboxError) -> Int {
            try await write { db, _ throws(OutboxError) in
                try Self.lock(["name \(name)"], db)
                let rows = try db.rows("SELECT id FROM sealed_push.devices WHERE name = $1", [.text(name.description)])
                guard let row = rows.first else { throw .unknownDevice }
                return try Self.remove(row.int("id"), db)
            }
        }

        func devices(_ selection: DeviceSelection) async throws(OutboxError) -> [FoundDevice] {
            try await read { db, _ throws(OutboxError) in
                let rows =
                    switch selection {
                    case .named(let name): try db.rows("\(Self.selection) WHERE d.name = $1", [.text(name.description)])
                    case .of(let user):
                        try db.rows(
                            "\(Self.selection) WHERE d.user_name = $1 ORDER BY d.name", [.text(user.description)])
                    case .page(let name, let limit):
                        try db.rows(
                            "\(Self.selection) WHERE d.name > $1 ORDER BY d.name LIMIT $2",
                            [.text(name ?? ""), .int(Int64(limit))])
                    }
                return try rows.map { row throws(OutboxError) in try FoundDevice(row) }
            }
        }

        private static func save(
            _ change: DeviceChange, at now: Int64, _ db: PostgresConnection
        ) throws(OutboxError) -> RegistrationChange {
            try lock(["name \(change.name)"], db)
            let known = try load(change.name, knowing: change.record, db)
            let new = try change.next(known?.stored)
            let device = new.device
            let isLimited = known == nil && change.deviceLimit < .max
            try lock(shared(device) + (isLimited ? ["user \(device.user)"] : []), db)
            if let known { try RegistryRules.requireOwn(known.stored.device, device, movingFrom: change.previous) }
            if isLimited { try RegistryRules.requireRoom(for: change, among: count(of: device.user, db)) }
            var discardedCount = 0
            for id in try RegistryRules.claim(device, others: others(device, db)) {
                discardedCount += try remove(id, db)
            }
            var loser: DeviceName?
            if case .active(let address, _) = device.address {
                let taken = try take(address, for: device.name, db)
                loser = taken.loser
                discardedCount += taken.discardedCount
            }
            let id: Int64
            if let known {
                id = known.id
                if !device.isSamePlace(as: known.stored.device) { discardedCount += try discardAll(of: id, db) }
                try update(id, new, db)
                if case .active(let address, let registered) = device.address,
                    known.stored.device.address.address != address
                {
                    try hurry(id, due: registered.secondsSince1970 * 1_000, db)
                }
            } else {
                id = try insert(new, db)
            }
            try saveEnrollment(of: id, DeviceRow(device).enrollment, new.codes.enrollment, db)
            if let known, known.stored.device.address.carrier != device.address.carrier {
                let queues = try lockQueues(of: [id], db).values
                try db.rows(
                    "UPDATE sealed_push.queues SET carrier = $1 WHERE ctid = ANY($2)",
                    [.text(device.address.carrier.description), .places(Array(queues))])
            }
            return RegistrationChange(isNew: known == nil, discardedCount: discardedCount, addressTakenFrom: loser)
        }

        /// Until the transaction's end, in an order that is the same for all.
        private static func lock(_ names: [String], _ db: PostgresConnection) throws(OutboxError) {
            guard !names.isEmpty else { return }
            try db.rows(
                """
                SELECT pg_advisory_xact_lock(key) FROM (
                    SELECT DISTINCT hashtextextended(name, 20) AS key FROM unnest($1::text[]) AS names(name) ORDER BY key
                ) AS keys
                """, [.texts(names)])
        }

        /// What two devices may both claim.
        private static func shared(_ device: RegisteredDevice) -> [String] {
            var names: [String] = []
            if case .enrolled(let enrolled) = device.keys { names.append("enrollment \(enrolled.enrollment)") }
            if case .active(let address, _) = device.address { names.append("address \(address.hexadecimal)") }
            return names
        }

        private static func others(
            _ device: RegisteredDevice, _ db: PostgresConnection
        ) throws(OutboxError) -> [(id: Int64, isProven: Bool)] {
            guard case .enrolled(let enrolled) = device.keys else { return [] }
            let rows = try db.rows(
                """
                SELECT id, proven <> '' AS is_proven FROM sealed_push.enrollments JOIN sealed_push.devices ON device = id
                WHERE enrollment = $1 AND user_name <> $2 AND name <> $3
                """,
                [
                    .text(enrolled.enrollment.description), .text(device.user.description),
                    .text(device.name.description),
                ])
            return try rows.map { row throws(OutboxError) in (try row.int("id"), try row.bool("is_proven")) }
        }

        /// The address's earlier holder is another installation, which has it no more; what waited for that one must not be
        /// shown to whoever holds the device now.
        private static func take(
            _ address: Address, for name: DeviceName, _ db: PostgresConnection
        ) throws(OutboxError) -> (loser: DeviceName?, discardedCount: Int) {
            let rows = try db.rows(
                """
                UPDATE sealed_push.devices
                SET token = NULL, token_refusal = 'moved', is_proven = false, \(nextRevision)
                WHERE token = $1 AND name <> $2 RETURNING id, name
                """, [.bytes(address.bytes), .text(name.description)])
            guard let row = rows.first else { return (nil, 0) }
            return (DeviceName(parsing: try row.text("name")), try discardAll(of: row.int("id"), db))
        }

        /// Another than before, whatever somebody has written there.
        static let nextRevision = "revision = abs(revision % 4611686018427387904) + 1"

        private static func insert(_ new: StoredDevice, _ db: PostgresConnection) throws(OutboxError) -> Int64 {
            let rows = try db.rows(
                """
                INSERT INTO sealed_push.devices(user_name, topic, carrier, token, token_registered, token_refusal,
                    recipient, is_verified, valid_from, valid_until, pin_code, address_code, name)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) RETURNING id
                """, columns(of: new) + [.text(new.device.name.description)])
            guard let row = rows.first else { throw .damaged }
            return try row.int("id")
        }

        private static func update(_ id: Int64, _ new: StoredDevice, _ db: PostgresConnection) throws(OutboxError) {
            try db.rows(
                """
                UPDATE sealed_push.devices SET
                    is_proven = is_proven AND token IS NOT DISTINCT FROM $4 AND topic = $2 AND carrier = $3,
                    user_name = $1, topic = $2, carrier = $3, token = $4, token_registered = $5, token_refusal = $6,
                    recipient = $7, is_verified = $8, valid_from = $9, valid_until = $10, pin_code = $11,
                    address_code = $12, \(nextRevision)
                WHERE id = $13
                """, columns(of: new) + [.int(id)])
        }

        /// All but the name.
        private static func columns(of new: StoredDevice) -> [PostgresValue] {
            let row = DeviceRow(new.device)
            return [
                .text(row.user), .text(row.topic), .text(row.carrier), .bytes(row.address), .int(row.registered),
                .text(row.refusal), .bytes(row.key.recipient?.bytes), .bool(row.key.isVerified),
                .int(row.key.validFrom),
                .int(row.key.validUntil), .bytes(new.codes.pin), .bytes(new.codes.address),
            ]
        }

        private static func saveEnrollment(
            of id: Int64, _ keys: DeviceRow.Registrant?, _ code: [UInt8]?, _ db: PostgresConnection
        ) throws(OutboxError) {
            guard let keys else {
                try db.rows("DELETE FROM sealed_push.enrollments WHERE device = $1", [.int(id)])
                return
            }
            try db.rows(
                """
                INSERT INTO sealed_push.enrollments(device, enrollment, record, proven, code) VALUES ($1, $2, $3, $4, $5)
                ON CONFLICT (device) DO UPDATE SET enrollment = $2, record = $3, proven = $4, code = $5
                """, [.int(id), .text(keys.key), .text(keys.record), .text(keys.proven), .bytes(code)])
        }

        private static func count(of user: UserName, _ db: PostgresConnection) throws(OutboxError) -> Int {
            try db.rows(
                "SELECT COUNT(*) AS count FROM sealed_push.devices WHERE user_name = $1", [.text(user.description)]
            ).first?.count("count") ?? 0
        }

        private static func load(
            _ name: DeviceName, knowing record: DeviceRecord?, _ db: PostgresConnection
        ) throws(OutboxError) -> (id: Int64, stored: StoredDevice)? {
            let rows = try db.rows(
                "\(selection) WHERE d.name = $1 FOR UPDATE OF d", [.text(name.description)])
            guard let row = rows.first else { return nil }
            return (try row.int("id"), try StoredDevice(row, knowing: record))
        }

        /// Forgets a device and what waits for it; returns how many pushes that were.
        private static func remove(_ id: Int64, _ db: PostgresConnection) throws(OutboxError) -> Int {
            try db.rows("SELECT 1 FROM sealed_push.devices WHERE id = $1 FOR UPDATE", [.int(id)])
            let count = try discardAll(of: id, db)
            try db.rows("DELETE FROM sealed_push.devices WHERE id = $1", [.int(id)])
            return count
        }

        /// Removes all that waits for a device, dead letters included; returns how many that were. The device's row is locked, so
        /// that nobody enqueues to it meanwhile.
        static func discardAll(of id: Int64, _ db: PostgresConnection) throws(OutboxError) -> Int {
            try removeQueue(of: id, db)
            return try db.rows("DELETE FROM sealed_push.entries WHERE device = $1", [.int(id)]).changedCount
                + db.rows("DELETE FROM sealed_push.dead_letters WHERE device = $1", [.int(id)]).changedCount
        }

        /// Lets what was put off be taken at once: a new address has nothing to do with why the old one failed.
        private static func hurry(_ id: Int64, due: Int64, _ db: PostgresConnection) throws(OutboxError) {
            let queues = try lockQueues(of: [id], db).values
            let hurried = try db.rows(
                """
                UPDATE sealed_push.queues SET due = $1, attempts = 0
                WHERE ctid = ANY($2) AND due > $1 AND lease IS NULL
                """, [.int(due), .places(Array(queues))])
            if hurried.changedCount > 0 { try db.rows("SELECT sealed_push.wake()") }
        }

        private static let selection = """
            SELECT d.id, d.name, d.user_name, d.topic, d.carrier, d.token, d.token_registered, d.token_refusal, d.recipient,
                e.enrollment, e.record, e.proven, d.pin_code, d.address_code, e.code
            FROM sealed_push.devices d LEFT JOIN sealed_push.enrollments e ON e.device = d.id
            """
    }
#endif
