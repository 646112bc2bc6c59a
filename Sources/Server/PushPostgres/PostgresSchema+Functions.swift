#if Postgres
internal import PushOutbox
internal import PushSender
internal import SealedPush

extension PostgresSchema {
    static let functions = [
        wake, generation, turn, moment, lineUp, areSealed, arePushes, expiresTooLate, store, keyBytes, enqueue,
        request, nextRange, setApart, bury,
    ].joined(separator: "\n")

    /// Wakes a sleeping courier, which holds the lock. NOTIFY serializes the commits of the whole instance, so it is
    /// sent only in that case. The shared lock is held until the transaction ends, so that no courier falls asleep
    /// before it sees the new entries.
    private static let wake = """
        CREATE FUNCTION sealed_push.wake() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
        BEGIN
            PERFORM pg_notify('\(channel)', '') WHERE NOT pg_try_advisory_xact_lock_shared(\(advisoryClass), 1);
        END $$;
        """

    /// Returns the current generation of rows in `queues`. Until the transaction ends, at most one more starts: the next
    /// but one uses the same lock.
    private static let generation = """
        CREATE FUNCTION sealed_push.generation() RETURNS bigint
        LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
        DECLARE found bigint; held bigint;
        BEGIN
            -- An older snapshot would not see rows that others have inserted in the meantime.
            IF current_setting('transaction_isolation') NOT LIKE 'read %' THEN
                RAISE EXCEPTION 'sealed_push: the transaction must be READ COMMITTED' USING ERRCODE = '25001';
            END IF;
            LOOP
                SELECT current INTO found FROM sealed_push.generations;
                EXIT WHEN found = held;
                IF found % 2 = 0 THEN
                    LOCK TABLE sealed_push.even_generations IN ROW SHARE MODE;
                ELSE
                    LOCK TABLE sealed_push.odd_generations IN ROW SHARE MODE;
                END IF;
                held := found;
            END LOOP;
            RETURN found;
        END $$;
        """

    /// Starts another generation of rows in `queues`, and returns whether it did. Requires that no open transaction may
    /// still insert rows of the generation before the current one, and that none of those are left. Moves a few of
    /// them. Runs as the schema's owner: a delivering role can turn generations, but can't write which one is current
    /// or which one a row belongs to.
    private static let turn = """
        CREATE FUNCTION sealed_push.turn() RETURNS boolean
        LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        DECLARE newest bigint := sealed_push.generation();
        BEGIN
            BEGIN
                IF newest % 2 = 0 THEN
                    LOCK TABLE sealed_push.odd_generations IN EXCLUSIVE MODE NOWAIT;
                ELSE
                    LOCK TABLE sealed_push.even_generations IN EXCLUSIVE MODE NOWAIT;
                END IF;
            EXCEPTION WHEN lock_not_available THEN RETURN false;
            END;
            UPDATE sealed_push.queues q SET generation = newest WHERE q.ctid = ANY(ARRAY(
                SELECT o.ctid FROM sealed_push.queues o WHERE o.generation = newest - 1
                LIMIT 2000 FOR UPDATE SKIP LOCKED));
            -- There may be more, or a transaction that enqueues or settles may hold some.
            UPDATE sealed_push.generations g SET current = g.current + 1
            WHERE g.current = newest AND NOT EXISTS (
                SELECT 1 FROM sealed_push.queues q WHERE q.generation = newest - 1);
            RETURN FOUND;
        END $$;
        """

    /// An invalid push is refused before any part of it is stored: an identifier becomes a request header, in which a
    /// line break would start another one. Sources: Docs/Specification.md 2.8, 2.9, and 2.10.
    private static let isIdentifier = "COLLATE \"C\" ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'"
    private static let isCollapseID = "COLLATE \"C\" ~ '^[!-~]{1,64}$'"
    /// Returns a condition for the bytes of a background push, which has only one priority.
    private static func isBackground(_ body: String) -> String {
        "substring(\(body) FOR \(PayloadForm.background.utf8.count)) = '\(PayloadForm.background)'::bytea"
    }
    /// `pushsender1`, and 58 characters of Bech32.
    private static let isSender = "COLLATE \"C\" ~ '^pushsender1[02-9ac-hj-np-z]{58}$'"

