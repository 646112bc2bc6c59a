internal import GRDB
import PushSender
import SealedPush

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension SQLiteStore {
    func register(_ changes: [DeviceChange]) async throws(OutboxError) -> [RegistrationChange] {
        try await write { db in try changes.map { try DeviceTable.save($0, in: db) } }
    }

    func remove(_ name: DeviceName) async throws(OutboxError) -> Int {
        try await write { db in
            guard let id = try DeviceTable.id(of: name, in: db) else { throw OutboxError.unknownDevice }
            return try DeviceTable.remove(id, in: db)
        }
    }

    func devices(_ selection: DeviceSelection) async throws(OutboxError) -> [FoundDevice] {
        try await read { db in try DeviceTable.find(selection, in: db) }
    }
}

/// Devices as rows.
enum DeviceTable {
    /// Inserts or updates by name.
    static func save(_ change: DeviceChange, in db: Database) throws -> RegistrationChange {
        let known = try load(change.name, knowing: change.record, in: db)
        let new = try change.next(known?.stored)
        let device = new.device
        if let known {
            try RegistryRules.requireOwn(known.stored.device, device, movingFrom: change.previous)
        } else if change.deviceLimit < .max {
            try RegistryRules.requireRoom(for: change, among: count(of: device.user, in: db))
        }
        var discardedCount = try RegistryRules.claim(device, others: others(device, in: db))
            .map { try remove($0, in: db) }.reduce(0, +)
        var loser: DeviceName?
        if case .active(let address, _) = device.address {
            let taken = try take(address, for: device.name, in: db)
            loser = taken.loser
            discardedCount += taken.discardedCount
        }
        let carrier = try CarrierTable.id(making: device.address.carrier, in: db)

        let id: Int64
        if let known {
            id = known.id
            if !device.isSamePlace(as: known.stored.device) {
                discardedCount += try EntryTable.discardAll(of: id, in: db)
            }
            try update(id, new, carrier: carrier, in: db)
            if case .active(let address, let registered) = device.address,
                known.stored.device.address.address != address
            {
                try QueueTable.hurry(id, due: registered.secondsSince1970 * 1_000, in: db)
            }
        } else {
            id = try insert(new, carrier: carrier, in: db)
        }
        try saveEnrollment(of: id, DeviceRow(device).enrollment, new.codes.enrollment, in: db)
        try QueueTable.move(id, to: carrier, in: db)
        return RegistrationChange(isNew: known == nil, discardedCount: discardedCount, addressTakenFrom: loser)
    }

    /// Other users' devices under the same enrollment key.
    private static func others(_ device: RegisteredDevice, in db: Database) throws -> [(id: Int64, isProven: Bool)] {
        guard case .enrolled(let enrolled) = device.keys else { return [] }
        return try Row.fetchAll(
            db,
            sql: """
                SELECT id, proven <> '' AS is_proven FROM enrollments JOIN devices ON device = id
                WHERE enrollment = ? AND user <> ? AND name <> ?
                """,
            arguments: [enrolled.enrollment.description, device.user.description, device.name.description]
        ).map { (try $0.value("id"), try $0.value("is_proven")) }
    }

    private static func count(of user: UserName, in db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM devices WHERE user = ?", arguments: [user.description]) ?? 0
    }

    /// Forgets a device and what waits for it; returns how many pushes that were.
    static func remove(_ id: Int64, in db: Database) throws -> Int {
        let count = try EntryTable.discardAll(of: id, in: db)
        try db.execute(sql: "DELETE FROM devices WHERE id = ?", arguments: [id])
        return count
    }

    static func id(of name: DeviceName, in db: Database) throws -> Int64? {
        try Int64.fetchOne(db, sql: "SELECT id FROM devices WHERE name = ?", arguments: [name.description])
    }

    private static func load(
        _ name: DeviceName, knowing record: DeviceRecord?, in db: Database
    ) throws -> (id: Int64, stored: StoredDevice)? {
        let row = try Row.fetchOne(db, sql: "\(selection) WHERE devices.name = ?", arguments: [name.description])
        return try row.map { (try $0.value("id"), try device($0, knowing: record)) }
    }

    static func find(_ wanted: DeviceSelection, in db: Database) throws -> [FoundDevice] {
        let rows =
            switch wanted {
            case .named(let name):
                try Row.fetchAll(db, sql: "\(selection) WHERE devices.name = ?", arguments: [name.description])
            case .of(let user):
                try Row.fetchAll(
                    db, sql: "\(selection) WHERE user = ? ORDER BY devices.name", arguments: [user.description])
            case .page(let name, let limit):
                try Row.fetchAll(
                    db, sql: "\(selection) WHERE devices.name > ? ORDER BY devices.name LIMIT ?",
                    arguments: [name ?? "", limit])
            }
        return try rows.map { FoundDevice(name: try $0.value("name"), stored: try? device($0)) }
    }

