#if Postgres
    extension PostgresSchema {
        private static let enqueuing = """
            sealed_push.enqueue(text, text, text, text, text, integer, bigint, text, text, bytea),
            sealed_push.store(bytea, text, bigint, bigint, bigint, text, bigint[], bigint[], bigint[], bigint[], text[], text[],
                bytea[], bytea[]),
            sealed_push.request(bytea), sealed_push.next_range(bytea, text, text, bigint, bigint)
            """

        /// What a host can do that is broken into, and no more. A role that may not make roles leaves them out: then whoever may
        /// makes them, and grants as is written here.
        static let roles = """
            REVOKE ALL ON FUNCTION sealed_push.generation(), sealed_push.turn(), sealed_push.moment(bigint),
                sealed_push.sender_number(text), sealed_push.key_bytes(text),
                sealed_push.line_up(bigint[], bigint[], bigint[], bigint), \(enqueuing)
            FROM PUBLIC;
            DO $$
            DECLARE
                name text;
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
                GRANT SELECT ON sealed_push.meta, sealed_push.generations, sealed_push.marks TO sealed_push_enqueue, sealed_push_deliver, sealed_push_register;

                -- Seals and enqueues: reads to whom is sealed, and nothing of what waits. By functions alone: an UPDATE of a column
                -- that locks a row changes it, too.
                GRANT SELECT ON sealed_push.recipients TO sealed_push_enqueue;
                GRANT EXECUTE ON FUNCTION \(enqueuing) TO sealed_push_enqueue;

                -- Delivers: takes what waits and notes what became of it.
                GRANT SELECT ON sealed_push.devices, sealed_push.senders TO sealed_push_deliver;
                GRANT UPDATE (token, token_refusal, is_proven, revision) ON sealed_push.devices TO sealed_push_deliver;
                -- To pass over entries that others remove, it locks them, which wants a column. Who sets enqueued makes ages wrong.
                GRANT SELECT, DELETE, UPDATE (enqueued) ON sealed_push.entries TO sealed_push_deliver;
                -- Not of which generation a device's row is, and whose: a row that nobody finds would be in everybody's way.
                GRANT SELECT, DELETE, UPDATE (priority, due, lease, holder, entry, head, attempts) ON sealed_push.queues
                    TO sealed_push_deliver;
                GRANT EXECUTE ON FUNCTION sealed_push.turn() TO sealed_push_deliver;
                GRANT SELECT, INSERT, DELETE ON sealed_push.dead_letters TO sealed_push_deliver;
                GRANT SELECT, INSERT, DELETE ON sealed_push.tallies, sealed_push.receipt_tallies,
                    sealed_push.receipt_numbers TO sealed_push_deliver;
                GRANT SELECT, INSERT, UPDATE, DELETE ON sealed_push.receipt_devices,
                    sealed_push.receipt_failures TO sealed_push_deliver;
                GRANT SELECT, DELETE ON sealed_push.requests TO sealed_push_deliver;

                -- Registers devices, and alone changes what is pinned of them; discards what waits, and reads none of it.
                GRANT SELECT, INSERT, UPDATE, DELETE ON sealed_push.devices, sealed_push.enrollments TO sealed_push_register;
                GRANT SELECT (id, device), DELETE ON sealed_push.entries, sealed_push.dead_letters TO sealed_push_register;
                GRANT SELECT, UPDATE, DELETE ON sealed_push.queues TO sealed_push_register;
            END $$;

            """
    }
#endif
