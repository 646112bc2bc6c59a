#if Postgres
import PushOutbox
import PushSender
import SealedPush

extension PostgresStore {
    /// Devices are changed concurrently, except for those that share a name, an enrollment key, or an address. A call
    /// with many devices runs alone, because taking many such locks in no order would block other transactions. It
    /// waits longer for each lock, since it would have to begin again.
    func register(_ changes: [DeviceChange]) async throws(OutboxError) -> [RegistrationChange] {
        let isAlone = changes.count > 1
        let name = isAlone ? nil : changes.first.map { "register \($0.name)" }
        return try await write(holding: name, attempt: .milliseconds(isAlone ? 1_000 : 20)) {
            db, now throws(OutboxError) in
            try db.rows("LOCK TABLE sealed_push.registrations IN \(isAlone ? "EXCLUSIVE" : "ROW SHARE") MODE")
            var answers: [RegistrationChange] = []
            for change in changes { answers.append(try Self.save(change, at: now, db)) }
            return answers
        }
    }

    func remove(_ device: FoundDevice, if condition: @escaping DeviceCondition) async throws(OutboxError) -> Int? {
        let name = String(decoding: device.name, as: UTF8.self)
        return try await write(holding: "register \(name)") { db, now throws(OutboxError) in
            try Self.lock([name], in: .names, db)
            let rows = try db.rows("\(Self.selection) WHERE d.id = $1", [.int(device.row)])
            guard let row = rows.first, try condition(FoundDevice(row)) else { return nil }
            return try Self.remove(device.row, at: now, db)
        }
    }

    func devices(_ selection: DeviceSelection) async throws(OutboxError) -> [FoundDevice] {
        try await read { db, _ throws(OutboxError) in
            let (condition, values): (String, [PostgresValue]) =
                switch selection {
                case .named(let name): ("d.name = $1", [.text(name.description)])
                case .of(let user): ("d.user_name = $1 ORDER BY d.name", [.text(user.description)])
                case .enrolled(let key): ("e.enrollment = $1", [.text(key.description)])
                case .page(nil, let limit): ("true ORDER BY d.name LIMIT $1", [.int(Int64(limit))])
                case .page(let name?, let limit):
                    (
                        "d.name > $1 ORDER BY d.name LIMIT $2",
                        [.text(String(decoding: name, as: UTF8.self)), .int(Int64(limit))]
                    )
                case .rows(let first, let limit):
                    ("d.id >= $1 ORDER BY d.id LIMIT $2", [.int(first), .int(Int64(limit))])
                }
            let rows = try db.rows("\(Self.selection) WHERE \(condition)", values)
            return try rows.map { row throws(OutboxError) in try FoundDevice(row) }
        }
    }

    func forget(audiences: [String], receipts: [ReceiptID]) async throws(OutboxError) {
        try await write { db, _ throws(OutboxError) in
            try db.rows("DELETE FROM sealed_push.requests WHERE audience = ANY($1)", [.texts(audiences)])
            for table in ReceiptTally.tables {
                try db.rows(
                    "DELETE FROM sealed_push.\(table) WHERE id = ANY($1)", [.byteArrays(receipts.map(\.bytes))])
            }
        }
    }

    func endLogins(of user: UserName, at moment: Int64) async throws(OutboxError) {
        _ = try await write { db, now throws(OutboxError) in
            try db.rows(
                "DELETE FROM sealed_push.logins WHERE ended < $1", [.int(RecordLimits(at: now).loginsEnded)])
            try db.rows(
                """
                INSERT INTO sealed_push.logins AS l (user_name, ended) VALUES ($1, $2)
                ON CONFLICT (user_name) DO UPDATE SET ended = greatest(l.ended, excluded.ended)
                """, [.text(user.description), .int(moment)])
        }
    }

