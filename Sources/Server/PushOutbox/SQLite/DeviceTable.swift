internal import GRDB
import PushSender
import SealedPush

extension SQLiteStore {
    func register(_ changes: [DeviceChange]) async throws(OutboxError) -> [RegistrationChange] {
        try await write { db, now in try changes.map { try DeviceTable.save($0, at: now, in: db) } }
    }

    func remove(_ device: FoundDevice, if condition: @escaping DeviceCondition) async throws(OutboxError) -> Int? {
        try await write { db, now in
            let row = try db.row("\(DeviceTable.selection) WHERE devices.id = ?", [device.row])
            guard let row, try condition(FoundDevice(row)) else { return nil }
            return try DeviceTable.remove(device.row, at: now, in: db)
        }
    }

    func devices(_ selection: DeviceSelection) async throws(OutboxError) -> [FoundDevice] {
        try await read { db in try DeviceTable.find(selection, in: db) }
    }

    func forget(audiences: [String], receipts: [ReceiptID]) async throws(OutboxError) {
        try await write { db, _ in
            for audience in audiences { try db.run("DELETE FROM requests WHERE audience = ?", [audience]) }
            for id in receipts {
                for table in ReceiptTally.tables { try db.run("DELETE FROM \(table) WHERE id = ?", [id.bytes.blob]) }
            }
        }
    }

    func endLogins(of user: UserName, at moment: Int64) async throws(OutboxError) {
        try await write { db, _ in
            try db.run(
                """
                INSERT INTO logins(user, ended) VALUES (?, ?)
                ON CONFLICT(user) DO UPDATE SET ended = max(ended, excluded.ended)
                """, [user.description, moment])
        }
    }

    func loginsEnded(for user: UserName) async throws(OutboxError) -> Int64? {
        try await read { db in try db.value("SELECT ended FROM logins WHERE user = ?", [user.description]) }
    }
}

enum DeviceTable {
    /// Registers a device as the rules decide.
    static func save(_ change: DeviceChange, at now: Int64, in db: Database) throws -> RegistrationChange {
        let row = try db.row("\(selection) WHERE devices.name = ?", [change.name.description])
        let registration = try Registration(change, knowing: row)
        let plan = try registration.plan(knowing: owners(registration, in: db))
        var discardedCount = 0
        for step in plan.steps {
            switch step {
            case .remove(let row): discardedCount += try remove(row, at: now, in: db)
            case .dropAddress(let row, let reason):
                try disable(row, "token = NULL, token_refusal = ?", reason, in: db)
            case .discardAll(let row): discardedCount += try EntryTable.discardAll(of: row, at: now, in: db)
            case .write(let keepsProof): try write(registration, keepsProof: keepsProof, in: db)
            case .redirect(let row, let carrier, let due): try QueueTable.redirect(row, to: carrier, dueBy: due, in: db)
            }
        }
        return plan.change(discarding: discardedCount)
    }

    private static func owners(_ registration: Registration, in db: Database) throws -> KnownOwners {
        let name = registration.new.device.name.description
        let count: Int? = try registration.countedUser.flatMap {
            try db.value("SELECT COUNT(*) FROM devices WHERE user = ?", [$0.description])
        }
        let enrolled = try registration.enrollment.map {
            try db.rows(
                """
                SELECT id, proven <> '' AS is_proven FROM enrollments JOIN devices ON device = id
                WHERE enrollment = ? AND user <> ? AND name <> ?
                """, [$0.description, registration.new.device.user.description, name])
        }
        let holder = try registration.address.flatMap {
            try db.row("SELECT id, \(nameColumn) FROM devices WHERE token = ? AND name <> ?", [$0.bytes.blob, name])
        }
        return try KnownOwners(deviceCount: count ?? 0, enrolled: enrolled ?? [], holder: holder)
    }

    /// Changes columns of a device's address, so that it has none that is used.
    static func disable(_ device: Int64, _ columns: String, _ reason: String, in db: Database) throws {
        try db.run(
            "UPDATE devices SET \(columns), is_proven = 0, \(SafeNumber.nextRevision) WHERE id = ?", [reason, device])
    }

