#if Postgres
    extension PostgresSchema {
        /// 2. Whoever may only enqueue or deliver can't do more. Version 1's functions looked for types among the caller's
        /// temporary ones first, and ran them as the owner; its grants let an enqueuing host write tables, and its tables held
        /// any number.
        static let version2 =
            lasting + locks + bounds + recipients + turnFunction + senderFunction + enqueueFunction + storeFunctions
            + grants

        /// All that is altered, in the order in which who enqueues and who takes come to it. Whoever may not alter it has failed
        /// by then, in nobody's way.
        private static let locks = """
            LOCK TABLE sealed_push.generations, sealed_push.queues, sealed_push.entries IN ACCESS EXCLUSIVE MODE;

            """

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
            DO $$ BEGIN
                -- From version 1, in which whoever delivers could write it: what waits is found again.
                UPDATE sealed_push.generations SET current = 1 WHERE current \(isGeneration) IS NOT TRUE;
                IF FOUND THEN UPDATE sealed_push.queues SET generation = 1; END IF;
            END $$;
            ALTER TABLE sealed_push.generations ADD CONSTRAINT generations_current_check CHECK (current \(isGeneration));

            """
        private static let isGeneration = "BETWEEN 1 AND 4611686018427387904"

        /// What whoever seals reads of devices: not their tokens.
        private static let recipients = """
            CREATE VIEW sealed_push.recipients AS
            SELECT id, revision, name, user_name, topic, token IS NOT NULL AND token_refusal IS NULL AS has_token,
                recipient, is_verified, valid_from, valid_until, pin_code
            FROM sealed_push.devices;

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
            REVOKE ALL ON FUNCTION sealed_push.generation(), sealed_push.turn(), sealed_push.moment(bigint),
                sealed_push.sender_number(text), sealed_push.line_up(bigint[], bigint[], bigint[], bigint), \(enqueuing)
            FROM PUBLIC;
            DO $$
            BEGIN
                IF to_regrole('sealed_push_enqueue') IS NULL THEN RETURN; END IF;
                -- By functions alone: an UPDATE of a column that locks a row changes it, too. The rights to columns go with those
                -- to tables.
                REVOKE ALL ON sealed_push.devices, sealed_push.entries, sealed_push.queues, sealed_push.requests,
                    sealed_push.ranges, sealed_push.senders, sealed_push.entries_id_seq FROM sealed_push_enqueue;
                GRANT SELECT ON sealed_push.recipients TO sealed_push_enqueue;
                GRANT EXECUTE ON FUNCTION \(enqueuing) TO sealed_push_enqueue;

                -- Of which generation a device's row is, and whose: a row that nobody finds would be in everybody's way.
                REVOKE UPDATE ON sealed_push.generations, sealed_push.queues FROM sealed_push_deliver;
                GRANT UPDATE (priority, due, lease, holder, entry, head, attempts) ON sealed_push.queues TO sealed_push_deliver;
                GRANT EXECUTE ON FUNCTION sealed_push.turn() TO sealed_push_deliver;
            END $$;

            """
    }
#endif
