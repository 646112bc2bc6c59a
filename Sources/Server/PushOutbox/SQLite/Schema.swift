internal import GRDB

/// The tables, created all at once.
enum Schema {
    /// "SPUB": marks the file as ours. Source: SQLite, `PRAGMA application_id`.
    static let applicationID = 0x5350_5542
    /// The version of these tables. When they change, raise it, and add a step from the previous version.
    static let version = SchemaVersion(5, oldest: 4)
    /// The statements that lead from each version to the next.
    static let steps = [4: clock]

    /// Creates the tables if there are none, or upgrades them; in the caller's transaction.
    static func make(_ db: Database, _ version: SchemaVersion = version, by steps: [Int: String] = steps) throws {
        let found = try userVersion(db)
        let statements =
            found == 0
            ? [tables, "PRAGMA application_id = \(applicationID)"]
            : try SchemaVersion(stored: found)?.upgrade(to: version, by: steps) ?? []
        guard !statements.isEmpty else { return }
        try db.execute(sql: (statements + ["PRAGMA user_version = \(version.stored)"]).joined(separator: ";\n"))
    }

    /// Throws unless the file is empty, or ours and of a version that can be used, if necessary after an upgrade.
    static func check(_ db: Database, isReadOnly: Bool = false) throws {
        let id = try Int.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let tableCount = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_schema") ?? 0
        if id == 0 && tableCount == 0 { return }
        guard id == applicationID else { throw OutboxError.foreign }
        guard let found = SchemaVersion(stored: try userVersion(db)),
            try found.upgrade(to: version, by: steps).isEmpty || !isReadOnly
        else { throw OutboxError.otherSchema }
    }

    static func userVersion(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
    }

    /// A sealed push, waiting or refused.
    private static let push = """
        device INTEGER NOT NULL, priority INTEGER NOT NULL, enqueued INTEGER NOT NULL, stale INTEGER NOT NULL,
        expiration INTEGER, apns_id TEXT NOT NULL, collapse_id TEXT NOT NULL, body BLOB NOT NULL, sender INTEGER,
        code BLOB, message TEXT
        """

    /// The wall clock minus the uptime since a start of the machine, in milliseconds, by which the due times were recorded.
    private static let clock = "CREATE TABLE clock(boot TEXT NOT NULL, base INTEGER NOT NULL) STRICT"