    /// Removes a device and its waiting pushes, and returns the number of pushes.
    static func remove(_ id: Int64, at now: Int64, in db: Database) throws -> Int {
        let count = try EntryTable.discardAll(of: id, at: now, in: db)
        try db.run("DELETE FROM devices WHERE id = ?", [id])
        return count
    }

    static func find(_ wanted: DeviceSelection, in db: Database) throws -> [FoundDevice] {
        let (condition, arguments): (String, StatementArguments) =
            switch wanted {
            case .named(let name): ("devices.name = ?", [name.description])
            case .of(let user): ("user = ? ORDER BY devices.name", [user.description])
            case .enrolled(let key): ("enrollment = ?", [key.description])
            case .page(nil, let limit): ("true ORDER BY devices.name LIMIT ?", [limit])
            case .page(let name?, let limit):
                ("devices.name > CAST(? AS TEXT) ORDER BY devices.name LIMIT ?", [name.blob, limit])
            case .rows(let first, let limit): ("devices.id >= ? ORDER BY devices.id LIMIT ?", [first, limit])
            }
        let rows = try db.rows("\(selection) WHERE \(condition)", arguments)
        return try rows.map { try FoundDevice($0) }
    }

    private static func write(_ registration: Registration, keepsProof: Bool, in db: Database) throws {
        let row = DeviceRow(registration.new)
        let carrier = try NameTable.carriers.id(making: row.carrier, in: db)
        let number = try SafeNumber.next(in: "devices", in: db)
        try db.run(
            """
            INSERT INTO devices(name, user, topic, carrier, token, token_registered, token_refusal, recipient,
                is_verified, valid_from, valid_until, keeps, pin_code, address_code, id)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
            ON CONFLICT(name) DO UPDATE SET is_proven = is_proven AND ?16,
                user = ?2, topic = ?3, carrier = ?4, token = ?5, token_registered = ?6, token_refusal = ?7,
                recipient = ?8, is_verified = ?9, valid_from = ?10, valid_until = ?11, keeps = ?12, pin_code = ?13,
                address_code = ?14, \(SafeNumber.nextRevision)
            """,
            [
                row.name, row.user, row.topic, carrier, row.address?.blob, row.registered, row.refusal,
                row.key.recipient?.bytes.blob, row.key.isVerified, row.key.validFrom, row.key.validUntil,
                row.key.keeps, row.codes.pin?.blob, row.codes.address?.blob, number, keepsProof,
            ])
        try saveEnrollment(of: registration.row ?? number, row.enrollment, row.codes.enrollment, in: db)
    }

    private static func saveEnrollment(
        of id: Int64, _ keys: DeviceRow.Registrant?, _ code: [UInt8]?, in db: Database
    ) throws {
        guard let keys else { return try db.run("DELETE FROM enrollments WHERE device = ?", [id]) }
        try db.run(
            "INSERT OR REPLACE INTO enrollments(device, enrollment, record, proven, code) VALUES (?, ?, ?, ?, ?)",
            [id, keys.key, keys.record, keys.proven, code?.blob])
    }

    /// The device's name as SQL. GRDB would cut a text at a zero byte, and replace bytes that aren't UTF-8: an altered name
    /// would look like another device's.
    static let nameColumn = "CAST(devices.name AS BLOB) AS name"
    static let nameColumns = "\(nameColumn), CAST(user AS BLOB) AS user_name, CAST(topic AS BLOB) AS topic"

    fileprivate static let selection = """
        SELECT devices.id, \(nameColumns), CAST(carriers.name AS BLOB) AS carrier, token, token_registered, token_refusal,
            recipient, is_verified, valid_from, valid_until, keeps, enrollment, record, proven,
            pin_code, address_code, enrollments.code
        FROM devices LEFT JOIN carriers ON carriers.id = carrier LEFT JOIN enrollments ON device = devices.id
        """
}
