#if Postgres
    internal import PushOutbox
    internal import PushSender

    extension PostgresSchema {
        static let functions = [
            wake, generation, turn, moment, lineUp, areSealed, store, keyBytes, enqueue, request, nextRange,
        ].joined(separator: "\n")

        /// Wakes a courier that sleeps: it holds the lock. NOTIFY puts the commits of the whole instance in a row, so
        /// it is said only then. The shared lock is held until the transaction's end, so that no courier falls asleep
        /// before it sees what this one brings.
        private static let wake = """
            CREATE FUNCTION sealed_push.wake() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
            BEGIN
                PERFORM pg_notify('\(channel)', '') WHERE NOT pg_try_advisory_xact_lock_shared(\(advisoryClass), 1);
            END $$;
            """

        /// Returns the current generation of rows in `queues`. Until the transaction ends, at most one more begins.
        private static let generation = """
            CREATE FUNCTION sealed_push.generation() RETURNS bigint
            LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
            DECLARE found bigint; held bigint;
            BEGIN
                -- An older snapshot would not see the rows that others have made meanwhile.
                IF current_setting('transaction_isolation') NOT LIKE 'read %' THEN
                    RAISE EXCEPTION 'sealed_push: wants a transaction that is READ COMMITTED' USING ERRCODE = '25001';
                END IF;
                LOOP
                    SELECT current INTO found FROM sealed_push.generations;
                    EXIT WHEN found = held;
                    PERFORM pg_advisory_xact_lock_shared(\(generationClass), (found % 2147483647)::integer);
                    held := found;
                END LOOP;
                RETURN found;
            END $$;
            """

        /// Begins another generation of rows in `queues`, and returns whether it did: only if no transaction is open
        /// that may still make rows of the generation before the current one, and none is left of it. A few are moved.
        ///
        /// It runs as the schema's owner: whoever delivers can turn generations, but can't write which one is current,
        /// nor which one a row belongs to.
        private static let turn = """
            CREATE FUNCTION sealed_push.turn() RETURNS boolean
            LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
            DECLARE newest bigint := sealed_push.generation();
            BEGIN
                IF pg_try_advisory_xact_lock(\(generationClass), ((newest - 1) % 2147483647)::integer) IS NOT TRUE THEN
                    RETURN false;
                END IF;
                UPDATE sealed_push.queues q SET generation = newest WHERE q.ctid = ANY(ARRAY(
                    SELECT o.ctid FROM sealed_push.queues o WHERE o.generation = newest - 1
                    LIMIT 2000 FOR UPDATE SKIP LOCKED));
                -- There may be more, or whoever enqueues or settles may hold some.
                UPDATE sealed_push.generations g SET current = g.current + 1
                WHERE g.current = newest AND NOT EXISTS (
                    SELECT 1 FROM sealed_push.queues q WHERE q.generation = newest - 1);
                RETURN FOUND;
            END $$;
            """

        /// What is no push is refused before anything of it is stored: an identifier becomes a header of a request, in
        /// which a line break would begin another one. Sources: Docs/Specification.md 2.8, 2.9 and 2.10.
        private static let isIdentifier = "COLLATE \"C\" ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'"
        private static let isCollapseID = "COLLATE \"C\" ~ '^[!-~]{1,64}$'"
        /// `pushsender1`, and 58 characters of Bech32's.
        private static let isSender = "COLLATE \"C\" ~ '^pushsender1[02-9ac-hj-np-z]{58}$'"

        /// When something is enqueued: by the caller's clock if that is within a day of ours. Whoever has the owner's
        /// rights gives any time, since he could write it himself.
        private static let moment = """
            CREATE FUNCTION sealed_push.moment(given bigint) RETURNS bigint LANGUAGE sql VOLATILE
            RETURN CASE WHEN abs(given - sealed_push.milliseconds()) <= \(Tally.millisecondsPerDay)
                OR pg_has_role(session_user, current_user, 'USAGE') THEN given ELSE sealed_push.milliseconds() END;
            """

        /// Lets what waits for devices be taken, in the better of the lanes; a back-off or lease goes on. The caller
        /// holds the devices' rows. No entry that waits has a number below its device's head; NULL for new entries.
        ///
        /// The queues' rows are held until the transaction ends, so that the entries of one device are numbered in the
        /// order in which they become visible. The head of a new row is the highest number that was given so far.
        private static let lineUp = """
            CREATE FUNCTION sealed_push.line_up(devices bigint[], priority bigint, heads bigint[], due bigint)
            RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
            DECLARE newest bigint := sealed_push.generation(); found record;
            BEGIN
                SELECT array_agg(l.place) FILTER (WHERE l.is_other) AS places,
                    array_agg(l.head) FILTER (WHERE l.is_other) AS heads,
                    array_agg(l.device) FILTER (WHERE l.place IS NULL) AS new_devices,
                    array_agg(l.head) FILTER (WHERE l.place IS NULL) AS new_heads
                INTO found FROM (
                    SELECT x.device, q.place, least(q.head, x.head) AS head,
                        line_up.priority > q.priority OR x.head < q.head AS is_other
                    FROM unnest(line_up.devices, line_up.heads) AS x(device, head)
                        LEFT JOIN LATERAL (
                            SELECT o.ctid AS place, o.priority, o.head FROM sealed_push.queues o
                            WHERE o.generation IN (newest - 1, newest) AND o.device = x.device FOR UPDATE) AS q ON true
                ) AS l;
                IF found.places IS NOT NULL THEN
                    UPDATE sealed_push.queues q SET priority = greatest(q.priority, line_up.priority), head = x.head
                    FROM unnest(found.places, found.heads) AS x(place, head) WHERE q.ctid = x.place;
                END IF;
                IF found.new_devices IS NOT NULL THEN
                    INSERT INTO sealed_push.queues(generation, device, carrier, priority, due, head)
                    SELECT newest, x.device, d.carrier, line_up.priority, line_up.due, coalesce(x.head, s.last_value)
                    FROM unnest(found.new_devices, found.new_heads) AS x(device, head)
                        JOIN sealed_push.devices d ON d.id = x.device, sealed_push.entries_id_seq s;
                END IF;
            END $$;
            """

        /// Whether nothing in payloads is in the clear but what sealers write there. One message's clear parts are alike,
        /// and are looked at once. Bound when it is made: no setting of the caller's changes what it means.
        private static let areSealed = """
            CREATE FUNCTION sealed_push.are_sealed(bodies bytea[]) RETURNS boolean LANGUAGE sql STABLE
            BEGIN ATOMIC
                WITH payloads AS (
                    SELECT substring(x.body FOR x.place) AS clear, substring(x.body FROM x.place + 1) AS sealed
                    FROM (
                        SELECT u.body, \(PayloadForm.clearEnd.utf8.count - 1)
                            + position('\(PayloadForm.clearEnd)'::bytea IN u.body) AS place
                        FROM unnest(are_sealed.bodies) AS u(body)) AS x)
                SELECT NOT EXISTS (
                    SELECT 1 FROM (SELECT DISTINCT p.clear FROM payloads p) AS x
                    WHERE convert_from(x.clear, 'UTF8') COLLATE "C" !~ '\(PayloadForm.clearExpression)'
                ) AND NOT EXISTS (SELECT 1 FROM payloads p
                    WHERE convert_from(p.sealed, 'UTF8') COLLATE "C" !~ '\(PayloadForm.sealedExpression)');
            END;
            """

        /// Stores pushes for devices, in ascending order, and notes it under the key. False, and nothing stored, if a
        /// device has changed, or somebody else has stored the same: the range that begins there, or all under the key.
        private static let store = """
            CREATE FUNCTION sealed_push.store(
                key bytea, audience text, start bigint, now bigint, priority bigint, sender text, devices bigint[],
                revisions bigint[], stale bigint[], expirations bigint[], apns_ids text[], collapse_ids text[],
                bodies bytea[], codes bytea[], message text DEFAULT NULL, fingerprint bytea DEFAULT NULL
            ) RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
            DECLARE device_count integer := cardinality(store.devices); held_count bigint; made bigint;
            BEGIN
                IF (store.priority IN (5, 10) AND store.now \(isTime) AND device_count <= 10000
                    AND coalesce(octet_length(store.key) = 32, store.start IS NULL)
                    AND octet_length(store.audience) BETWEEN 1 AND 1024
                    AND coalesce(store.message \(isIdentifier), true)
                    AND coalesce(octet_length(store.fingerprint) = 32, true)
                    AND (store.sender = 'anonymous' OR store.sender \(isSender))
                    AND sealed_push.are_sealed(store.bodies)
                    AND (
                        SELECT count(*) = device_count AND coalesce(bool_and(coalesce(
                            x.device IS NOT NULL AND x.stale \(isTime)
                                AND coalesce(x.expiration \(isExpiration), true)
                                AND x.apns_id \(isIdentifier) AND x.collapse_id \(isCollapseID)
                                AND octet_length(x.body) <= \(SizePlan.maximumPayloadByteCount)
                                AND coalesce(octet_length(x.code) = 32, true), false)), true)
                        FROM unnest(store.devices, store.stale, store.expirations, store.apns_ids, store.collapse_ids,
                            store.bodies, store.codes
                        ) AS x(device, stale, expiration, apns_id, collapse_id, body, code))
                ) IS NOT TRUE THEN
                    RAISE EXCEPTION 'sealed_push: not a push' USING ERRCODE = '22023',
                        DETAIL = 'A payload is what a sender writes, byte for byte, apns_id is a lowercase UUID, '
                            'collapse_id has 1 to 64 visible ASCII characters, priority is 10 or 5, sender is '
                            'pushsender1... or anonymous, expiration is in seconds since 1970, and a code has 32 bytes.';
                END IF;
                made := sealed_push.moment(store.now);

                IF store.start IS NOT NULL THEN
                    PERFORM 1 FROM sealed_push.ranges r WHERE r.key = store.key AND r.start = store.start FOR UPDATE;
                    IF NOT FOUND THEN RETURN false; END IF;
                END IF;
                IF device_count > 0 THEN
                    -- Until the end: a change of user or key comes before this, or discards what this enqueues.
                    SELECT count(DISTINCT h.id) INTO held_count FROM (
                        SELECT d.id FROM unnest(store.devices, store.revisions) AS x(id, revision)
                            JOIN sealed_push.devices d ON d.id = x.id AND d.revision = x.revision
                        ORDER BY d.id FOR NO KEY UPDATE OF d) AS h;
                    IF held_count <> device_count THEN RETURN false; END IF;
                END IF;
                IF store.start IS NOT NULL THEN
                    DELETE FROM sealed_push.ranges r WHERE r.key = store.key AND r.start = store.start;
                    UPDATE sealed_push.requests r SET enqueued = r.enqueued + device_count WHERE r.key = store.key;
                ELSIF store.key IS NOT NULL THEN
                    -- Waits for another transaction that uses the key, and then knows how it has ended.
                    INSERT INTO sealed_push.requests(key, audience, position, is_complete, enqueued, created, message,
                        fingerprint)
                    VALUES (store.key, store.audience, 9223372036854775807, true, device_count, made, store.message,
                        store.fingerprint)
                    ON CONFLICT ON CONSTRAINT requests_pkey DO NOTHING;
                    IF NOT FOUND THEN RETURN false; END IF;
                END IF;
                IF device_count > 0 THEN
                    PERFORM sealed_push.line_up(store.devices, store.priority, NULL, made);
                    INSERT INTO sealed_push.entries(device, priority, enqueued, stale, expiration, apns_id, collapse_id,
                        body, sender, code, message)
                    SELECT x.device, store.priority, made, least(x.stale, made + \(EnqueueOrder.lifetime)),
                        x.expiration, x.apns_id, x.collapse_id, x.body, store.sender, x.code, store.message
                    FROM unnest(store.devices, store.stale, store.expirations, store.apns_ids, store.collapse_ids,
                        store.bodies, store.codes) AS x(device, stale, expiration, apns_id, collapse_id, body, code);
                    INSERT INTO sealed_push.outcomes(message, device, outcome, count, created)
                    SELECT store.message, CASE WHEN store.start IS NULL THEN x.device ELSE 0 END, 'enqueued', count(*), made
                    FROM unnest(store.devices) AS x(device) WHERE store.message IS NOT NULL GROUP BY 2;
                    PERFORM sealed_push.wake();
                END IF;
                RETURN true;
            END $$;
            """

        /// The bytes of a device's key, classical or hybrid, whatever the checksum behind them says: they are only
        /// compared. NULL for anything else.
        private static let keyBytes = """
            CREATE FUNCTION sealed_push.key_bytes(key text) RETURNS bytea
            LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
            DECLARE bits bit varying := B''; bytes bytea := ''; digits text;
            BEGIN
                digits := substring(key_bytes.key COLLATE "C" FROM '^push(?:pq)?1([02-9ac-hj-np-z]{58,})$');
                IF (length(digits) IN (58, 1952)) IS NOT TRUE THEN RETURN NULL; END IF;
                FOR n IN 1..length(digits) - 6 LOOP
                    bits := bits || (strpos('qpzry9x8gf2tvdw0s3jn54khce6mua7l', substr(digits, n, 1)) - 1)::bit(5);
                END LOOP;
                FOR n IN 0..length(bits) / 8 - 1 LOOP
                    bytes := bytes || set_byte('\\x00', 0, substring(bits FROM 8 * n + 1 FOR 8)::bit(8)::integer);
                END LOOP;
                RETURN bytes;
            END $$;
            """

        /// For back ends in any language, in the transaction that stores the message. Docs/PostgreSQL.md.
        ///
        /// It runs as the schema's owner. `pg_temp` stands last in its search path: where it is not named, it comes
        /// first, and the caller's own `text` would be run by the owner.
        private static let enqueue = """
            CREATE FUNCTION sealed_push.enqueue(
                device text, recipient text, payload text, apns_id text, collapse_id text, priority integer DEFAULT 10,
                expiration bigint DEFAULT NULL, sender text DEFAULT NULL, key text DEFAULT NULL,
                code bytea DEFAULT NULL
            ) RETURNS text LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
            DECLARE
                -- Of the key, only a hash.
                digest bytea := sha256(convert_to('sealed_push.enqueue ' || enqueue.key, 'UTF8'));
                wanted text := 'device ' || enqueue.device;
                now bigint := sealed_push.milliseconds();
                known text;
                found_device record;
            BEGIN
                IF octet_length(enqueue.key) NOT BETWEEN 1 AND 256 THEN
                    RAISE EXCEPTION 'sealed_push.enqueue: a key has 1 to 256 bytes' USING ERRCODE = '22023';
                END IF;
                LOOP
                    SELECT r.audience INTO known FROM sealed_push.requests r WHERE r.key = digest;
                    IF FOUND THEN
                        IF known IS DISTINCT FROM wanted THEN
                            RAISE EXCEPTION 'sealed_push.enqueue: this key was used before, for another device'
                                USING ERRCODE = '22023';
                        END IF;
                        RETURN 'repeated';
                    END IF;
                    SELECT d.id, d.revision, d.recipient, d.token IS NOT NULL AND d.token_refusal IS NULL AS has_token,
                        d.keeps
                    INTO found_device FROM sealed_push.devices d WHERE d.name = enqueue.device FOR NO KEY UPDATE;
                    IF NOT FOUND THEN RETURN 'unknown-device'; END IF;
                    IF NOT found_device.has_token THEN RETURN 'no-token'; END IF;
                    IF (found_device.recipient = sealed_push.key_bytes(enqueue.recipient)) IS NOT TRUE THEN
                        RETURN 'other-recipient';
                    END IF;
                    IF enqueue.expiration > now / 1000 + found_device.keeps * 86400 + 3600 THEN
                        RETURN 'expires-too-late';
                    END IF;
                    IF sealed_push.store(digest, wanted, NULL, now, enqueue.priority, enqueue.sender,
                        ARRAY[found_device.id], ARRAY[found_device.revision],
                        ARRAY[least(now + found_device.keeps * 86400000, now + \(EnqueueOrder.lifetime),
                            CASE WHEN enqueue.expiration \(isExpiration)
                                THEN (nullif(enqueue.expiration, 0) + 1) * 1000 END)],
                        ARRAY[enqueue.expiration], ARRAY[enqueue.apns_id], ARRAY[enqueue.collapse_id],
                        ARRAY[convert_to(enqueue.payload, 'UTF8')], ARRAY[enqueue.code])
                    THEN RETURN 'enqueued'; END IF;
                    -- Another transaction has used the key meanwhile.
                END LOOP;
            END $$;
            """

        /// How far a message has come, for who knows its key.
        private static let request = """
            CREATE FUNCTION sealed_push.request(
                key bytea, OUT audience text, OUT "position" bigint, OUT is_complete boolean, OUT enqueued bigint,
                OUT message text, OUT fingerprint bytea
            ) RETURNS SETOF record LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
                SELECT r.audience, r.position, r.is_complete, r.enqueued, r.message, r.fingerprint
                FROM sealed_push.requests r WHERE r.key = request.key
            $$;
            """

        /// Begins a range of a message for everyone, or returns one that was begun and is not stored; all NULL where
        /// none is left. Whoever else begins one waits until this has moved the position on.
        private static let nextRange = """
            CREATE FUNCTION sealed_push.next_range(
                key bytea, audience text, topic text, now bigint, size bigint, message text DEFAULT NULL,
                fingerprint bytea DEFAULT NULL, OUT start bigint, OUT last bigint
            ) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
            DECLARE known record; ahead record;
            BEGIN
                IF (octet_length(next_range.key) = 32 AND octet_length(next_range.audience) BETWEEN 1 AND 1024
                    AND next_range.now \(isTime) AND next_range.size BETWEEN 1 AND 10000
                    AND coalesce(next_range.message \(isIdentifier), true)
                    AND coalesce(octet_length(next_range.fingerprint) = 32, true)) IS NOT TRUE
                THEN
                    RAISE EXCEPTION 'sealed_push.next_range: this is no message' USING ERRCODE = '22023';
                END IF;
                INSERT INTO sealed_push.requests(key, audience, position, is_complete, enqueued, created, message,
                    fingerprint)
                VALUES (next_range.key, next_range.audience, 0, false, 0, sealed_push.moment(next_range.now),
                    next_range.message, next_range.fingerprint)
                ON CONFLICT ON CONSTRAINT requests_pkey DO NOTHING;
                SELECT r.audience, r.position, r.is_complete INTO known FROM sealed_push.requests r
                WHERE r.key = next_range.key FOR UPDATE;
                IF known.audience IS DISTINCT FROM next_range.audience OR known.is_complete THEN RETURN; END IF;
                IF known.position < 9223372036854775807 THEN
                    SELECT count(*) AS count, max(c.id) AS last INTO ahead FROM (
                        SELECT d.id FROM sealed_push.devices d
                        WHERE d.topic = next_range.topic AND d.id + 0 > known.position
                        ORDER BY d.id + 0 LIMIT next_range.size) AS c;
                    UPDATE sealed_push.requests r
                    SET position = CASE WHEN ahead.count < next_range.size THEN 9223372036854775807 ELSE ahead.last END
                    WHERE r.key = next_range.key;
                    IF ahead.last IS NOT NULL THEN
                        INSERT INTO sealed_push.ranges(key, start, last)
                        VALUES (next_range.key, known.position, ahead.last) RETURNING ranges.start, ranges.last
                        INTO start, last;
                        RETURN;
                    END IF;
                END IF;
                -- Several who look at the same time find different ones, most times.
                SELECT r.start, r.last INTO start, last FROM sealed_push.ranges r WHERE r.key = next_range.key
                ORDER BY random() LIMIT 1;
                IF NOT FOUND THEN
                    UPDATE sealed_push.requests r SET is_complete = true WHERE r.key = next_range.key;
                END IF;
            END $$;
            """
    }
#endif
