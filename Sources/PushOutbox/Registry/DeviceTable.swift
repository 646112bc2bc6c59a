internal import GRDB
import PushSender
import SealedPush
internal import _PushBase

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Devices as rows.
enum DeviceTable {
    /// Inserts or updates by name.
    static func save(
        _ device: RegisteredDevice, movingFrom previous: UserName? = nil, in db: Database
    ) throws -> RegistrationChange {
        let known = try load(device.name, in: db)
        if let known { try requireOwn(known.device, device, movingFrom: previous) }
        var discardedCount = try claim(device, knownAs: known?.device, in: db)
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
            if !device.isSamePlace(as: known.device) { discardedCount += try EntryTable.discardAll(of: id, in: db) }
            try update(id, device, carrier: carrier, in: db)
            if case .active(let address, let registered) = device.address, known.device.address.address != address {
                try QueueTable.hurry(id, due: registered.secondsSince1970 * 1_000, in: db)
            }
        } else {
            id = try insert(device, carrier: carrier, in: db)
        }
        try saveEnrolment(of: id, device.keys, in: db)
        try QueueTable.move(id, to: carrier, in: db)
        return RegistrationChange(isNew: known == nil, discardedCount: discardedCount, addressTakenFrom: loser)
    }

    /// A name says nothing about who may take it, and a pinned key is there so that no login alone replaces it.
    private static func requireOwn(
        _ known: RegisteredDevice, _ new: RegisteredDevice, movingFrom previous: UserName?
    ) throws(OutboxError) {
        guard known.user == new.user else {
            guard previous == known.user else { throw .otherUser(new.name) }
            return
        }
        guard case .enrolled(let pinned) = known.keys else { return }
        guard case .enrolled(let enrolled) = new.keys, enrolled.enrolment == pinned.enrolment else {
            throw .otherEnrolment(new.name)
        }
    }

    /// Whose a device is, its answer to a challenge says: a record is public, and anybody may hand in another's. Where this
    /// user's device has answered, what others have only pinned of it is forgotten; returns how many pushes waited there.
    /// Who had answered already goes on, also beside another who had: earlier versions have let both in.
    /// Source: Specification 11.5.8.
    private static func claim(
        _ device: RegisteredDevice, knownAs known: RegisteredDevice?, in db: Database
    ) throws -> Int {
        guard case .enrolled(let enrolled) = device.keys else { return 0 }
        var hadAnswered = false
        if let known, known.user == device.user, case .enrolled(let before) = known.keys {
            hadAnswered = before.enrolment == enrolled.enrolment && !before.proven.isEmpty
        }
        let others = try Row.fetchAll(
            db,
            sql: """
                SELECT id, proven FROM enrolments JOIN devices ON device = id
                WHERE enrolment = ? AND user <> ? AND name <> ?
                """,
            arguments: [enrolled.enrolment.description, device.user.description, device.name.description])
        let merelyPinned = try others.filter { try ($0.value("proven") as String).isEmpty }
        guard hadAnswered || merelyPinned.count == others.count else {
            throw OutboxError.enrolledElsewhere(device.name)
        }
        guard !enrolled.proven.isEmpty else { return 0 }
        return try merelyPinned.map { try remove($0.value("id"), in: db) }.reduce(0, +)
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

    static func load(_ name: DeviceName, in db: Database) throws -> (id: Int64, device: RegisteredDevice)? {
        let row = try Row.fetchOne(db, sql: "\(selection) WHERE devices.name = ?", arguments: [name.description])
        return try row.map { (try $0.value("id"), try device($0)) }
    }

    static func loadAll(of user: UserName, in db: Database) throws -> [RegisteredDevice] {
        try Row.fetchAll(db, sql: "\(selection) WHERE user = ? ORDER BY devices.name", arguments: [user.description])
            .map(device)
    }

    static func loadPage(after name: String, limit: Int, in db: Database) throws -> [RegisteredDevice] {
        try Row.fetchAll(
            db, sql: "\(selection) WHERE devices.name > ? ORDER BY devices.name LIMIT ?", arguments: [name, limit]
        ).map(device)
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

    private static func insert(_ device: RegisteredDevice, carrier: Int64, in db: Database) throws -> Int64 {
        try db.cachedStatement(
            sql: """
                INSERT INTO devices(name, user, topic, environment, token, token_registered, token_refusal, recipient,
                    is_verified, valid_from, valid_until) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: StatementArguments([device.name.description]) + columns(of: device, carrier))
        return db.lastInsertedRowID
    }

    private static func update(
        _ id: Int64, _ device: RegisteredDevice, carrier: Int64, in db: Database
    ) throws {
        try db.cachedStatement(
            sql: """
                UPDATE devices SET is_proven = is_proven AND token IS ?4 AND topic IS ?2 AND environment IS ?3,
                    user = ?1, topic = ?2, environment = ?3, token = ?4, token_registered = ?5, token_refusal = ?6,
                    recipient = ?7, is_verified = ?8, valid_from = ?9, valid_until = ?10, revision = revision + 1
                WHERE id = ?11
                """
        ).execute(arguments: columns(of: device, carrier) + [id])
    }

    /// All but the name. What is sealed to stands in columns of its own, so that a send to everyone reads no records: they
    /// were verified on their way in, and to verify them once more against a key in the same row would prove nothing.
    private static func columns(of device: RegisteredDevice, _ carrier: Int64) -> StatementArguments {
        let keys = SealingKey(device.keys)
        var arguments: StatementArguments = [device.user.description, device.topic.description, carrier]
        switch device.address {
        case .active(let address, let registered):
            arguments += [Data(address.bytes), registered.secondsSince1970 * 1_000, nil]
        case .disabled(let address, let registered, let reason):
            arguments += [Data(address.bytes), registered.secondsSince1970 * 1_000, reason]
        case .none(_, let reason): arguments += [nil, 0, reason]
        }
        return arguments + [keys.recipient?.description, keys.isVerified, keys.validFrom, keys.validUntil]
    }

    private static func saveEnrolment(of id: Int64, _ keys: DeviceKeys, in db: Database) throws {
        switch keys {
        case .unverified:
            try db.cachedStatement(sql: "DELETE FROM enrolments WHERE device = ?").execute(arguments: [id])
        case .enrolled(let enrolled):
            try db.cachedStatement(
                sql: "INSERT OR REPLACE INTO enrolments(device, enrolment, record, proven) VALUES (?, ?, ?, ?)"
            ).execute(arguments: [
                id, enrolled.enrolment.description, enrolled.record.description,
                enrolled.proven.map(\.description).sorted().joined(separator: " "),
            ])
        }
    }

    private static let selection = """
        SELECT devices.id, devices.name, user, topic, carriers.name AS carrier, token, token_registered, token_refusal,
            recipient, enrolment, record, proven
        FROM devices LEFT JOIN carriers ON carriers.id = environment LEFT JOIN enrolments ON device = devices.id
        """

    private static func device(_ row: Row) throws -> RegisteredDevice {
        guard let name = DeviceName(parsing: try row.value("name")),
            let user = UserName(parsing: try row.value("user")), let topic = Topic(parsing: try row.value("topic"))
        else { throw OutboxError.damaged }
        return RegisteredDevice(
            name: name, user: user, topic: topic, keys: try keys(row), address: try address(row))
    }

    private static func address(_ row: Row) throws -> AddressState {
        let reason: String? = try row.value("token_refusal")
        guard let carrier = Carrier(try row.value("carrier") ?? "") else { throw OutboxError.damaged }
        guard let bytes: Data = try row.value("token") else { return .none(carrier, reason: reason) }
        guard let address = Address(Array(bytes), of: carrier) else { throw OutboxError.damaged }
        let registered = Timestamp(clamping: try row.value("token_registered") / 1_000)
        if let reason { return .disabled(address, registered: registered, reason: reason) }
        return .active(address, registered: registered)
    }

    private static func keys(_ row: Row) throws -> DeviceKeys {
        do {
            guard let enrolment: String = try row.value("enrolment") else {
                return .unverified(try Recipient(parsing: try row.value("recipient") ?? ""))
            }
            let proven: String = try row.value("proven")
            return .enrolled(
                try EnrolledDevice(
                    loading: try Enrolment(parsing: enrolment),
                    record: try DeviceRecord(parsing: try row.value("record")),
                    proven: try proven.split(separator: " ").map { try Recipient(parsing: String($0)) }))
        } catch { throw OutboxError.damaged }
    }
}

extension RegisteredDevice {
    /// Whether what waits for the other may be shown here: the same person, app and installation.
    fileprivate func isSamePlace(as other: RegisteredDevice) -> Bool {
        guard user == other.user, topic == other.topic else { return false }
        return switch (keys, other.keys) {
        case (.enrolled(let new), .enrolled(let old)): new.enrolment == old.enrolment
        // A device whose login-only key is now proven by records is still that device.
        case (.enrolled(let new), .unverified(let old)): new.record.recipients.contains(old)
        case (.unverified(let new), .unverified(let old)): new == old
        case (.unverified, .enrolled): false
        }
    }
}

/// Carriers as rows, so that devices and queues hold a number only, in their column `environment`. There are few, and they
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
