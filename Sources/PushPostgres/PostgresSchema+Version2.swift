#if Postgres
    extension PostgresSchema {
        /// 2. Whoever may only enqueue or deliver can't do more. Version 1's functions looked for types among the caller's
        /// temporary ones first, and ran them as the owner; its grants let an enqueuing host write tables, and its tables held
        /// any number.
        static let version2 = lasting + bounds + senderFunction + enqueueFunction + storeFunctions + grants

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

        /// Not looked up in the entries that are there, as that reads all of a table: what is among them the courier bears. Two
        /// conditions, as each is read anew by each statement that inserts.
        private static let bounds = """
            ALTER TABLE sealed_push.entries
                ADD CONSTRAINT entries_enqueued_check CHECK (enqueued \(isTime)) NOT VALID,
                ADD CONSTRAINT entries_bounds_check
                    CHECK (priority IN (5, 10) AND stale \(isTime) AND expiration \(isExpiration)) NOT VALID;
            UPDATE sealed_push.queues SET priority = 10 WHERE priority NOT IN (5, 10);
            ALTER TABLE sealed_push.queues ADD CONSTRAINT queues_priority_check CHECK (priority IN (5, 10));

            """

        /// What is found at the time when a function is made needs no path at all; the others get one.
        private static let lasting = """
            CREATE OR REPLACE FUNCTION sealed_push.milliseconds() RETURNS bigint LANGUAGE sql VOLATILE
            RETURN floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;
            ALTER FUNCTION sealed_push.wake() SET search_path = pg_catalog, pg_temp;
            ALTER FUNCTION sealed_push.generation() SET search_path = pg_catalog, pg_temp;

            """

        private static let enqueuing = """
            sealed_push.store(bytea, text, bigint, bigint, bigint, text, bigint[], bigint[], bigint[], bigint[], text[], text[],
                bytea[], bytea[]),
            sealed_push.request(bytea), sealed_push.next_range(bytea, text, text, bigint, bigint)
            """

        /// Where a role that may not make roles has left them out, whoever makes them grants as is written in ``roles`` and here.
        private static let grants = """
            REVOKE ALL ON FUNCTION sealed_push.generation(), sealed_push.sender_number(text),
                sealed_push.line_up(bigint[], bigint[], bigint[], bigint), \(enqueuing) FROM PUBLIC;
            DO $$
            BEGIN
                IF to_regrole('sealed_push_enqueue') IS NULL THEN RETURN; END IF;
                -- By functions alone: an UPDATE of a column that locks a row changes it, too.
                REVOKE ALL ON sealed_push.entries, sealed_push.queues, sealed_push.requests, sealed_push.ranges,
                    sealed_push.senders, sealed_push.entries_id_seq FROM sealed_push_enqueue;
                REVOKE UPDATE (is_proven) ON sealed_push.devices FROM sealed_push_enqueue;
                REVOKE UPDATE (priority) ON sealed_push.queues FROM sealed_push_enqueue;
                REVOKE UPDATE (last) ON sealed_push.ranges FROM sealed_push_enqueue;
                GRANT EXECUTE ON FUNCTION \(enqueuing) TO sealed_push_enqueue;
            END $$;

            """
    }
#endif