    /// Times are in milliseconds since 1970, except for times in records and headers, which are in seconds.
    private static let tables = """
        -- The mark of the outbox's key; no row if it has none.
        CREATE TABLE marks(mark BLOB NOT NULL) STRICT;
        \(clock);

        -- The carriers of devices' pushes.
        CREATE TABLE carriers(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

        CREATE TABLE devices(
            id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,
            user TEXT NOT NULL, topic TEXT NOT NULL, carrier INTEGER NOT NULL,
            token BLOB UNIQUE, token_registered INTEGER NOT NULL, token_refusal TEXT,
            -- Whether the carrier has accepted a push for this token: unproven tokens must not slow down proven ones.
            is_proven INTEGER NOT NULL DEFAULT 0,
            recipient BLOB, is_verified INTEGER NOT NULL, valid_from INTEGER NOT NULL, valid_until INTEGER NOT NULL,
            -- Days; NULL if no record specifies it.
            keeps INTEGER CHECK (keeps BETWEEN 1 AND 31),
            revision INTEGER NOT NULL DEFAULT 1,
            -- Codes made with a key that isn't in the file, here and below; NULL if the outbox has none.
            pin_code BLOB, address_code BLOB
        ) STRICT;
        CREATE INDEX devices_by_user ON devices(user);

        CREATE TABLE enrollments(
            device INTEGER PRIMARY KEY REFERENCES devices(id) ON DELETE CASCADE, enrollment TEXT NOT NULL,
            record TEXT NOT NULL, proven TEXT NOT NULL, code BLOB
        ) STRICT;
        -- Finds the other users for whom an enrollment key is pinned.
        CREATE INDEX enrollments_by_key ON enrollments(enrollment);

        -- The time until which a user's logins are invalid.
        CREATE TABLE logins(user TEXT PRIMARY KEY, ended INTEGER NOT NULL) STRICT, WITHOUT ROWID;

        -- The senders' public keys.
        CREATE TABLE senders(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

        -- Waiting sealed payloads. A row is written once and deleted once; mutable state is in queues.
        CREATE TABLE entries(id INTEGER PRIMARY KEY AUTOINCREMENT, \(push)) STRICT;
        CREATE INDEX entries_by_device ON entries(device, priority);
        CREATE INDEX entries_by_stale ON entries(stale) WHERE stale < enqueued + 2592000000;
        CREATE INDEX entries_by_sender ON entries(sender);

        -- One row for each device with waiting entries: when its oldest entry may be taken. While it is leased, due is the
        -- lease's deadline, so entries held by a dead process come due again by themselves.
        CREATE TABLE queues(
            device INTEGER PRIMARY KEY, carrier INTEGER NOT NULL, priority INTEGER NOT NULL, due INTEGER NOT NULL,
            lease INTEGER, entry INTEGER, attempts INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX queues_by_due ON queues(carrier, priority, due);

        CREATE TABLE dead_letters(
            id INTEGER PRIMARY KEY, \(push), reason TEXT NOT NULL, attempts INTEGER NOT NULL, died INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX dead_letters_by_device ON dead_letters(device);
        CREATE INDEX dead_letters_by_sender ON dead_letters(sender);

        CREATE TABLE requests(
            key BLOB PRIMARY KEY, audience TEXT NOT NULL, position INTEGER NOT NULL, is_complete INTEGER NOT NULL,
            enqueued INTEGER NOT NULL, created INTEGER NOT NULL, message TEXT NOT NULL,
            -- A MAC of the content made with the sender's key; NULL if the caller gave no key.
            fingerprint BLOB
        ) STRICT, WITHOUT ROWID;

        -- The outcomes of messages, by device; for a broadcast, device 0 counts them all.
        CREATE TABLE outcomes(
            message TEXT NOT NULL, device INTEGER NOT NULL, outcome TEXT NOT NULL, count INTEGER NOT NULL,
            created INTEGER NOT NULL, PRIMARY KEY(message, device, outcome)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX outcomes_by_age ON outcomes(created);

        -- For broadcasts: ranges of device numbers that have been started but not stored.
        CREATE TABLE ranges(
            key BLOB NOT NULL REFERENCES requests(key) ON DELETE CASCADE, start INTEGER NOT NULL, last INTEGER NOT NULL,
            PRIMARY KEY(key, start)
        ) STRICT, WITHOUT ROWID;

        -- The outcomes of pushes and the contents of receipts, by day.
        CREATE TABLE tallies(
            day INTEGER NOT NULL, outcome TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY(day, outcome)
        ) STRICT, WITHOUT ROWID;

        -- Receipts: the devices that sent them, and their numbers, so that none is counted twice.
        CREATE TABLE receipt_devices(
            id BLOB PRIMARY KEY, last INTEGER NOT NULL, shown INTEGER NOT NULL, failed INTEGER NOT NULL,
            day INTEGER NOT NULL, shown_that_day INTEGER NOT NULL, failed_that_day INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE receipt_numbers(
            id BLOB NOT NULL, number BLOB NOT NULL, day INTEGER NOT NULL, PRIMARY KEY(id, number)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX receipt_numbers_by_day ON receipt_numbers(day);

        CREATE TABLE receipt_failures(
            id BLOB NOT NULL, reason TEXT NOT NULL, last INTEGER NOT NULL, PRIMARY KEY(id, reason)
        ) STRICT, WITHOUT ROWID;
        """
}