    /// The address's earlier holder is another installation, which has it no more; what waited for that one must not be
    /// shown to whoever holds the device now.
    private static func take(
        _ address: Address, for name: DeviceName, in db: Database
    ) throws -> (loser: DeviceName?, discardedCount: Int) {
        let row = try Row.fetchOne(
            db, sql: "SELECT id, name FROM devices WHERE token = ? AND name <> ?",
            arguments: [Data(address.bytes), name.description])
        guard let row else { return (nil, 0) }
        let holder: Int64 = try row.value("id")
        try db.execute(
            sql: """
                UPDATE devices SET token = NULL, token_refusal = 'moved', is_proven = 0, revision = revision + 1
                WHERE id = ?
                """, arguments: [holder])
        return (DeviceName(parsing: try row.value("name")), try EntryTable.discardAll(of: holder, in: db))
    }

    private static func insert(_ new: StoredDevice, carrier: Int64, in db: Database) throws -> Int64 {
        try db.cachedStatement(
            sql: """
                INSERT INTO devices(name, user, topic, carrier, token, token_registered, token_refusal, recipient,
                    is_verified, valid_from, valid_until, pin_code, address_code)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: StatementArguments([new.device.name.description]) + columns(of: new, carrier))
        return db.lastInsertedRowID
    }

    private static func update(_ id: Int64, _ new: StoredDevice, carrier: Int64, in db: Database) throws {
        try db.cachedStatement(
            sql: """
                UPDATE devices SET is_proven = is_proven AND token IS ?4 AND topic IS ?2 AND carrier IS ?3,
                    user = ?1, topic = ?2, carrier = ?3, token = ?4, token_registered = ?5, token_refusal = ?6,
                    recipient = ?7, is_verified = ?8, valid_from = ?9, valid_until = ?10, pin_code = ?11,
                    address_code = ?12, revision = revision + 1
                WHERE id = ?13
                """
        ).execute(arguments: columns(of: new, carrier) + [id])
    }

    /// All but the name.
    private static func columns(of new: StoredDevice, _ carrier: Int64) -> StatementArguments {
        let (row, keys) = (DeviceRow(new.device), SealingKey(new.device.keys))
        return [
            row.user, row.topic, carrier, row.address.map { Data($0) }, row.registered, row.refusal,
            row.recipient.map { Data($0) },
            keys.isVerified, keys.validFrom, keys.validUntil, new.codes.pin.map { Data($0) },
            new.codes.address.map { Data($0) },
        ]
    }

    private static func saveEnrollment(
        of id: Int64, _ keys: DeviceRow.Registrant?, _ code: [UInt8]?, in db: Database
    ) throws {
        guard let keys else {
            return try db.cachedStatement(sql: "DELETE FROM enrollments WHERE device = ?").execute(arguments: [id])
        }
        try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO enrollments(device, enrollment, record, proven, code) VALUES (?, ?, ?, ?, ?)"
        ).execute(arguments: [id, keys.key, keys.record, keys.proven, code.map { Data($0) }])
    }

    private static let selection = """
        SELECT devices.id, devices.name, user, topic, carriers.name AS carrier_name, token, token_registered, token_refusal,
            recipient, enrollment, record, proven, pin_code, address_code, enrollments.code
        FROM devices LEFT JOIN carriers ON carriers.id = carrier LEFT JOIN enrollments ON device = devices.id
        """

    private static func device(_ row: Row, knowing record: DeviceRecord? = nil) throws -> StoredDevice {
        let (pin, place, code): (Data?, Data?, Data?) = try (
            row.value("pin_code"), row.value("address_code"), row.value("code")
        )
        let address: Data? = try row.value("token")
        var enrollment: DeviceRow.Registrant?
        if let key: String = try row.value("enrollment") {
            enrollment = .init(key: key, record: try row.value("record"), proven: try row.value("proven"))
        }
        let device = try DeviceRow(
            name: row.value("name"), user: row.value("user"), topic: row.value("topic"),
            carrier: row.value("carrier_name") ?? "", address: address.map { Array($0) },
            registered: row.value("token_registered"), refusal: row.value("token_refusal"),
            recipient: (row.value("recipient") as Data?).map { Array($0) }, enrollment: enrollment
        ).device(knowing: record)
        return StoredDevice(
            device,
            DeviceCodes(
                pin: pin.map { Array($0) }, address: place.map { Array($0) }, enrollment: code.map { Array($0) })
        )
    }
}

/// Carriers as rows, so that devices and queues hold a number only, in their column `carrier`. There are few, and they
/// stay.
enum CarrierTable {
    /// Makes the row where there is none.
    static func id(making carrier: Carrier, in db: Database) throws -> Int64 {
        if let id = try id(of: carrier, in: db) { return id }
        try db.execute(sql: "INSERT INTO carriers(name) VALUES (?)", arguments: [carrier.description])
        return db.lastInsertedRowID
    }

    /// Nil where no device ever had it.
    static func id(of carrier: Carrier, in db: Database) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT id FROM carriers WHERE name = ?"), arguments: [carrier.description])
    }
}
