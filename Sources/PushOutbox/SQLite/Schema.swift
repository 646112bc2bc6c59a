internal import GRDB

/// The tables, by version. A version that was released is never changed; a new one is added behind it.
enum Schema {
    /// "SPUB": marks the file as ours. Source: SQLite, `PRAGMA application_id`.
    static let applicationID = 0x5350_5542
    static var version: Int { migrations.count }

    /// Brings the file up to date, in one transaction.
    static func migrate(_ db: Database) throws {
        let current = try userVersion(db)
        guard current < version else { return }
        for migration in migrations[current...] { try db.execute(sql: migration) }
        try db.execute(sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
    }

    /// Throws unless the file is ours or empty, and not of a later version.
    static func check(_ db: Database) throws {
        let id = try Int.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let tableCount = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_schema") ?? 0
        guard id == applicationID || (id == 0 && tableCount == 0) else { throw OutboxError.foreign }
        if try db.tableExists("moved") {
            throw OutboxError.moved(to: try String.fetchOne(db, sql: "SELECT place FROM moved") ?? "")
        }
        let found = try userVersion(db)
        guard found <= version else { throw OutboxError.tooNew(version: found) }
    }

    private static func userVersion(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
    }

    static let migrations = [
        // 1. Times are milliseconds since 1970, but for what a record or a header counts in seconds.
        """
        CREATE TABLE devices(
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE,
            user TEXT NOT NULL,
            topic TEXT NOT NULL,
            environment INTEGER NOT NULL,
            token BLOB UNIQUE,
            token_registered INTEGER NOT NULL,
            token_refusal TEXT,
            -- Whether APNs has taken a push for this token: what has not must not slow down what has.
            is_proven INTEGER NOT NULL DEFAULT 0,
            recipient TEXT,
            is_verified INTEGER NOT NULL,
            valid_from INTEGER NOT NULL,
            valid_until INTEGER NOT NULL,
            revision INTEGER NOT NULL DEFAULT 1
        ) STRICT;
        CREATE INDEX devices_by_user ON devices(user);

        CREATE TABLE enrolments(
            device INTEGER PRIMARY KEY REFERENCES devices(id) ON DELETE CASCADE,
            enrolment TEXT NOT NULL,
            record TEXT NOT NULL,
            proven TEXT NOT NULL
        ) STRICT;

        -- Sealed payloads that wait. A row is written once and deleted once; all that changes is in queues.
        CREATE TABLE entries(
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            device INTEGER NOT NULL,
            priority INTEGER NOT NULL,
            enqueued INTEGER NOT NULL,
            stale INTEGER NOT NULL,
            expiration INTEGER,
            apns_id TEXT NOT NULL,
            collapse_id TEXT NOT NULL,
            body BLOB NOT NULL
        ) STRICT;
        CREATE INDEX entries_by_device ON entries(device, priority);
        CREATE INDEX entries_by_stale ON entries(stale) WHERE stale < enqueued + 2592000000;

        -- One row for each device for which something waits: when its oldest entry may be taken. While it is leased, due
        -- is the lease's deadline, so what a dead process held comes due again by itself.
        CREATE TABLE queues(
            device INTEGER PRIMARY KEY,
            environment INTEGER NOT NULL,
            priority INTEGER NOT NULL,
            due INTEGER NOT NULL,
            lease INTEGER,
            entry INTEGER,
            attempts INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX queues_by_due ON queues(environment, priority, due);

        CREATE TABLE dead_letters(
            id INTEGER PRIMARY KEY,
            device INTEGER NOT NULL,
            priority INTEGER NOT NULL,
            enqueued INTEGER NOT NULL,
            stale INTEGER NOT NULL,
            expiration INTEGER,
            apns_id TEXT NOT NULL,
            collapse_id TEXT NOT NULL,
            body BLOB NOT NULL,
            reason TEXT NOT NULL,
            attempts INTEGER NOT NULL,
            died INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX dead_letters_by_device ON dead_letters(device);

        CREATE TABLE requests(
            key BLOB PRIMARY KEY,
            audience TEXT NOT NULL,
            position INTEGER NOT NULL,
            is_complete INTEGER NOT NULL,
            enqueued INTEGER NOT NULL,
            created INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE tallies(
            day INTEGER NOT NULL,
            outcome TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY(day, outcome)
        ) STRICT, WITHOUT ROWID;
        """,
        // 2. Receipts: what was counted, by the day it came; whose they were; and which came, so that none counts twice.
        """
        CREATE TABLE receipt_tallies(
            day INTEGER NOT NULL,
            outcome TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY(day, outcome)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE receipt_devices(
            id BLOB PRIMARY KEY,
            last INTEGER NOT NULL,
            shown INTEGER NOT NULL,
            failed INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE receipt_numbers(
            number BLOB PRIMARY KEY,
            day INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX receipt_numbers_by_day ON receipt_numbers(day);
        """,
        // 3. How many of a device's receipts came on the last day that had any: there is a limit.
        """
        ALTER TABLE receipt_devices ADD COLUMN day INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE receipt_devices ADD COLUMN shown_that_day INTEGER NOT NULL DEFAULT 0;
        """,
        // 4. A receipt's number is its device's: another device that claims it says nothing about that one. Numbers from
        // before are no device's, and known of each. What did not open has a limit by device and day, and devices by reason.
        """
        CREATE TABLE device_receipt_numbers(
            id BLOB NOT NULL,
            number BLOB NOT NULL,
            day INTEGER NOT NULL,
            PRIMARY KEY(id, number)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO device_receipt_numbers(id, number, day) SELECT x'', number, day FROM receipt_numbers;
        DROP TABLE receipt_numbers;
        ALTER TABLE device_receipt_numbers RENAME TO receipt_numbers;
        CREATE INDEX receipt_numbers_by_day ON receipt_numbers(day);

        ALTER TABLE receipt_devices ADD COLUMN failed_that_day INTEGER NOT NULL DEFAULT 0;

        CREATE TABLE receipt_failures(
            id BLOB NOT NULL,
            reason TEXT NOT NULL,
            last INTEGER NOT NULL,
            PRIMARY KEY(id, reason)
        ) STRICT, WITHOUT ROWID;
        """,
        // 5. By whose key what waits was sealed: NULL for what an earlier version has stored. The indices are for counting
        // without reading bodies.
        """
        CREATE TABLE senders(
            id INTEGER PRIMARY KEY,
            key TEXT NOT NULL UNIQUE
        ) STRICT;
        ALTER TABLE entries ADD COLUMN sender INTEGER;
        ALTER TABLE dead_letters ADD COLUMN sender INTEGER;
        CREATE INDEX entries_by_sender ON entries(sender);
        CREATE INDEX dead_letters_by_sender ON dead_letters(sender);
        """,
        // 6. For whom else an enrolment key is pinned.
        """
        CREATE INDEX enrolments_by_key ON enrolments(enrolment);
        """,
        // 7. Who carries a device's pushes: Apple's two environments, as they were counted so far, and others.
        """
        CREATE TABLE carriers(
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE
        ) STRICT;
        INSERT INTO carriers(id, name) VALUES (0, 'apns'), (1, 'apns-sandbox');
        """,
        // 8. Codes by a key that is not in the file; NULL where there is none.
        """
        ALTER TABLE entries ADD COLUMN code BLOB;
        ALTER TABLE dead_letters ADD COLUMN code BLOB;
        ALTER TABLE devices ADD COLUMN pin_code BLOB;
        ALTER TABLE devices ADD COLUMN address_code BLOB;
        ALTER TABLE enrolments ADD COLUMN code BLOB;
        CREATE TABLE protection(since INTEGER NOT NULL) STRICT;
        """,
        // 9. Of messages for everyone: devices, by number, that somebody seals for or has sealed for, and that are not stored.
        """
        CREATE TABLE ranges(
            key BLOB NOT NULL REFERENCES requests(key) ON DELETE CASCADE,
            start INTEGER NOT NULL,
            last INTEGER NOT NULL,
            PRIMARY KEY(key, start)
        ) STRICT, WITHOUT ROWID;
        """,
    ]
}

/// What stands in a column. GRDB's subscripts end the program where a value is not of the type that is asked for, as in a file
/// that is damaged or was written by another program; these throw, and the outbox is `damaged`.
extension Row {
    func value<Value: DatabaseValueConvertible>(_ column: String) throws -> Value { try decode(forColumn: column) }

    func value<Value: DatabaseValueConvertible>(at index: Int) throws -> Value { try decode(atIndex: index) }

    /// A number of things: 0 to 2^40, so that no sum of such numbers is too large.
    func count(_ column: String) throws -> Int { Self.bounded(try value(column)) }

    func count(at index: Int) throws -> Int { Self.bounded(try value(at: index)) }

    private static func bounded(_ count: Int) -> Int { Swift.min(Swift.max(count, 0), 1 << 40) }
}
