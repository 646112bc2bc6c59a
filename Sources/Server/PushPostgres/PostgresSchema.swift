#if Postgres
internal import PushOutbox
internal import PushCore
internal import PushSender
internal import SealedPush

/// The tables and functions, created all at once.
enum PostgresSchema {
    /// The version of these tables and functions. When they change, raise it, and add a step from the previous version.
    static let version = SchemaVersion(10)
    /// The statements that lead from each version to the next.
    static let steps: [Int: String] = [:]

    /// Creates the schema if there is none, or upgrades it. This happens only once, even if several processes start at
    /// the same time. Throws `otherSchema` or `foreign`; `notPermitted` if another role must do it.
    static func make(
        _ connection: PostgresConnection, _ version: SchemaVersion = version, by steps: [Int: String] = steps
    ) throws(OutboxError) {
        if try missing(connection, version, steps).isEmpty { return }
        try connection.script(
            "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(\(advisoryClass), 2)")
        try connection.script(try missing(connection, version, steps).joined(separator: ";\n"))
        try connection.script("COMMIT")
    }

    /// Returns the statements that create or upgrade the schema; none if it can be used as it is.
    private static func missing(
        _ connection: PostgresConnection, _ version: SchemaVersion, _ steps: [Int: String]
    ) throws(OutboxError) -> [String] {
        let found = try connection.row(
            """
            SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = 'sealed_push') AS is_there,
                EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                    WHERE n.nspname = 'sealed_push' AND c.relname = 'meta') AS is_ours
            """)
        guard try found.bool("is_there") else { return [tables, functions, roles] }
        guard try found.bool("is_ours") else { throw .foreign }
        guard let stored = try connection.rows("SELECT version FROM sealed_push.meta").first?.int("version"),
            let old = SchemaVersion(stored: Int(stored))
        else { throw .otherSchema }
        let upgrade = try old.upgrade(to: version, by: steps)
        return upgrade.isEmpty ? [] : upgrade + ["UPDATE sealed_push.meta SET version = \(version.stored)"]
    }

    /// Returns the names of the roles that the session's user has, by one privilege of each.
    static func roles(of connection: PostgresConnection) throws(OutboxError) -> [String] {
        try connection.rows(
            """
            SELECT name FROM (VALUES
                ('sealed_push_enqueue', has_function_privilege('sealed_push.request(bytea)', 'EXECUTE')),
                ('sealed_push_deliver', has_function_privilege('sealed_push.turn()', 'EXECUTE')),
                ('sealed_push_register', has_table_privilege('sealed_push.devices', 'INSERT'))) AS roles(name, is_had)
            WHERE is_had
            """
        ).map { row throws(OutboxError) in try row.text("name") }
    }

    /// Throws unless the schema is still there and of this version: the database may have been replaced or restored.
    static func requireUsable(_ connection: PostgresConnection) throws(OutboxError) {
        let isThere = try connection.row("SELECT to_regclass('sealed_push.meta') IS NOT NULL AS is_there")
        guard try isThere.bool("is_there") else {
            throw .connection(
                "the database no longer contains the outbox (schema sealed_push); restore it, or restart to create a new one"
            )
        }
        guard try missing(connection, version, steps).isEmpty else { throw .otherSchema }
    }

    /// "SPUB": the advisory locks, which any login can hold. A sleeping courier holds lock 1, and callers that enqueue
    /// try to share it, without waiting. Lock 2 is for creating the schema.
    static let advisoryClass = 0x5350_5542
    static let channel = "sealed_push"

