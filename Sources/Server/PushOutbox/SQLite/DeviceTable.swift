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
    /// Inserts or updates a device by name.
    static func save(_ change: DeviceChange, at now: Int64, in db: Database) throws -> RegistrationChange {
        let known = try change.known(
            db.row("\(selection) WHERE devices.name = ?", [change.name.description]))
        let new = try change.next(known?.stored)
        let device = new.device
        if let known {
            try RegistryRules.requireOwn(known.stored.device, device, movingFrom: change.previous)
        } else if change.deviceLimit < .max {
            let count: Int = try db.value("SELECT COUNT(*) FROM devices WHERE user = ?", [device.user.description]) ?? 0
            try RegistryRules.requireRoom(for: change, among: count)
        }
        var discardedCount = try RegistryRules.claim(device, others: others(device, in: db))
            .map { try remove($0, at: now, in: db) }.reduce(0, +)
        var loser: DeviceName?
        if case .active(let address, _) = device.address {
            let taken = try take(address, for: device.name, at: now, in: db)
            loser = taken.loser
            discardedCount += taken.discardedCount
        }
        let carrier = try NameTable.carriers.id(making: device.address.carrier.description, in: db)

        let number = try SafeNumber.next(in: "devices", in: db)
        try write(new, as: number, carrier: carrier, in: db)
        let id = known?.id ?? number
        if let known {
            if !device.isSamePlace(as: known.stored.device) {
                discardedCount += try EntryTable.discardAll(of: id, at: now, in: db)
            }
            if case .active(let address, let registered) = device.address,
                known.stored.device.address.address != address
            {
                try QueueTable.hurry(id, due: registered.secondsSince1970 * 1_000, in: db)
            }
        }
        try saveEnrollment(of: id, DeviceRow(device).enrollment, new.codes.enrollment, in: db)
        try db.run("UPDATE queues SET carrier = ? WHERE device = ?", [carrier, id])
        return RegistrationChange(isNew: known == nil, discardedCount: discardedCount, addressTakenFrom: loser)
    }

    /// Returns other users' devices under the same enrollment key.
    private static func others(_ device: RegisteredDevice, in db: Database) throws -> [(id: Int64, isProven: Bool)] {
        guard case .enrolled(let enrolled) = device.keys else { return [] }
        return try db.rows(
            """
            SELECT id, proven <> '' AS is_proven FROM enrollments JOIN devices ON device = id
            WHERE enrollment = ? AND user <> ? AND name <> ?
            """, [enrolled.enrollment.description, device.user.description, device.name.description]
        ).map { (try $0.int("id"), try $0.bool("is_proven")) }
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

    /// Takes the address from its previous holder, which is another installation. Pushes waiting for that one are
    /// discarded, because they must not be shown to the device's current user.
    private static func take(
        _ address: Address, for name: DeviceName, at now: Int64, in db: Database
    ) throws -> (loser: DeviceName?, discardedCount: Int) {
        let row = try db.row(
            "SELECT id, \(nameColumn) FROM devices WHERE token = ? AND name <> ?",
            [address.bytes.blob, name.description])
        guard let row else { return (nil, 0) }
        let holder = try row.int("id")
        try db.run(
            """
            UPDATE devices SET token = NULL, token_refusal = 'moved', is_proven = 0, \(SafeNumber.nextRevision)
            WHERE id = ?
            """, [holder])
        return (DeviceName(parsing: try row.text("name")), try EntryTable.discardAll(of: holder, at: now, in: db))
    }

    private static func write(_ new: StoredDevice, as number: Int64, carrier: Int64, in db: Database) throws {
        let row = DeviceRow(new.device)
        try db.run(
            """
            INSERT INTO devices(name, user, topic, carrier, token, token_registered, token_refusal, recipient,
                is_verified, valid_from, valid_until, keeps, pin_code, address_code, id)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
            ON CONFLICT(name) DO UPDATE SET is_proven = is_proven AND token IS ?5 AND topic IS ?3 AND carrier IS ?4,
                user = ?2, topic = ?3, carrier = ?4, token = ?5, token_registered = ?6, token_refusal = ?7,
                recipient = ?8, is_verified = ?9, valid_from = ?10, valid_until = ?11, keeps = ?12, pin_code = ?13,
                address_code = ?14, \(SafeNumber.nextRevision)
            """,
            [
                row.name, row.user, row.topic, carrier, row.address?.blob, row.registered, row.refusal,
                row.key.recipient?.bytes.blob, row.key.isVerified, row.key.validFrom, row.key.validUntil,
                row.key.keeps, new.codes.pin?.blob, new.codes.address?.blob, number,
            ])
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