    /// Returns the enqueueing time: the caller's clock if it is within a day of ours. A caller with the owner's rights
    /// can pass any time, since it could write that time itself.
    private static let moment = """
        CREATE FUNCTION sealed_push.moment(given bigint) RETURNS bigint LANGUAGE sql VOLATILE
        RETURN CASE WHEN abs(given - sealed_push.milliseconds()) <= \(Day.milliseconds)
            OR pg_has_role(session_user, current_user, 'USAGE') THEN given ELSE sealed_push.milliseconds() END;
        """

    /// Makes devices' queues due, in their highest-priority lane. Back-offs and leases continue. The caller holds the
    /// devices' rows. No waiting entry has a number below its device's head; NULL for new entries. The queues' rows are
    /// held until the transaction ends, so that the entries of a device are numbered in the order in which they become
    /// visible. The head of a new row is the highest number assigned so far.
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

    /// Returns whether the payloads contain no clear text except what sealers write. A message's clear parts are the
    /// same, and are checked once. Bound at creation, so that the caller's settings can't change its meaning.
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
                    OR convert_from(x.clear, 'UTF8') COLLATE "C" ~ '\(PayloadForm.blankExpression)'
            ) AND NOT EXISTS (SELECT 1 FROM payloads p
                WHERE convert_from(p.sealed, 'UTF8') COLLATE "C" !~ '\(PayloadForm.sealedExpression)'
                    OR octet_length(p.sealed) - 2 < \(shortest("convert_from(p.sealed, 'UTF8')")));
        END;
        """

    /// Returns the number of letters of the shortest envelope with the suite of this text.
    private static func shortest(_ text: String) -> String {
        let cases = PayloadForm.shortest.map {
            "WHEN \(text) COLLATE \"C\" ~ '^\($0.start)' THEN \($0.letterCount)"
        }
        return "CASE \(cases.joined(separator: " ")) ELSE 4096 END"
    }

    /// Returns whether these are pushes that a sealer could have made, byte for byte. It's checked before they are stored,
    /// and again before dead letters are requeued.
    private static let arePushes = """
        CREATE FUNCTION sealed_push.are_pushes(
            message text, priorities bigint[], senders text[], send_until bigint[], expirations bigint[], apns_ids text[],
            collapse_ids text[], bodies bytea[], codes bytea[]
        ) RETURNS boolean LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
        BEGIN
            RETURN coalesce(
                coalesce(are_pushes.message \(isIdentifier), true) AND sealed_push.are_sealed(are_pushes.bodies)
                AND (
                    SELECT coalesce(bool_and(coalesce(
                        x.send_until \(isTime)
                            AND (x.priority = 5 OR x.priority = 10 AND NOT \(isBackground("x.body")))
                            AND (x.sender = 'anonymous' OR x.sender \(isSender))
                            AND coalesce(x.expiration \(isExpiration), true)
                            AND x.apns_id \(isIdentifier) AND x.collapse_id \(isCollapseID)
                            AND octet_length(x.body) <= \(SizePlan.maximumPayloadByteCount)
                            AND coalesce(octet_length(x.code) = 32, true), false)), true)
                    FROM unnest(are_pushes.priorities, are_pushes.senders, are_pushes.send_until,
                        are_pushes.expirations, are_pushes.apns_ids, are_pushes.collapse_ids, are_pushes.bodies,
                        are_pushes.codes
                    ) AS x(priority, sender, send_until, expiration, apns_id, collapse_id, body, code)), false);
        -- The bytes aren't text.
        EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN RETURN false;
        END $$;
        """

    /// Returns whether a device that keeps retired keys for this many days may have erased one by the expiration, like
    /// `Sealer.check`.
    private static let expiresTooLate = """
        CREATE FUNCTION sealed_push.expires_too_late(expiration bigint, keeps bigint, now bigint)
        RETURNS boolean LANGUAGE sql IMMUTABLE
        RETURN coalesce(expiration > now / 1000 + keeps * 86400 + \(Sealer.clockDrift), false);
        """

    /// Stores pushes for devices, in ascending order, and records them under the key. Returns false and stores none if
    /// a device has changed, or another caller has stored the range that begins there or everything under the key. The
    /// message's ID must be new, or the one that the range's broadcast began with. The end of a push is limited as in
    /// `EnqueueBatch.Sealed.sendUntil`, because a role that only enqueues could pass any time.
    private static let store = """
        CREATE FUNCTION sealed_push.store(
            key bytea, audience text, start bigint, now bigint, priorities bigint[], senders text[],
            devices bigint[], revisions bigint[], send_until bigint[], expirations bigint[], apns_ids text[],
            collapse_ids text[], bodies bytea[], codes bytea[], message text DEFAULT NULL,
            fingerprint bytea DEFAULT NULL
        ) RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        DECLARE
            device_count integer := cardinality(store.devices); held_count bigint; is_late boolean; made bigint;
        BEGIN
            IF (store.now \(isTime) AND device_count <= 10000
                AND coalesce(octet_length(store.key) = 32, store.start IS NULL)
                AND octet_length(store.audience) BETWEEN 1 AND 1024
                AND coalesce(octet_length(store.fingerprint) = 32, true)
                AND (
                    -- A missing member is NULL, and so is not a push.
                    SELECT count(*) = device_count AND coalesce(bool_and(x.device IS NOT NULL
                        AND x.body IS NOT NULL), true)
                    FROM unnest(store.priorities, store.senders, store.devices, store.send_until, store.expirations,
                        store.apns_ids, store.collapse_ids, store.bodies, store.codes
                    ) AS x(priority, sender, device, send_until, expiration, apns_id, collapse_id, body, code))
                AND sealed_push.are_pushes(store.message, store.priorities, store.senders, store.send_until,
                    store.expirations, store.apns_ids, store.collapse_ids, store.bodies, store.codes)
            ) IS NOT TRUE THEN
                RAISE EXCEPTION 'sealed_push: not a push' USING ERRCODE = '22023',
                    DETAIL = 'A payload must be byte for byte what a sender writes, apns_id a lowercase UUID, '
                        'collapse_id 1 to 64 visible ASCII characters, priority 10 or 5 (5 for a background push), '
                        'sender pushsender1... or anonymous, expiration in seconds since 1970, and a code 32 bytes.';
            END IF;
            made := sealed_push.moment(store.now);

            IF store.start IS NOT NULL THEN
                PERFORM 1 FROM sealed_push.ranges r WHERE r.key = store.key AND r.start = store.start FOR UPDATE;
                IF NOT FOUND THEN RETURN false; END IF;
            END IF;
            IF device_count > 0 THEN
                -- Held until the end: a change of user or key precedes this, or discards what this enqueues.
                SELECT count(DISTINCT h.id), bool_or(sealed_push.expires_too_late(h.expiration, h.keeps, made))
                INTO held_count, is_late FROM (
                    SELECT d.id, d.keeps, x.expiration
                    FROM unnest(store.devices, store.revisions, store.expirations) AS x(id, revision, expiration)
                        JOIN sealed_push.devices d ON d.id = x.id AND d.revision = x.revision
                    ORDER BY d.id FOR NO KEY UPDATE OF d) AS h;
                IF held_count <> device_count THEN RETURN false; END IF;
                IF is_late THEN
                    RAISE EXCEPTION 'sealed_push: a push expires too late for its device' USING ERRCODE = '22023';
                END IF;
            END IF;
            IF store.start IS NOT NULL THEN
                DELETE FROM sealed_push.ranges r WHERE r.key = store.key AND r.start = store.start;
                UPDATE sealed_push.requests r
                SET enqueued = least(greatest(r.enqueued, 0), \(1 << 62)) + device_count
                WHERE r.key = store.key AND r.message IS NOT DISTINCT FROM store.message;
                IF NOT FOUND THEN
                    RAISE EXCEPTION 'sealed_push: not the message of this broadcast' USING ERRCODE = '22023';
                END IF;
            ELSIF store.key IS NOT NULL THEN
                -- Waits for another transaction that uses the key, and then sees how it ended.
                INSERT INTO sealed_push.requests(key, audience, position, is_complete, enqueued, created, message,
                    fingerprint)
                VALUES (store.key, store.audience, 9223372036854775807, true, device_count, made, store.message,
                    store.fingerprint)
                ON CONFLICT ON CONSTRAINT requests_pkey DO NOTHING;
                IF NOT FOUND THEN RETURN false; END IF;
            END IF;
            IF store.start IS NULL AND EXISTS (SELECT 1 FROM sealed_push.outcomes o WHERE o.message = store.message)
            THEN
                RAISE EXCEPTION 'sealed_push: not a new message' USING ERRCODE = '22023';
            END IF;
            IF device_count > 0 THEN
                PERFORM sealed_push.line_up(array_agg(x.device ORDER BY x.device), x.priority, NULL, made)
                FROM unnest(store.devices, store.priorities) AS x(device, priority) GROUP BY x.priority;
                INSERT INTO sealed_push.entries(device, priority, enqueued, send_until, expiration, apns_id, collapse_id,
                    body, sender, code, message)
                SELECT x.device, x.priority, made,
                    least(x.send_until, made + \(EnqueueOrder.lifetime), made + d.keeps * \(Day.milliseconds)),
                    x.expiration, x.apns_id, x.collapse_id, x.body, x.sender, x.code, store.message
                FROM unnest(store.priorities, store.senders, store.devices, store.send_until, store.expirations,
                    store.apns_ids, store.collapse_ids, store.bodies, store.codes
                ) WITH ORDINALITY AS x(priority, sender, device, send_until, expiration, apns_id, collapse_id, body, code, n)
                    JOIN sealed_push.devices d ON d.id = x.device
                ORDER BY x.n;
                INSERT INTO sealed_push.outcomes(message, device, outcome, count, created)
                SELECT store.message, CASE WHEN store.start IS NULL THEN x.device ELSE 0 END, 'enqueued', count(*), made
                FROM unnest(store.devices) AS x(device) WHERE store.message IS NOT NULL GROUP BY 2;
                PERFORM sealed_push.wake();
            END IF;
            RETURN true;
        END $$;
        """

    /// Returns the bytes of a device's key, classical or hybrid, or NULL for anything else. The checksum isn't
    /// verified, because the bytes are only compared.
    private static let keyBytes = """
        CREATE FUNCTION sealed_push.key_bytes(key text) RETURNS bytea
        LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
        DECLARE bits bit varying := B''; bytes bytea := ''; digits text;
        BEGIN
            IF key_bytes.key COLLATE "C" ~ '^pushpq[.][A-Za-z0-9_-]+$' AND length(key_bytes.key) = \(hybridLength) THEN
                bytes := decode(translate(substr(key_bytes.key, 8), '-_', '+/') || '=', 'base64');
                RETURN substring(bytes FROM 1 FOR \(KeyAlgorithm.hybrid.publicByteCount));
            END IF;
            digits := substring(key_bytes.key COLLATE "C" FROM '^push1([02-9ac-hj-np-z]{58})$');
            IF digits IS NULL THEN RETURN NULL; END IF;
            FOR n IN 1..length(digits) - 6 LOOP
                bits := bits || (strpos('qpzry9x8gf2tvdw0s3jn54khce6mua7l', substr(digits, n, 1)) - 1)::bit(5);
            END LOOP;
            FOR n IN 0..length(bits) / 8 - 1 LOOP
                bytes := bytes || set_byte('\\x00', 0, substring(bits FROM 8 * n + 1 FOR 8)::bit(8)::integer);
            END LOOP;
            RETURN bytes;
        END $$;
        """

    /// The number of characters in the text of a hybrid key. Source: Docs/Specification.md 8.8.
    private static let hybridLength =
        "pushpq.".utf8.count
        + Base64URL.textByteCount(of: KeyAlgorithm.hybrid.publicByteCount + ArmoredText.checksumByteCount)

    private static let longestKey = IdempotencyKey.maximumByteCount

    /// Enqueues from back ends in any language, in the transaction that stores the message. Docs/PostgreSQL.md. Runs as
    /// the schema's owner. `pg_temp` is last in its search path: if it weren't named, it would come first, and the
    /// owner would run the caller's own `text`.
    private static let enqueue = """
        CREATE FUNCTION sealed_push.enqueue(
            device text, recipient text, payload text, apns_id text, collapse_id text, priority integer DEFAULT 10,
            expiration bigint DEFAULT NULL, sender text DEFAULT NULL, key text DEFAULT NULL,
            code bytea DEFAULT NULL
        ) RETURNS text LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        DECLARE
            -- Only a hash of the key is stored.
            digest bytea := sha256(convert_to('sealed_push.enqueue ' || enqueue.key, 'UTF8'));
            wanted text := '\(Audience.device)' || enqueue.device;
            now bigint := sealed_push.milliseconds();
            known text;
            found_device record;
        BEGIN
            IF octet_length(enqueue.key) NOT BETWEEN 1 AND \(longestKey) THEN
                RAISE EXCEPTION 'sealed_push.enqueue: the key must have 1 to \(longestKey) bytes' USING ERRCODE = '22023';
            END IF;
            LOOP
                SELECT r.audience INTO known FROM sealed_push.requests r WHERE r.key = digest;
                IF FOUND THEN
                    IF known IS DISTINCT FROM wanted THEN
                        RAISE EXCEPTION 'sealed_push.enqueue: this key was already used for another device'
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
                IF sealed_push.expires_too_late(enqueue.expiration, found_device.keeps, now) THEN
                    RETURN 'expires-too-late';
                END IF;
                IF sealed_push.store(digest, wanted, NULL, now,
                    -- A background push has only one priority, which its code covers.
                    ARRAY[CASE WHEN \(isBackground("convert_to(enqueue.payload, 'UTF8')")) THEN 5
                        ELSE enqueue.priority::bigint END],
                    ARRAY[enqueue.sender], ARRAY[found_device.id], ARRAY[found_device.revision],
                    ARRAY[least(now + \(EnqueueOrder.lifetime),
                        CASE WHEN enqueue.expiration \(isExpiration)
                            THEN (nullif(enqueue.expiration, 0) + 1) * 1000 END)],
                    ARRAY[enqueue.expiration], ARRAY[enqueue.apns_id], ARRAY[enqueue.collapse_id],
                    ARRAY[convert_to(enqueue.payload, 'UTF8')], ARRAY[enqueue.code])
                THEN RETURN 'enqueued'; END IF;
                -- Another transaction has just used the key.
            END LOOP;
        END $$;
        """

    /// Returns the progress of a message to a caller that knows its key.
    private static let request = """
        CREATE FUNCTION sealed_push.request(
            key bytea, OUT audience text, OUT "position" bigint, OUT is_complete boolean, OUT enqueued bigint,
            OUT message text, OUT fingerprint bytea
        ) RETURNS SETOF record LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
            SELECT r.audience, r.position, r.is_complete, r.enqueued, r.message, r.fingerprint
            FROM sealed_push.requests r WHERE r.key = request.key
        $$;
        """

    /// Starts a range of a broadcast, or returns one that was started but isn't stored; all NULL if none is left. Other
    /// callers that start one wait until this one has advanced the position.
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
                RAISE EXCEPTION 'sealed_push.next_range: not a message' USING ERRCODE = '22023';
            END IF;
            INSERT INTO sealed_push.requests(key, audience, position, is_complete, enqueued, created, message,
                fingerprint)
            VALUES (next_range.key, next_range.audience, 0, false, 0, sealed_push.moment(next_range.now),
                next_range.message, next_range.fingerprint)
            ON CONFLICT ON CONSTRAINT requests_pkey DO NOTHING;
            IF FOUND AND EXISTS (SELECT 1 FROM sealed_push.outcomes o WHERE o.message = next_range.message) THEN
                RAISE EXCEPTION 'sealed_push: not a new message' USING ERRCODE = '22023';
            END IF;
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
            -- Picks at random, so that concurrent callers usually find different ranges.
            SELECT r.start, r.last INTO start, last FROM sealed_push.ranges r WHERE r.key = next_range.key
            ORDER BY r.is_held, random() LIMIT 1;
            IF NOT FOUND THEN
                UPDATE sealed_push.requests r SET is_complete = true WHERE r.key = next_range.key;
            END IF;
        END $$;
        """

    /// Splits a range of a broadcast, so that devices whose rows other transactions hold delay only themselves. Each
    /// becomes a range of its own. Returns false if none is held now.
    private static let setApart = """
        CREATE FUNCTION sealed_push.set_apart(key bytea, start bigint, devices bigint[]) RETURNS boolean
        LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        DECLARE free bigint[]; held bigint; place bigint := set_apart.start; last bigint; is_split boolean := false;
        BEGIN
            SELECT r.last INTO last FROM sealed_push.ranges r
            WHERE r.key = set_apart.key AND r.start = set_apart.start FOR UPDATE;
            -- Another caller has stored or split it.
            IF NOT FOUND THEN RETURN true; END IF;
            SELECT array_agg(f.id) INTO free FROM (
                SELECT d.id FROM sealed_push.devices d WHERE d.id = ANY(set_apart.devices)
                FOR NO KEY UPDATE SKIP LOCKED) AS f;
            FOR held IN
                SELECT d.id FROM sealed_push.devices d
                WHERE d.id = ANY(set_apart.devices) AND NOT d.id = ANY(coalesce(free, '{}'))
                    AND d.id > set_apart.start AND d.id <= last
                ORDER BY d.id
            LOOP
                DELETE FROM sealed_push.ranges r
                WHERE NOT is_split AND r.key = set_apart.key AND r.start = set_apart.start;
                is_split := true;
                INSERT INTO sealed_push.ranges(key, start, last, is_held)
                SELECT set_apart.key, x.start, x.last, x.is_held
                FROM (VALUES (place, held - 1, false), (held - 1, held, true)) AS x(start, last, is_held)
                WHERE x.start < x.last;
                place := held;
            END LOOP;
            INSERT INTO sealed_push.ranges(key, start, last)
            SELECT set_apart.key, place, last WHERE is_split AND place < last;
            RETURN is_split;
        END $$;
        """

    static let entryColumns =
        "id, device, priority, enqueued, send_until, expiration, apns_id, collapse_id, body, sender, code, message"

    /// Returns the part of a statement that counts the end of the rows in `gone`, for their messages and by day. The
    /// parameters are SQL for the members of a ``PushEnding``.
    static func counted(_ outcome: String, at time: String, step: Int = 1) -> String {
        """
        tallied AS (
            INSERT INTO sealed_push.tallies(day, outcome, count)
            SELECT \(time)::bigint / \(Day.milliseconds), \(outcome), \(step) * count(*) FROM gone GROUP BY 1, 2),
        noted AS (
            INSERT INTO sealed_push.outcomes(message, device, outcome, count, created)
            SELECT message, CASE WHEN EXISTS (
                    SELECT 1 FROM sealed_push.outcomes o
                    WHERE o.message = gone.message AND o.device = 0 AND o.outcome = 'enqueued'
                ) THEN 0 ELSE device END, \(outcome), \(step) * count(*), \(time)::bigint
            FROM gone WHERE message IS NOT NULL GROUP BY 1, 2, 3, 5)
        """
    }

    /// Moves entries to the dead letters as they are, either these or all of a device, and returns how many. Runs as the
    /// schema's owner: a delivering role can't write dead letters, which an operator may requeue.
    private static let bury = """
        CREATE FUNCTION sealed_push.bury(
            entries bigint[], device bigint, reason text, outcome text, attempts bigint, now bigint
        ) RETURNS bigint LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
            WITH gone AS (
                    -- One index for each step, whatever the statistics are.
                    DELETE FROM sealed_push.entries e WHERE e.id = ANY(
                        CASE WHEN bury.device IS NULL THEN bury.entries
                        ELSE ARRAY(SELECT o.id FROM sealed_push.entries o WHERE o.device = bury.device) END)
                    RETURNING \(entryColumns)),
                buried AS (
                    INSERT INTO sealed_push.dead_letters(\(entryColumns), reason, attempts, buried)
                    SELECT \(entryColumns), bury.reason, bury.attempts, sealed_push.moment(bury.now) FROM gone
                    ON CONFLICT (id) DO NOTHING),
                \(counted("bury.outcome", at: "sealed_push.moment(bury.now)"))
            SELECT count(*) FROM gone
        $$;
        """
}
#endif
