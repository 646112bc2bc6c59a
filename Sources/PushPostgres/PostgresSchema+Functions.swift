#if Postgres
    import PushOutbox

    extension PostgresSchema {
        /// As version 1 made it. ``enqueueFunction`` stands in its place.
        static let firstEnqueueFunction = """
            CREATE FUNCTION sealed_push.enqueue(
                device text, recipient text, payload text, apns_id text, collapse_id text, priority integer DEFAULT 10,
                expiration bigint DEFAULT NULL, sender text DEFAULT NULL, key text DEFAULT NULL,
                code bytea DEFAULT NULL
            ) RETURNS text LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog AS $$
            DECLARE
                body bytea := convert_to(enqueue.payload, 'UTF8');
                now bigint := sealed_push.milliseconds();
                wanted text := 'device ' || enqueue.device;
                known text;
                found_device record;
                sender_id integer;
                newest bigint;
                queue record;
            BEGIN
                IF body IS NULL OR octet_length(body) NOT BETWEEN 2 AND 4096 THEN
                    RAISE EXCEPTION 'sealed_push.enqueue: a payload has 2 to 4096 bytes' USING ERRCODE = '22023';
                ELSIF coalesce(octet_length(enqueue.apns_id), 0) <> 36 THEN
                    RAISE EXCEPTION 'sealed_push.enqueue: apns_id is a UUID of 36 characters' USING ERRCODE = '22023';
                ELSIF coalesce(octet_length(enqueue.collapse_id), 0) NOT BETWEEN 1 AND 64 THEN
                    RAISE EXCEPTION 'sealed_push.enqueue: collapse_id has 1 to 64 bytes' USING ERRCODE = '22023';
                ELSIF enqueue.priority IS NULL OR enqueue.priority NOT IN (5, 10) THEN
                    RAISE EXCEPTION 'sealed_push.enqueue: priority is 10 or 5' USING ERRCODE = '22023';
                ELSIF enqueue.expiration NOT BETWEEN 0 AND 253402300799 THEN
                    RAISE EXCEPTION 'sealed_push.enqueue: expiration is in seconds since 1970' USING ERRCODE = '22023';
                ELSIF octet_length(enqueue.key) NOT BETWEEN 1 AND 256 THEN
                    RAISE EXCEPTION 'sealed_push.enqueue: a key has 1 to 256 bytes' USING ERRCODE = '22023';
                END IF;

                -- Waits for another transaction that uses the key, and then knows how it has ended. Of the key, only a hash.
                IF enqueue.key IS NOT NULL THEN
                    INSERT INTO sealed_push.requests(key, audience, position, is_complete, enqueued, created)
                    VALUES (sha256(convert_to('sealed_push.enqueue ' || enqueue.key, 'UTF8')), wanted,
                        9223372036854775807, true, 1, now)
                    ON CONFLICT ON CONSTRAINT requests_pkey DO NOTHING;
                    IF NOT FOUND THEN
                        SELECT r.audience INTO known FROM sealed_push.requests r
                        WHERE r.key = sha256(convert_to('sealed_push.enqueue ' || enqueue.key, 'UTF8'));
                        IF known IS DISTINCT FROM wanted THEN
                            RAISE EXCEPTION 'sealed_push.enqueue: this key was used before, for another device'
                                USING ERRCODE = '22023';
                        END IF;
                        RETURN 'repeated';
                    END IF;
                END IF;

                SELECT d.id, d.carrier, d.recipient, d.token IS NOT NULL AND d.token_refusal IS NULL AS has_token
                INTO found_device FROM sealed_push.devices d WHERE d.name = enqueue.device FOR NO KEY UPDATE;
                IF NOT FOUND OR NOT found_device.has_token OR found_device.recipient IS DISTINCT FROM enqueue.recipient THEN
                    DELETE FROM sealed_push.requests r
                    WHERE r.key = sha256(convert_to('sealed_push.enqueue ' || enqueue.key, 'UTF8'));
                    RETURN CASE WHEN found_device.id IS NULL THEN 'unknown-device'
                        WHEN NOT found_device.has_token THEN 'no-token' ELSE 'other-recipient' END;
                END IF;

                IF enqueue.sender IS NOT NULL THEN
                    INSERT INTO sealed_push.senders(key) VALUES (enqueue.sender)
                    ON CONFLICT ON CONSTRAINT senders_key_key DO NOTHING;
                    SELECT s.id INTO sender_id FROM sealed_push.senders s WHERE s.key = enqueue.sender;
                END IF;
                newest := sealed_push.generation();
                SELECT q.priority INTO queue FROM sealed_push.queues q
                WHERE q.generation IN (newest - 1, newest) AND q.device = found_device.id FOR UPDATE;
                IF NOT FOUND THEN
                    INSERT INTO sealed_push.queues(generation, device, carrier, priority, due, head)
                    SELECT newest, found_device.id, found_device.carrier, enqueue.priority, now, s.last_value
                    FROM sealed_push.entries_id_seq s;
                ELSIF queue.priority < enqueue.priority THEN
                    UPDATE sealed_push.queues q SET priority = enqueue.priority
                    WHERE q.generation IN (newest - 1, newest) AND q.device = found_device.id;
                END IF;
                INSERT INTO sealed_push.entries(device, priority, enqueued, stale, expiration, apns_id, collapse_id, body,
                    sender, code)
                VALUES (found_device.id, enqueue.priority, now,
                    least(now + \(EnqueueOrder.lifetime), (nullif(enqueue.expiration, 0) + 1) * 1000), enqueue.expiration,
                    enqueue.apns_id, enqueue.collapse_id, body, sender_id, enqueue.code);
                PERFORM sealed_push.wake();
                RETURN 'enqueued';
            END $$;

            """

        /// What a host can do that is broken into, and no more. A role that may not make roles leaves them out: then whoever may
        /// makes them, and grants as is written here. Version 2 takes back what it grants to who enqueues.
        static let roles = """
            REVOKE ALL ON FUNCTION sealed_push.enqueue(text, text, text, text, text, integer, bigint, text, text, bytea) FROM PUBLIC;
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
                GRANT SELECT ON sealed_push.meta, sealed_push.generations, sealed_push.protection TO sealed_push_enqueue, sealed_push_deliver, sealed_push_register;

                -- Seals and enqueues: reads to whom is sealed, and nothing of what waits.
                GRANT EXECUTE ON FUNCTION
                    sealed_push.enqueue(text, text, text, text, text, integer, bigint, text, text, bytea) TO sealed_push_enqueue;
                GRANT SELECT ON sealed_push.devices TO sealed_push_enqueue;
                -- To lock a row, a role must be able to write something of it.
                GRANT UPDATE (is_proven) ON sealed_push.devices TO sealed_push_enqueue;
                GRANT INSERT ON sealed_push.entries TO sealed_push_enqueue;
                GRANT SELECT, INSERT, UPDATE (priority) ON sealed_push.queues TO sealed_push_enqueue;
                GRANT SELECT, INSERT, UPDATE ON sealed_push.requests TO sealed_push_enqueue;
                GRANT SELECT, INSERT, DELETE, UPDATE (last) ON sealed_push.ranges TO sealed_push_enqueue;
                GRANT SELECT, INSERT ON sealed_push.senders TO sealed_push_enqueue;
                GRANT SELECT, USAGE ON SEQUENCE sealed_push.entries_id_seq TO sealed_push_enqueue;

                -- Delivers: takes what waits and notes what became of it.
                GRANT UPDATE ON sealed_push.generations TO sealed_push_deliver;
                GRANT SELECT ON sealed_push.devices, sealed_push.senders TO sealed_push_deliver;
                GRANT UPDATE (token, token_refusal, is_proven, revision) ON sealed_push.devices TO sealed_push_deliver;
                -- To pass over entries that others remove, it locks them, which wants a column. Who sets enqueued makes ages wrong.
                GRANT SELECT, DELETE, UPDATE (enqueued) ON sealed_push.entries TO sealed_push_deliver;
                GRANT SELECT, UPDATE, DELETE ON sealed_push.queues TO sealed_push_deliver;
                GRANT SELECT, INSERT, DELETE ON sealed_push.dead_letters TO sealed_push_deliver;
                GRANT SELECT, INSERT, DELETE ON sealed_push.tallies, sealed_push.receipt_tallies,
                    sealed_push.receipt_numbers TO sealed_push_deliver;
                GRANT SELECT, INSERT, UPDATE, DELETE ON sealed_push.receipt_devices,
                    sealed_push.receipt_failures TO sealed_push_deliver;
                GRANT SELECT, DELETE ON sealed_push.requests TO sealed_push_deliver;

                -- Registers devices, and alone changes what is pinned of them; discards what waits, and reads none of it.
                GRANT SELECT, INSERT, UPDATE, DELETE ON sealed_push.devices, sealed_push.enrolments TO sealed_push_register;
                GRANT SELECT (id, device), DELETE ON sealed_push.entries, sealed_push.dead_letters TO sealed_push_register;
                GRANT SELECT, UPDATE, DELETE ON sealed_push.queues TO sealed_push_register;
            END $$;

            """
    }
#endif