    func loginsEnded(for user: UserName) async throws(OutboxError) -> Int64? {
        try await read { db, _ throws(OutboxError) in
            try db.rows("SELECT ended FROM sealed_push.logins WHERE user_name = $1", [.text(user.description)])
                .first?.int("ended")
        }
    }

    /// Registers a device as the rules decide.
    private static func save(
        _ change: DeviceChange, at now: Int64, _ db: PostgresConnection
    ) throws(OutboxError) -> RegistrationChange {
        try lock([change.name.description], in: .names, db)
        let rows = try db.rows("\(selection) WHERE d.name = $1 FOR UPDATE OF d", [.text(change.name.description)])
        let registration = try Registration(change, knowing: rows.first)
        let plan = try registration.plan(knowing: owners(registration, db))
        var discardedCount = 0
        for step in plan.steps {
            switch step {
            case .remove(let row): discardedCount += try remove(row, at: now, db)
            case .dropAddress(let row, let reason):
                try disable(row, "token = NULL, token_refusal = $1", reason, db)
            case .discardAll(let row): discardedCount += try discardAll(of: row, at: now, db)
            case .write(let keepsProof): try write(registration.new, keepsProof: keepsProof, db)
            case .redirect(let row, let carrier, let due): try redirect(row, to: carrier, dueBy: due, db)
            }
        }
        return plan.change(discarding: discardedCount)
    }

    /// Looks up who shares a claim with the device. The claims and the address's holder stay locked.
    private static func owners(
        _ registration: Registration, _ db: PostgresConnection
    ) throws(OutboxError) -> KnownOwners {
        let (user, name) = (registration.new.device.user.description, registration.new.device.name.description)
        try lock(
            [
                registration.countedUser.map { "user \($0)" }, registration.enrollment.map { "enrollment \($0)" },
                registration.address.map { "address \($0.hexadecimal)" },
            ].compactMap { $0 }, in: .owners, db)
        var (count, enrolled, holder): (Int, [PostgresRows.Row], PostgresRows.Row?) = (0, [], nil)
        if registration.countedUser != nil {
            let sql = "SELECT count(*) AS count FROM sealed_push.devices WHERE user_name = $1"
            count = try db.row(sql, [.text(user)]).count("count")
        }
        if let enrollment = registration.enrollment {
            enrolled = try Array(
                db.rows(
                    """
                    SELECT id, proven <> '' AS is_proven
                    FROM sealed_push.enrollments JOIN sealed_push.devices ON device = id
                    WHERE enrollment = $1 AND user_name <> $2 AND name <> $3
                    """, [.text(enrollment.description), .text(user), .text(name)]))
        }
        if let address = registration.address {
            holder = try db.rows(
                "SELECT id, name FROM sealed_push.devices WHERE token = $1 AND name <> $2 FOR UPDATE",
                [.bytes(address.bytes), .text(name)]
            ).first
        }
        return try KnownOwners(deviceCount: count, enrolled: enrolled, holder: holder)
    }

    /// The kinds of names that a transaction can claim. It claims names before owners, so that no two transactions wait
    /// for each other.
    private enum Claim: Int64 {
        case names = 0
        case owners = 256
    }

    /// Holds claims until the transaction ends, in an order that is the same for every caller.
    private static func lock(_ names: [String], in kind: Claim, _ db: PostgresConnection) throws(OutboxError) {
        guard !names.isEmpty else { return }
        let claims = try db.rows(
            """
            SELECT number FROM sealed_push.claims
            WHERE number = ANY(ARRAY(
                SELECT ($2 + (hashtextextended(name, 20) & 255))::integer FROM unnest($1::text[]) AS names(name)))
            ORDER BY number FOR UPDATE
            """, [.texts(names), .int(kind.rawValue)])
        guard !claims.isEmpty else { throw .damaged }
    }

    /// Always differs from the previous revision, even if that one was tampered with.
    static let nextRevision = "revision = abs(devices.revision % 4611686018427387904) + 1"