    /// Times are in milliseconds since 1970, except for times in records and headers, which are in seconds. Text is
    /// compared byte by byte, as in SQLite.
    private static let tables = """
        CREATE SCHEMA sealed_push;
        CREATE TABLE sealed_push.meta(version integer NOT NULL);
        INSERT INTO sealed_push.meta(version) VALUES (\(version.stored));
        -- The mark of the outbox's key; no row if it has none.
        CREATE TABLE sealed_push.marks(mark bytea NOT NULL);

        CREATE FUNCTION sealed_push.milliseconds() RETURNS bigint LANGUAGE sql VOLATILE
        RETURN floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;

        -- A check's own text is parsed for each statement, but a function's once for a session. Most names are simple,
        -- and comparing them with the long list of invisible characters takes longer than everything else here.
        CREATE FUNCTION sealed_push.is_device(
            name text, user_name text, topic text, carrier text, token bytea, recipient bytea
        ) RETURNS boolean LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
        BEGIN
            RETURN octet_length(name) BETWEEN 1 AND \(DeviceName.maximumByteCount)
                AND octet_length(user_name) BETWEEN 1 AND \(DeviceName.maximumByteCount)
                AND (name ~ '^[A-Za-z0-9@_+-]+$' OR \(isName("name")))
                AND (user_name ~ '^[A-Za-z0-9@_+-]+$' OR \(isName("user_name")))
                AND topic ~ '^[A-Za-z0-9.-]+$' AND octet_length(topic) <= \(Topic.maximumByteCount)
                AND carrier ~ '^[a-z0-9-]+$' AND octet_length(carrier) <= \(Carrier.maximumByteCount) AND \(isToken)
                AND octet_length(recipient) IN (\(recipientByteCounts));
        END $$;

        CREATE TABLE sealed_push.devices(
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE,
            user_name text COLLATE "C" NOT NULL, topic text COLLATE "C" NOT NULL,
            carrier text COLLATE "C" NOT NULL, token bytea UNIQUE, token_registered bigint NOT NULL,
            token_refusal text COLLATE "C",
            -- Whether the carrier has accepted a push for this token: unproven tokens must not slow down proven ones.
            is_proven boolean NOT NULL DEFAULT false,
            -- The bytes of the key.
            recipient bytea,
            is_verified boolean NOT NULL, valid_from bigint NOT NULL, valid_until bigint NOT NULL,
            -- Days; NULL if no record specifies it.
            keeps bigint CHECK (keeps BETWEEN \(ListForm.keeps.lowerBound) AND \(ListForm.keeps.upperBound)),
            revision bigint NOT NULL DEFAULT 1,
            -- Codes made with a key that isn't in the database, here and below; NULL if the outbox has none.
            pin_code bytea, address_code bytea,
            -- Otherwise, a role that registers could write a device that listings can't name.
            CONSTRAINT is_device CHECK (sealed_push.is_device(name, user_name, topic, carrier, token, recipient))
        );
        -- A condition can't be looked up in two indexes, so here and below, a number with its own index appears in
        -- another one as id + 0. Otherwise, statistics from a time when a table was empty make the server choose the
        -- wrong index. The view contains the device data that a sealing process reads, without the tokens.
        CREATE VIEW sealed_push.recipients AS
        SELECT id, revision, name, user_name, topic,
            -- NULL if it's invalid.
            CASE WHEN token IS NULL THEN false WHEN \(isToken) THEN token_refusal IS NULL END AS has_token, recipient,
            is_verified, valid_from, valid_until, keeps, pin_code
        FROM sealed_push.devices;
        CREATE INDEX devices_by_user ON sealed_push.devices(user_name);
        CREATE INDEX devices_by_topic ON sealed_push.devices(topic, (id + 0));

        CREATE TABLE sealed_push.enrollments(
            device bigint PRIMARY KEY REFERENCES sealed_push.devices(id) ON DELETE CASCADE,
            enrollment text COLLATE "C" NOT NULL, record text COLLATE "C" NOT NULL,
            proven text COLLATE "C" NOT NULL, code bytea,
            CONSTRAINT is_enrollment CHECK (enrollment ~ '^pushenrollment1[a-z0-9]{58}$'
                AND octet_length(record) <= \(DeviceRecord.maximumCharacterCount)
                AND record ~ '^pushrecord[.][A-Za-z0-9_-]+$' AND proven ~ '^[A-Za-z0-9._ -]*$')
        );
        CREATE INDEX enrollments_by_key ON sealed_push.enrollments(enrollment);

        -- The time until which a user's logins are invalid.
        CREATE TABLE sealed_push.logins(user_name text COLLATE "C" PRIMARY KEY, ended bigint NOT NULL);

        -- Waiting sealed payloads. A row is written once and deleted once; mutable state is in queues. A payload stays
        -- in its row: in a separate table, it would be written, read, and vacuumed twice.
        CREATE TABLE sealed_push.entries(
            id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
            device bigint NOT NULL, priority smallint NOT NULL, enqueued bigint NOT NULL, send_until bigint NOT NULL,
            expiration bigint, apns_id text COLLATE "C" NOT NULL, collapse_id text COLLATE "C" NOT NULL,
            body bytea NOT NULL,
            -- pushsender1..., or anonymous.
            sender text COLLATE "C", code bytea, message text COLLATE "C",
            CHECK (enqueued \(isTime) AND priority IN (5, 10) AND send_until \(isTime) AND expiration \(isExpiration))
        ) WITH (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.01,
            autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_insert_scale_factor = 0.1,
            autovacuum_vacuum_cost_delay = 0, vacuum_truncate = false);
        ALTER TABLE sealed_push.entries ALTER COLUMN body SET STORAGE EXTERNAL;
        CREATE INDEX entries_by_device ON sealed_push.entries(device, priority, (id + 0));
        CREATE INDEX entries_by_send_until ON sealed_push.entries(send_until) WHERE send_until < enqueued + \(EnqueueOrder.lifetime);

        -- One row for each device with waiting entries: when its oldest entry may be taken. While it is leased, due is
        -- the end of the lease, so entries held by a dead process come due again by themselves. No waiting entry of the
        -- device has a number below head, so a scan begins there instead of among deleted rows.
        --
        -- A transaction that inserts a device's row holds the device's row in devices. The key begins with the
        -- generation in which the row was created or to which it was moved: the current or the previous one. So a
        -- lookup scans only the deleted rows of these two, not all those since the last vacuum.
        CREATE TABLE sealed_push.queues(
            generation bigint NOT NULL, device bigint NOT NULL, carrier text COLLATE "C" NOT NULL,
            priority smallint NOT NULL CHECK (priority IN (5, 10)), due bigint NOT NULL, lease bigint, holder text,
            entry bigint, head bigint NOT NULL, attempts bigint NOT NULL DEFAULT 0
        ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
            autovacuum_vacuum_cost_delay = 0, vacuum_truncate = false);
        CREATE INDEX queues_by_device ON sealed_push.queues(generation, device);
        CREATE INDEX queues_by_due ON sealed_push.queues(carrier, priority, due);

        CREATE TABLE sealed_push.generations(
            current bigint NOT NULL CHECK (current BETWEEN 1 AND 4611686018427387904)
        );
        INSERT INTO sealed_push.generations(current) VALUES (1);

        -- Empty tables that are locked, and rows that are. Only logins with privileges for them can do that, unlike
        -- advisory locks. A transaction shares the lock of its generation; registering many devices at once excludes
        -- registering others. Each claim stands for the names whose hashes end in its number, and each number above
        -- 255 for the owners of such hashes.
        CREATE TABLE sealed_push.even_generations();
        CREATE TABLE sealed_push.odd_generations();
        CREATE TABLE sealed_push.registrations();
        CREATE TABLE sealed_push.claims(number integer PRIMARY KEY);
        INSERT INTO sealed_push.claims(number) SELECT generate_series(0, 511);

        CREATE TABLE sealed_push.dead_letters(
            LIKE sealed_push.entries INCLUDING CONSTRAINTS INCLUDING STORAGE, reason text COLLATE "C" NOT NULL,
            attempts bigint NOT NULL, buried bigint NOT NULL, PRIMARY KEY(id)
        ) WITH (toast_tuple_target = 8160);
        CREATE INDEX dead_letters_by_device ON sealed_push.dead_letters(device);

        CREATE TABLE sealed_push.requests(
            key bytea PRIMARY KEY, audience text COLLATE "C" NOT NULL, position bigint NOT NULL,
            is_complete boolean NOT NULL, enqueued bigint NOT NULL, created bigint NOT NULL,
            message text COLLATE "C",
            -- A MAC of the content made with the sender's key; NULL if the caller gave no key.
            fingerprint bytea
        );
        CREATE INDEX requests_by_age ON sealed_push.requests(created);
        -- Ranges of device numbers that were started for a broadcast but not stored yet. Those of single devices whose
        -- rows another transaction held come last.
        CREATE TABLE sealed_push.ranges(
            key bytea NOT NULL REFERENCES sealed_push.requests(key) ON DELETE CASCADE, start bigint NOT NULL,
            last bigint NOT NULL, is_held boolean NOT NULL DEFAULT false, PRIMARY KEY(key, start)
        );

        -- Rows are added, and summed when they are read: if they shared a row, all couriers would wait for it.
        CREATE TABLE sealed_push.tallies(
            day bigint NOT NULL, outcome text COLLATE "C" NOT NULL, count bigint NOT NULL
        );
        CREATE INDEX tallies_by_day ON sealed_push.tallies(day);

        -- The outcomes of messages, by device; for a broadcast, device 0 counts them all. Rows are only added.
        CREATE TABLE sealed_push.outcomes(
            message text COLLATE "C" NOT NULL, device bigint NOT NULL, outcome text COLLATE "C" NOT NULL,
            count bigint NOT NULL, created bigint NOT NULL
        );
        CREATE INDEX outcomes_by_message ON sealed_push.outcomes(message);
        CREATE INDEX outcomes_by_age ON sealed_push.outcomes(created);

        CREATE TABLE sealed_push.receipt_tallies(LIKE sealed_push.tallies INCLUDING INDEXES);
        CREATE TABLE sealed_push.receipt_devices(
            id bytea PRIMARY KEY, last bigint NOT NULL, shown bigint NOT NULL, failed bigint NOT NULL,
            day bigint NOT NULL, shown_that_day bigint NOT NULL, failed_that_day bigint NOT NULL
        );
        CREATE TABLE sealed_push.receipt_numbers(
            id bytea NOT NULL, number bytea NOT NULL, day bigint NOT NULL, PRIMARY KEY(id, number)
        );
        CREATE INDEX receipt_numbers_by_day ON sealed_push.receipt_numbers(day);
        CREATE TABLE sealed_push.receipt_failures(
            id bytea NOT NULL, reason text COLLATE "C" NOT NULL, last bigint NOT NULL, PRIMARY KEY(id, reason)
        );
        """

