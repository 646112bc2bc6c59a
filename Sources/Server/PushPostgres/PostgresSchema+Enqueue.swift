#if Postgres
    import PushOutbox

    extension PostgresSchema {
        /// What is no push is refused before anything of it is stored: an identifier becomes a header of a request, in which a
        /// line break would begin another one. Sources: Docs/Specification.md 2.8, 2.9 and 2.10.
        static let isIdentifier = "COLLATE \"C\" ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'"
        static let isCollapseID = "COLLATE \"C\" ~ '^[!-~]{1,64}$'"
        /// `pushsender1`, and 58 characters of Bech32's.
        private static let isSender = "COLLATE \"C\" ~ '^pushsender1[02-9ac-hj-np-z]{58}$'"

        /// The number of a sender's key.
        ///
        /// A number is any that is free: two who make different senders never wait for each other, as they would where both want
        /// the next one. A sequence takes none back, and whoever rolls back time and again would use up all that an integer has.
        static let senderFunction = """
            CREATE FUNCTION sealed_push.sender_number(key text) RETURNS integer
            LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
            DECLARE
                found_id integer;
            BEGIN
                SELECT s.id INTO found_id FROM sealed_push.senders s WHERE s.key = sender_number.key;
                IF FOUND THEN RETURN found_id; END IF;
                IF (sender_number.key = 'anonymous' OR sender_number.key \(isSender)) IS NOT TRUE THEN
                    RAISE EXCEPTION 'sealed_push: a sender is pushsender1..., or anonymous' USING ERRCODE = '22023';
                END IF;
                FOR attempt IN 1..100 LOOP
                    -- Waits for who else makes the same, and then knows how that has ended.
                    INSERT INTO sealed_push.senders(id, key)
                    VALUES (1 + floor(random() * 2147483646)::integer, sender_number.key)
                    ON CONFLICT DO NOTHING RETURNING id INTO found_id;
                    IF FOUND THEN RETURN found_id; END IF;
                    SELECT s.id INTO found_id FROM sealed_push.senders s WHERE s.key = sender_number.key;
                    IF FOUND THEN RETURN found_id; END IF;
                END LOOP;
                RAISE EXCEPTION 'sealed_push: no number is left for a sender' USING ERRCODE = '54000';
            END $$;

            """

        /// The 32 bytes of `push1` and 52 characters of Bech32's, whatever the checksum behind them says: they are compared alone.
        /// NULL for anything else.
        static let keyBytes = """
            CREATE FUNCTION sealed_push.key_bytes(key text) RETURNS bytea
            LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
            DECLARE
                bits bit varying := B'';
                bytes bytea := '';
            BEGIN
                IF (key_bytes.key COLLATE "C" ~ '^push1[02-9ac-hj-np-z]{58}$') IS NOT TRUE THEN RETURN NULL; END IF;
                FOR n IN 6..57 LOOP
                    bits := bits || (strpos('qpzry9x8gf2tvdw0s3jn54khce6mua7l', substr(key_bytes.key, n, 1)) - 1)::bit(5);
                END LOOP;
                FOR n IN 0..31 LOOP
                    bytes := bytes || set_byte('\\x00', 0, substring(bits FROM 8 * n + 1 FOR 8)::bit(8)::integer);
                END LOOP;
                RETURN bytes;
            END $$;

            """

        /// For back ends in any language, in the transaction that stores the message. Docs/OtherLanguages.md.
        ///
        /// It runs as the schema's owner. `pg_temp` stands last in its search path: where it is not named, it comes first, and
        /// the caller's own `text` would be run by the owner.
        static let enqueueFunction = """
            CREATE FUNCTION sealed_push.enqueue(
                device text, recipient text, payload text, apns_id text, collapse_id text, priority integer DEFAULT 10,
                expiration bigint DEFAULT NULL, sender text DEFAULT NULL, key text DEFAULT NULL,
                code bytea DEFAULT NULL
            ) RETURNS text LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
                ELSIF (enqueue.apns_id \(isIdentifier)) IS NOT TRUE THEN
                    RAISE EXCEPTION 'sealed_push.enqueue: apns_id is a UUID in small letters' USING ERRCODE = '22023';
                ELSIF (enqueue.collapse_id \(isCollapseID)) IS NOT TRUE THEN
                    RAISE EXCEPTION 'sealed_push.enqueue: collapse_id has 1 to 64 visible characters of ASCII'
                        USING ERRCODE = '22023';
                ELSIF enqueue.priority IS NULL OR enqueue.priority NOT IN (5, 10) THEN
                    RAISE EXCEPTION 'sealed_push.enqueue: priority is 10 or 5' USING ERRCODE = '22023';
                ELSIF enqueue.expiration NOT BETWEEN 0 AND 253402300799 THEN
                    RAISE EXCEPTION 'sealed_push.enqueue: expiration is in seconds since 1970' USING ERRCODE = '22023';
                ELSIF octet_length(enqueue.key) NOT BETWEEN 1 AND 256 THEN
                    RAISE EXCEPTION 'sealed_push.enqueue: a key has 1 to 256 bytes' USING ERRCODE = '22023';
                ELSIF octet_length(enqueue.code) <> 32 THEN
                    RAISE EXCEPTION 'sealed_push.enqueue: a code has 32 bytes' USING ERRCODE = '22023';
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
                IF NOT FOUND OR NOT found_device.has_token
                    OR found_device.recipient IS DISTINCT FROM sealed_push.key_bytes(enqueue.recipient) THEN
                    DELETE FROM sealed_push.requests r
                    WHERE r.key = sha256(convert_to('sealed_push.enqueue ' || enqueue.key, 'UTF8'));
                    RETURN CASE WHEN found_device.id IS NULL THEN 'unknown-device'
                        WHEN NOT found_device.has_token THEN 'no-token' ELSE 'other-recipient' END;
                END IF;

                sender_id := sealed_push.sender_number(enqueue.sender);
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
    }
#endif
