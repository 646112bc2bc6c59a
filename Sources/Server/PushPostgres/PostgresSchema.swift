#if Postgres
    internal import Dispatch
    internal import PushOutbox
    internal import PushCore

    /// The tables and functions, made at once. A database of another version is refused: nothing was released that would have
    /// to be read.
    enum PostgresSchema {
        /// Of these tables and functions. Change it with them.
        static let version = 1

        /// Makes the schema if there is none, once however many start at once.
        ///
        /// - Throws: `otherSchema`, `foreign`; `notPermitted` where this role may not, and somebody else must.
        static func make(_ connection: PostgresConnection) throws(OutboxError) {
            if try isThere(connection) { return }
            do throws(OutboxError) {
                try connection.script(
                    "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(\(advisoryClass), 2)")
                if try !isThere(connection) { try connection.script(tables + functions + roles) }
                try connection.script("COMMIT")
            } catch {
                if connection.isUsable { try connection.script("ROLLBACK") }
                throw error
            }
        }

        private static func isThere(_ connection: PostgresConnection) throws(OutboxError) -> Bool {
            let rows = try connection.rows(
                """
                SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = 'sealed_push') AS is_there,
                    EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                        WHERE n.nspname = 'sealed_push' AND c.relname = 'meta') AS is_ours
                """)
            guard let row = rows.first, try row.bool("is_there") else { return false }
            guard try row.bool("is_ours") else { throw .foreign }
            guard try connection.rows("SELECT version FROM sealed_push.meta").first?.int("version") == Int64(version)
            else { throw .otherSchema }
            return true
        }

        /// "SPUB": of the advisory locks. 1 is held by a courier that sleeps, and shared by who enqueues; 2 by who makes the schema; 3
        /// by who registers many devices at once, and shared by who registers one. "SPUG" counts generations.
        static let advisoryClass = 0x5350_5542
        static let generationClass = 0x5350_5547
        static let channel = "sealed_push"

        /// Times are milliseconds since 1970, but for what a record or a header counts in seconds. Text is compared byte by
        /// byte, as SQLite does.
        private static let tables = """
            CREATE SCHEMA sealed_push;
            CREATE TABLE sealed_push.meta(version integer NOT NULL);
            INSERT INTO sealed_push.meta(version) VALUES (\(version));
            -- What the outbox's key has marked it with; no row where it has none.
            CREATE TABLE sealed_push.marks(mark bytea NOT NULL);

            CREATE FUNCTION sealed_push.milliseconds() RETURNS bigint LANGUAGE sql VOLATILE
            RETURN floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;

            -- A courier that sleeps holds the lock. NOTIFY puts all commits of the instance in a row: only where one sleeps.
            -- The shared lock is held until the transaction's end, so that no courier falls asleep before it sees what it brings.
            CREATE FUNCTION sealed_push.wake() RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
            BEGIN
                IF NOT pg_try_advisory_xact_lock_shared(\(advisoryClass), 1) THEN PERFORM pg_notify('\(channel)', ''); END IF;
            END $$;

            CREATE TABLE sealed_push.devices(
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                name text COLLATE "C" NOT NULL UNIQUE,
                user_name text COLLATE "C" NOT NULL,
                topic text COLLATE "C" NOT NULL,
                carrier text COLLATE "C" NOT NULL,
                token bytea UNIQUE,
                token_registered bigint NOT NULL,
                token_refusal text COLLATE "C",
                -- Whether the carrier has taken a push for this token: what has not must not slow down what has.
                is_proven boolean NOT NULL DEFAULT false,
                recipient bytea,
                is_verified boolean NOT NULL,
                valid_from bigint NOT NULL,
                valid_until bigint NOT NULL,
                revision bigint NOT NULL DEFAULT 1,
                -- Codes by a key that is not in the database, here and below; NULL where there is none.
                pin_code bytea,
                address_code bytea
            );
            -- No condition can be looked up in two indices: here and below, a number that has an index of its own stands in another
            -- one as id + 0. Or else statistics from a moment in which a table was empty make the server take the wrong one.
            -- What whoever seals reads of devices: not their tokens.
            CREATE VIEW sealed_push.recipients AS
            SELECT id, revision, name, user_name, topic, token IS NOT NULL AND token_refusal IS NULL AS has_token,
                recipient, is_verified, valid_from, valid_until, pin_code
            FROM sealed_push.devices;
            CREATE INDEX devices_by_user ON sealed_push.devices(user_name);
            CREATE INDEX devices_by_topic ON sealed_push.devices(topic, (id + 0));

            CREATE TABLE sealed_push.enrollments(
                device bigint PRIMARY KEY REFERENCES sealed_push.devices(id) ON DELETE CASCADE,
                enrollment text COLLATE "C" NOT NULL,
                record text COLLATE "C" NOT NULL,
                proven text COLLATE "C" NOT NULL,
                code bytea
            );
            CREATE INDEX enrollments_by_key ON sealed_push.enrollments(enrollment);

            CREATE TABLE sealed_push.senders(
                id integer PRIMARY KEY,
                key text COLLATE "C" NOT NULL UNIQUE
            );

            -- Sealed payloads that wait. A row is written once and deleted once; all that changes is in queues. A payload stays in
            -- its row: moved into another table it would be written, read and vacuumed twice.
            CREATE TABLE sealed_push.entries(
                id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
                device bigint NOT NULL,
                priority smallint NOT NULL,
                enqueued bigint NOT NULL,
                stale bigint NOT NULL,
                expiration bigint,
                apns_id text COLLATE "C" NOT NULL,
                collapse_id text COLLATE "C" NOT NULL,
                body bytea NOT NULL,
                sender integer,
                code bytea,
                -- Two conditions, as each is read anew by each statement that inserts.
                CONSTRAINT entries_enqueued_check CHECK (enqueued \(isTime)),
                CONSTRAINT entries_bounds_check
                    CHECK (priority IN (5, 10) AND stale \(isTime) AND expiration \(isExpiration))
            ) WITH (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
                autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = false);
            ALTER TABLE sealed_push.entries ALTER COLUMN body SET STORAGE EXTERNAL;
            CREATE INDEX entries_by_device ON sealed_push.entries(device, priority, (id + 0));
            CREATE INDEX entries_by_stale ON sealed_push.entries(stale) WHERE stale < enqueued + 2592000000;

            -- One row for each device for which something waits: when its oldest entry may be taken. While it is leased, due
            -- is the lease's end, so what a dead process held comes due again by itself. No entry of the device that
            -- waits has a number below head: a scan begins there, and not among what was deleted and not vacuumed yet.
            --
            -- A device has one row; who makes it holds the device's row in devices. Its key begins with a generation: the one
            -- that was current when it was made, or was moved. Whatever lives is of the current generation or the one before,
            -- so who looks for a device's row walks through what was deleted in these two, not in all the time since a
            -- vacuum, which any long transaction holds up.
            CREATE TABLE sealed_push.queues(
                generation bigint NOT NULL,
                device bigint NOT NULL,
                carrier text COLLATE "C" NOT NULL,
                priority smallint NOT NULL CHECK (priority IN (5, 10)),
                due bigint NOT NULL,
                lease bigint,
                holder text,
                entry bigint,
                head bigint NOT NULL,
                attempts bigint NOT NULL DEFAULT 0
            ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
                autovacuum_vacuum_cost_delay = 0, vacuum_truncate = false);
            CREATE INDEX queues_by_device ON sealed_push.queues(generation, device);
            CREATE INDEX queues_by_due ON sealed_push.queues(carrier, priority, due);

            -- The current one, for who makes rows: until the transaction's end nobody makes this the last but two.
            CREATE TABLE sealed_push.generations(
                current bigint NOT NULL CHECK (current BETWEEN 1 AND 4611686018427387904)
            );
            INSERT INTO sealed_push.generations(current) VALUES (1);
            CREATE FUNCTION sealed_push.generation() RETURNS bigint LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
            DECLARE
                found bigint;
                held bigint;
            BEGIN
                -- An older snapshot would not see the rows that others have made meanwhile.
                IF current_setting('transaction_isolation') NOT LIKE 'read %' THEN
                    RAISE EXCEPTION 'sealed_push.enqueue: wants a transaction that is READ COMMITTED'
                        USING ERRCODE = '25001';
                END IF;
                LOOP
                    SELECT current INTO found FROM sealed_push.generations;
                    EXIT WHEN found = held;
                    PERFORM pg_advisory_xact_lock_shared(\(generationClass), (found % 2147483647)::integer);
                    held := found;
                END LOOP;
                RETURN found;
            END $$;

            CREATE TABLE sealed_push.dead_letters(
                id bigint PRIMARY KEY,
                device bigint NOT NULL,
                priority smallint NOT NULL,
                enqueued bigint NOT NULL,
                stale bigint NOT NULL,
                expiration bigint,
                apns_id text COLLATE "C" NOT NULL,
                collapse_id text COLLATE "C" NOT NULL,
                body bytea NOT NULL,
                sender integer,
                code bytea,
                reason text COLLATE "C" NOT NULL,
                attempts bigint NOT NULL,
                died bigint NOT NULL
            ) WITH (toast_tuple_target = 8160);
            ALTER TABLE sealed_push.dead_letters ALTER COLUMN body SET STORAGE EXTERNAL;
            CREATE INDEX dead_letters_by_device ON sealed_push.dead_letters(device);

            CREATE TABLE sealed_push.requests(
                key bytea PRIMARY KEY,
                audience text COLLATE "C" NOT NULL,
                position bigint NOT NULL,
                is_complete boolean NOT NULL,
                enqueued bigint NOT NULL,
                created bigint NOT NULL
            );
            CREATE INDEX requests_by_age ON sealed_push.requests(created);
            -- Of messages for everyone: devices, by number, that somebody seals for or has sealed for, and that are not stored.
            CREATE TABLE sealed_push.ranges(
                key bytea NOT NULL REFERENCES sealed_push.requests(key) ON DELETE CASCADE,
                start bigint NOT NULL,
                last bigint NOT NULL,
                PRIMARY KEY(key, start)
            );

            -- Rows are added and summed up when they are read: one that all couriers change would be a queue of its own.
            CREATE TABLE sealed_push.tallies(
                day bigint NOT NULL,
                outcome text COLLATE "C" NOT NULL,
                count bigint NOT NULL
            );
            CREATE INDEX tallies_by_day ON sealed_push.tallies(day);

            CREATE TABLE sealed_push.receipt_tallies(
                day bigint NOT NULL,
                outcome text COLLATE "C" NOT NULL,
                count bigint NOT NULL
            );
            CREATE INDEX receipt_tallies_by_day ON sealed_push.receipt_tallies(day);
            CREATE TABLE sealed_push.receipt_devices(
                id bytea PRIMARY KEY,
                last bigint NOT NULL,
                shown bigint NOT NULL,
                failed bigint NOT NULL,
                day bigint NOT NULL,
                shown_that_day bigint NOT NULL,
                failed_that_day bigint NOT NULL
            );
            CREATE TABLE sealed_push.receipt_numbers(
                id bytea NOT NULL,
                number bytea NOT NULL,
                day bigint NOT NULL,
                PRIMARY KEY(id, number)
            );
            CREATE INDEX receipt_numbers_by_day ON sealed_push.receipt_numbers(day);
            CREATE TABLE sealed_push.receipt_failures(
                id bytea NOT NULL,
                reason text COLLATE "C" NOT NULL,
                last bigint NOT NULL,
                PRIMARY KEY(id, reason)
            );

            """

        private static let functions = turnFunction + senderFunction + keyBytes + enqueueFunction + storeFunctions

        /// Milliseconds, up to the year 9999.
        static let isTime = "BETWEEN 0 AND 253402300799999"
        /// Seconds.
        static let isExpiration = "BETWEEN 0 AND 253402300799"

        /// Whether a row may stand in `entries`.
        static func isWithinBounds(_ row: String) -> String {
            """
            \(row).priority IN (5, 10) AND \(row).enqueued \(isTime) AND \(row).stale \(isTime) \
            AND coalesce(\(row).expiration \(isExpiration), true)
            """
        }
    }
#endif