    /// Creates or replaces the row of the device with that name.
    private static func write(
        _ new: StoredDevice, keepsProof: Bool, _ db: PostgresConnection
    ) throws(OutboxError) {
        let row = DeviceRow(new)
        let id = try db.row(
            """
            INSERT INTO sealed_push.devices(name, user_name, topic, carrier, token, token_registered, token_refusal,
                recipient, is_verified, valid_from, valid_until, keeps, pin_code, address_code)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
            ON CONFLICT (name) DO UPDATE SET is_proven = devices.is_proven AND $15,
                user_name = $2, topic = $3, carrier = $4, token = $5, token_registered = $6, token_refusal = $7,
                recipient = $8, is_verified = $9, valid_from = $10, valid_until = $11, keeps = $12,
                pin_code = $13, address_code = $14, \(nextRevision)
            RETURNING id
            """,
            [
                .text(row.name), .text(row.user), .text(row.topic), .text(row.carrier), .bytes(row.address),
                .int(row.registered), .text(row.refusal), .bytes(row.key.recipient?.bytes),
                .bool(row.key.isVerified), .int(row.key.validFrom), .int(row.key.validUntil), .int(row.key.keeps),
                .bytes(row.codes.pin), .bytes(row.codes.address), .bool(keepsProof),
            ]
        ).int("id")
        try saveEnrollment(of: id, row.enrollment, row.codes.enrollment, db)
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
            INSERT INTO sealed_push.enrollments(device, enrollment, record, proven, code)
            VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (device) DO UPDATE SET enrollment = $2, record = $3, proven = $4, code = $5
            """, [.int(id), .text(keys.key), .text(keys.record), .text(keys.proven), .bytes(code)])
    }

    /// Removes a device and its waiting pushes, and returns the number of pushes.
    private static func remove(_ id: Int64, at now: Int64, _ db: PostgresConnection) throws(OutboxError) -> Int {
        try db.rows("SELECT 1 FROM sealed_push.devices WHERE id = $1 FOR UPDATE", [.int(id)])
        let count = try discardAll(of: id, at: now, db)
        try db.rows("DELETE FROM sealed_push.devices WHERE id = $1", [.int(id)])
        return count
    }

    /// Removes all waiting entries of a device, including dead letters, and returns how many. The device's row is
    /// locked, so that no other transaction enqueues to it in the meantime.
    @discardableResult
    static func discardAll(
        of id: Int64, _ outcome: String = Tally.discarded, at now: Int64, _ db: PostgresConnection
    ) throws(OutboxError) -> Int {
        try removeQueue(of: id, db)
        return try removeEntries("device = $1", [.int(id)], PushEnding(outcome, at: now), db).count
            + db.rows("DELETE FROM sealed_push.dead_letters WHERE device = $1", [.int(id)]).changedCount
    }

    /// Hands a queue to a carrier. Deferred entries become due at the given time, if that is earlier.
    private static func redirect(
        _ device: Int64, to carrier: Carrier, dueBy due: Int64?, _ db: PostgresConnection
    ) throws(OutboxError) {
        let places = PostgresValue.places(Array(try lockQueues(of: [device], db).values))
        let changed = try db.rows(
            """
            UPDATE sealed_push.queues SET carrier = $2,
                due = CASE WHEN lease IS NULL THEN least(due, $3) ELSE due END,
                attempts = CASE WHEN lease IS NULL AND due > $3 THEN 0 ELSE attempts END
            WHERE ctid = ANY($1) AND (carrier <> $2 OR lease IS NULL AND due > $3)
            """, [places, .text(carrier.description), .int(due)])
        if changed.changedCount > 0 { try db.rows("SELECT sealed_push.wake()") }
    }

    private static let selection = """
        SELECT d.*, e.enrollment, e.record, e.proven, e.code
        FROM sealed_push.devices d LEFT JOIN sealed_push.enrollments e ON e.device = d.id
        """
}
#endif