    private static let isToken =
        "octet_length(token) BETWEEN 1 AND CASE WHEN carrier IN ('apns', 'apns-sandbox') "
        + "THEN \(DeviceToken.maximumByteCount) ELSE \(Address.maximumByteCount) END"
    private static let recipientByteCounts = DevicePublicKey.byteCounts.map(String.init).joined(separator: ", ")

    /// Returns the condition for the characters in the name of a user or device.
    private static func isName(_ column: String) -> String {
        """
        \(column) !~ '[\\u0001-\\u001f\\u007f-\\u009f]' AND \(column) !~ '^[\(PayloadForm.invisible)]*$'
        AND \(column) NOT IN ('.', '..')
        """
    }

    /// Milliseconds, up to the year 9999.
    static let isTime = "BETWEEN 0 AND \(Timestamp.maximum * 1_000 + 999)"
    /// Seconds.
    static let isExpiration = "BETWEEN 0 AND \(Timestamp.maximum)"

    /// The privileges that a compromised host would have, and no more. A role that may not create roles skips them. A
    /// role that may then has to create them and grant the privileges listed here.
    private static let roles = """
        REVOKE ALL ON ALL FUNCTIONS IN SCHEMA sealed_push FROM PUBLIC;
        DO $$
        DECLARE name text;
        BEGIN
            FOREACH name IN ARRAY ARRAY['enqueue', 'deliver', 'register'] LOOP
                BEGIN
                    IF to_regrole('sealed_push_' || name) IS NULL THEN
                        EXECUTE format('CREATE ROLE %I NOLOGIN', 'sealed_push_' || name);
                    END IF;
                EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
                WHEN insufficient_privilege THEN RETURN;
                END;
            END LOOP;

            GRANT USAGE ON SCHEMA sealed_push TO sealed_push_enqueue, sealed_push_deliver, sealed_push_register;
            GRANT SELECT ON sealed_push.meta, sealed_push.generations, sealed_push.marks
                TO sealed_push_enqueue, sealed_push_deliver, sealed_push_register;
            GRANT EXECUTE ON FUNCTION sealed_push.milliseconds, sealed_push.wake
                TO sealed_push_enqueue, sealed_push_deliver, sealed_push_register;
            GRANT EXECUTE ON FUNCTION sealed_push.is_device TO sealed_push_deliver, sealed_push_register;

            -- Seals and enqueues: reads recipients, but no waiting entries. Works only through functions, because the
            -- UPDATE privilege needed to lock a row would also allow changing it.
            GRANT SELECT ON sealed_push.recipients, sealed_push.outcomes TO sealed_push_enqueue;
            GRANT EXECUTE ON FUNCTION sealed_push.enqueue, sealed_push.store, sealed_push.request,
                sealed_push.next_range, sealed_push.set_apart TO sealed_push_enqueue;

            -- Delivers: takes waiting entries and records their outcomes.
            GRANT SELECT ON sealed_push.devices TO sealed_push_deliver;
            GRANT UPDATE (token, token_refusal, is_proven, revision) ON sealed_push.devices TO sealed_push_deliver;
            -- Skipping entries that others remove needs locks, and so UPDATE on a column: this one only changes ages.
            GRANT SELECT, DELETE, UPDATE (enqueued) ON sealed_push.entries TO sealed_push_deliver;
            -- Neither generation nor device: a row that can't be found would block every caller.
            GRANT SELECT, DELETE, UPDATE (priority, due, lease, holder, entry, head, attempts) ON sealed_push.queues
                TO sealed_push_deliver;
            -- Moves entries to the dead letters only as they are: the owner may requeue those.
            GRANT EXECUTE ON FUNCTION sealed_push.turn, sealed_push.bury TO sealed_push_deliver;
            GRANT SELECT, DELETE ON sealed_push.dead_letters TO sealed_push_deliver;
            GRANT SELECT, INSERT, DELETE ON sealed_push.tallies, sealed_push.outcomes,
                sealed_push.receipt_tallies, sealed_push.receipt_numbers TO sealed_push_deliver;
            GRANT SELECT, INSERT, UPDATE, DELETE ON sealed_push.receipt_devices, sealed_push.receipt_failures
                TO sealed_push_deliver;
            GRANT SELECT, DELETE ON sealed_push.requests TO sealed_push_deliver;

            -- Registers devices; no other role changes their pins. Discards waiting entries, but can't read them.
            GRANT SELECT, INSERT, UPDATE, DELETE ON sealed_push.devices, sealed_push.enrollments
                TO sealed_push_register;
            GRANT SELECT (id, device, message), DELETE ON sealed_push.entries, sealed_push.dead_letters
                TO sealed_push_register;
            GRANT SELECT, INSERT ON sealed_push.outcomes TO sealed_push_register;
            GRANT INSERT ON sealed_push.tallies TO sealed_push_register;
            -- Ends logins, and erases users.
            GRANT SELECT, INSERT, UPDATE, DELETE ON sealed_push.logins TO sealed_push_register;
            GRANT SELECT (audience), DELETE ON sealed_push.requests TO sealed_push_register;
            GRANT SELECT (id), DELETE ON sealed_push.receipt_devices, sealed_push.receipt_numbers,
                sealed_push.receipt_failures TO sealed_push_register;
            -- Neither generation nor device, as above.
            GRANT SELECT, DELETE, UPDATE (carrier, due, attempts) ON sealed_push.queues TO sealed_push_register;
            GRANT SELECT, UPDATE ON sealed_push.registrations, sealed_push.claims TO sealed_push_register;
        END $$;
        """
}
#endif
