internal import GRDB
import PushSender
import SealedPush

/// The tables, created all at once.
enum Schema {
    /// "SPUB": marks the file as ours. Source: SQLite, `PRAGMA application_id`.
    static let applicationID = 0x5350_5542
    /// The version of these tables. When they change, raise it, and add a step from the previous version.
    static let version = SchemaVersion(7)
    /// The statements that lead from each version to the next.
    static let steps: [Int: String] = [:]

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
        device INTEGER NOT NULL, priority INTEGER NOT NULL, enqueued INTEGER NOT NULL, send_until INTEGER NOT NULL,
        expiration INTEGER, apns_id TEXT NOT NULL, collapse_id TEXT NOT NULL, body BLOB NOT NULL, sender INTEGER,
        code BLOB, message TEXT
        """

    /// Returns the condition for a text of at most this many bytes, without a zero byte, whose characters are all in `set`.
    private static func isText(_ column: String, upTo maximum: Int, of set: String) -> String {
        isBytes(column, upTo: maximum) + " AND \(column) NOT GLOB '*[^\(set)]*'"
    }

    /// Returns the condition for the name of a user or device, except that it doesn't require UTF-8. Functions and patterns
    /// of SQLite end at a zero byte.
    private static func isName(_ column: String) -> String {
        // GLOB reads U+FFFE and U+FFFF as U+FFFD, which is visible.
        let invisible = VisibleText.invisible.filter { $0.lowerBound != 0xfffe }
        return isBytes(column, upTo: DeviceName.maximumByteCount)
            + " AND \(column) NOT GLOB '*[' || \(characters([0x1...0x1f, 0x7f...0x9f])) || ']*'"
            + " AND \(column) GLOB '*[^' || \(characters(invisible)) || ']*'"
            + " AND \(column) NOT IN ('.', '..')"
    }

    /// Returns an expression for the ranges between brackets of a pattern. A function takes at most 100 arguments.
    private static func characters(_ ranges: [ClosedRange<UInt32>]) -> String {
        stride(from: 0, to: ranges.count, by: 33).map { start in
            let numbers = ranges[start..<min(start + 33, ranges.count)].map { range in
                "\(max(range.lowerBound, 1)), 45, \(range.upperBound)"
            }
            return "char(\(numbers.joined(separator: ", ")))"
        }.joined(separator: " || ")
    }

    private static let isTopic = isText("topic", upTo: Topic.maximumByteCount, of: "A-Za-z0-9.-")
    private static let isCarrier = isText("name", upTo: Carrier.maximumByteCount, of: "a-z0-9-")
    private static let recipientByteCounts = DevicePublicKey.byteCounts.map(String.init).joined(separator: ", ")

    private static func isBytes(_ column: String, upTo maximum: Int) -> String {
        "length(CAST(\(column) AS BLOB)) BETWEEN 1 AND \(maximum) AND instr(CAST(\(column) AS BLOB), x'00') = 0"
    }

    /// Times are in milliseconds since 1970, except for times in records and headers, which are in seconds.
    private static let tables = """
        -- The mark of the outbox's key; no row if it has none.
        CREATE TABLE marks(mark BLOB NOT NULL) STRICT;
        -- The wall clock minus the uptime since a start of the machine, in milliseconds, by which the due times were recorded.
        CREATE TABLE clock(boot TEXT NOT NULL, base INTEGER NOT NULL) STRICT;

        -- The carriers of devices' pushes.
        CREATE TABLE carriers(
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE CHECK (\(isCarrier))
        ) STRICT;

        CREATE TABLE devices(
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            -- Names are also checked when a row is read, because a file may contain anything.
            name TEXT NOT NULL UNIQUE CHECK (\(isName("name"))), user TEXT NOT NULL CHECK (\(isName("user"))),
            topic TEXT NOT NULL CHECK (\(isTopic)), carrier INTEGER NOT NULL,
            token BLOB UNIQUE CHECK (length(token) BETWEEN 1 AND \(Address.maximumByteCount)), token_registered INTEGER NOT NULL,
            token_refusal TEXT,
            -- Whether the carrier has accepted a push for this token: unproven tokens must not slow down proven ones.
            is_proven INTEGER NOT NULL DEFAULT 0,
            recipient BLOB CHECK (length(recipient) IN (\(recipientByteCounts))), is_verified INTEGER NOT NULL,
            valid_from INTEGER NOT NULL, valid_until INTEGER NOT NULL,
            -- Days; NULL if no record specifies it.
            keeps INTEGER CHECK (keeps BETWEEN \(ListForm.keeps.lowerBound) AND \(ListForm.keeps.upperBound)),
            revision INTEGER NOT NULL DEFAULT 1,
            -- Codes made with a key that isn't in the file, here and below; NULL if the outbox has none.
            pin_code BLOB, address_code BLOB
        ) STRICT;
        CREATE INDEX devices_by_user ON devices(user);

        CREATE TABLE enrollments(
            device INTEGER PRIMARY KEY REFERENCES devices(id) ON DELETE CASCADE,
            enrollment TEXT NOT NULL CHECK (\(isText("enrollment", upTo: 73, of: "a-z0-9"))),
            record TEXT NOT NULL
                CHECK (\(isText("record", upTo: DeviceRecord.maximumCharacterCount, of: "A-Za-z0-9_.-"))
                    AND record GLOB 'pushrecord.?*'),
            proven TEXT NOT NULL CHECK (proven NOT GLOB '*[^A-Za-z0-9._ -]*' AND instr(CAST(proven AS BLOB), x'00') = 0),
            code BLOB
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
        CREATE INDEX entries_by_send_until ON entries(send_until) WHERE send_until < enqueued + \(EnqueueOrder.lifetime);
        CREATE INDEX entries_by_sender ON entries(sender);

        -- One row for each device with waiting entries: when its oldest entry may be taken. While it is leased, due is the
        -- lease's deadline, so entries held by a dead process come due again by themselves.
        CREATE TABLE queues(
            device INTEGER PRIMARY KEY, carrier INTEGER NOT NULL, priority INTEGER NOT NULL, due INTEGER NOT NULL,
            lease INTEGER, entry INTEGER, attempts INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX queues_by_due ON queues(carrier, priority, due);

        CREATE TABLE dead_letters(
            id INTEGER PRIMARY KEY, \(push), reason TEXT NOT NULL, attempts INTEGER NOT NULL, buried INTEGER NOT NULL
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
