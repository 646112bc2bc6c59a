SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA sealed_push;
CREATE FUNCTION sealed_push.are_pushes(message text, priorities bigint[], senders text[], send_until bigint[], expirations bigint[], apns_ids text[], collapse_ids text[], bodies bytea[], codes bytea[]) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
BEGIN
    RETURN coalesce(
        coalesce(are_pushes.message COLLATE "C" ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', true) AND sealed_push.are_sealed(are_pushes.bodies)
        AND (
            SELECT coalesce(bool_and(coalesce(
                x.send_until BETWEEN 0 AND 253402300799999
                    AND (x.priority = 5 OR x.priority = 10 AND NOT substring(x.body FOR 59) = '{"aps":{"content-available":1},"custom-encrypted-message":"'::bytea)
                    AND (x.sender = 'anonymous' OR x.sender COLLATE "C" ~ '^pushsender1[02-9ac-hj-np-z]{58}$')
                    AND coalesce(x.expiration BETWEEN 0 AND 253402300799, true)
                    AND x.apns_id COLLATE "C" ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' AND x.collapse_id COLLATE "C" ~ '^[!-~]{1,64}$'
                    AND octet_length(x.body) <= 4096
                    AND coalesce(octet_length(x.code) = 32, true), false)), true)
            FROM unnest(are_pushes.priorities, are_pushes.senders, are_pushes.send_until,
                are_pushes.expirations, are_pushes.apns_ids, are_pushes.collapse_ids, are_pushes.bodies,
                are_pushes.codes
            ) AS x(priority, sender, send_until, expiration, apns_id, collapse_id, body, code)), false);
EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN RETURN false;
END $_$;
CREATE FUNCTION sealed_push.are_sealed(bodies bytea[]) RETURNS boolean
    LANGUAGE sql STABLE
    BEGIN ATOMIC
 WITH payloads AS (
          SELECT SUBSTRING(x.body FROM 1 FOR x.place) AS clear,
             SUBSTRING(x.body FROM (x.place + 1)) AS sealed
            FROM ( SELECT u.body,
                     (27 + POSITION(('\x22637573746f6d2d656e637279707465642d6d657373616765223a22'::bytea) IN (u.body))) AS place
                    FROM unnest(are_sealed.bodies) u(body)) x
         )
  SELECT ((NOT (EXISTS ( SELECT 1
            FROM ( SELECT DISTINCT p.clear
                    FROM payloads p) x
           WHERE (((convert_from(x.clear, 'UTF8'::name) COLLATE "C") !~ '^(?:\{"aps":\{"alert":(?:"(?:[^"\\\u0001-\u001f]|\\u0000|\\u0001|\\u0002|\\u0003|\\u0004|\\u0005|\\u0006|\\u0007|\\b|\\t|\\n|\\u000b|\\f|\\r|\\u000e|\\u000f|\\u0010|\\u0011|\\u0012|\\u0013|\\u0014|\\u0015|\\u0016|\\u0017|\\u0018|\\u0019|\\u001a|\\u001b|\\u001c|\\u001d|\\u001e|\\u001f|\\"|\\\\)*"|\{(?:"body":"(?:[^"\\\u0001-\u001f]|\\u0000|\\u0001|\\u0002|\\u0003|\\u0004|\\u0005|\\u0006|\\u0007|\\b|\\t|\\n|\\u000b|\\f|\\r|\\u000e|\\u000f|\\u0010|\\u0011|\\u0012|\\u0013|\\u0014|\\u0015|\\u0016|\\u0017|\\u0018|\\u0019|\\u001a|\\u001b|\\u001c|\\u001d|\\u001e|\\u001f|\\"|\\\\)*"|(?:"loc-args":\["(?:[^"\\\u0001-\u001f]|\\u0000|\\u0001|\\u0002|\\u0003|\\u0004|\\u0005|\\u0006|\\u0007|\\b|\\t|\\n|\\u000b|\\f|\\r|\\u000e|\\u000f|\\u0010|\\u0011|\\u0012|\\u0013|\\u0014|\\u0015|\\u0016|\\u0017|\\u0018|\\u0019|\\u001a|\\u001b|\\u001c|\\u001d|\\u001e|\\u001f|\\"|\\\\)*"(?:,"(?:[^"\\\u0001-\u001f]|\\u0000|\\u0001|\\u0002|\\u0003|\\u0004|\\u0005|\\u0006|\\u0007|\\b|\\t|\\n|\\u000b|\\f|\\r|\\u000e|\\u000f|\\u0010|\\u0011|\\u0012|\\u0013|\\u0014|\\u0015|\\u0016|\\u0017|\\u0018|\\u0019|\\u001a|\\u001b|\\u001c|\\u001d|\\u001e|\\u001f|\\"|\\\\)*")*\],|)"loc-key":"(?:[^"\\\u0001-\u001f]|\\u0000|\\u0001|\\u0002|\\u0003|\\u0004|\\u0005|\\u0006|\\u0007|\\b|\\t|\\n|\\u000b|\\f|\\r|\\u000e|\\u000f|\\u0010|\\u0011|\\u0012|\\u0013|\\u0014|\\u0015|\\u0016|\\u0017|\\u0018|\\u0019|\\u001a|\\u001b|\\u001c|\\u001d|\\u001e|\\u001f|\\"|\\\\)*")(?:,(?:"subtitle":"(?:[^"\\\u0001-\u001f]|\\u0000|\\u0001|\\u0002|\\u0003|\\u0004|\\u0005|\\u0006|\\u0007|\\b|\\t|\\n|\\u000b|\\f|\\r|\\u000e|\\u000f|\\u0010|\\u0011|\\u0012|\\u0013|\\u0014|\\u0015|\\u0016|\\u0017|\\u0018|\\u0019|\\u001a|\\u001b|\\u001c|\\u001d|\\u001e|\\u001f|\\"|\\\\)*"|(?:"subtitle-loc-args":\["(?:[^"\\\u0001-\u001f]|\\u0000|\\u0001|\\u0002|\\u0003|\\u0004|\\u0005|\\u0006|\\u0007|\\b|\\t|\\n|\\u000b|\\f|\\r|\\u000e|\\u000f|\\u0010|\\u0011|\\u0012|\\u0013|\\u0014|\\u0015|\\u0016|\\u0017|\\u0018|\\u0019|\\u001a|\\u001b|\\u001c|\\u001d|\\u001e|\\u001f|\\"|\\\\)*"(?:,"(?:[^"\\\u0001-\u001f]|\\u0000|\\u0001|\\u0002|\\u0003|\\u0004|\\u0005|\\u0006|\\u0007|\\b|\\t|\\n|\\u000b|\\f|\\r|\\u000e|\\u000f|\\u0010|\\u0011|\\u0012|\\u0013|\\u0014|\\u0015|\\u0016|\\u0017|\\u0018|\\u0019|\\u001a|\\u001b|\\u001c|\\u001d|\\u001e|\\u001f|\\"|\\\\)*")*\],|)"subtitle-loc-key":"(?:[^"\\\u0001-\u001f]|\\u0000|\\u0001|\\u0002|\\u0003|\\u0004|\\u0005|\\u0006|\\u0007|\\b|\\t|\\n|\\u000b|\\f|\\r|\\u000e|\\u000f|\\u0010|\\u0011|\\u0012|\\u0013|\\u0014|\\u0015|\\u0016|\\u0017|\\u0018|\\u0019|\\u001a|\\u001b|\\u001c|\\u001d|\\u001e|\\u001f|\\"|\\\\)*")|)(?:,(?:"title":"(?:[^"\\\u0001-\u001f]|\\u0000|\\u0001|\\u0002|\\u0003|\\u0004|\\u0005|\\u0006|\\u0007|\\b|\\t|\\n|\\u000b|\\f|\\r|\\u000e|\\u000f|\\u0010|\\u0011|\\u0012|\\u0013|\\u0014|\\u0015|\\u0016|\\u0017|\\u0018|\\u0019|\\u001a|\\u001b|\\u001c|\\u001d|\\u001e|\\u001f|\\"|\\\\)*"|(?:"title-loc-args":\["(?:[^"\\\u0001-\u001f]|\\u0000|\\u0001|\\u0002|\\u0003|\\u0004|\\u0005|\\u0006|\\u0007|\\b|\\t|\\n|\\u000b|\\f|\\r|\\u000e|\\u000f|\\u0010|\\u0011|\\u0012|\\u0013|\\u0014|\\u0015|\\u0016|\\u0017|\\u0018|\\u0019|\\u001a|\\u001b|\\u001c|\\u001d|\\u001e|\\u001f|\\"|\\\\)*"(?:,"(?:[^"\\\u0001-\u001f]|\\u0000|\\u0001|\\u0002|\\u0003|\\u0004|\\u0005|\\u0006|\\u0007|\\b|\\t|\\n|\\u000b|\\f|\\r|\\u000e|\\u000f|\\u0010|\\u0011|\\u0012|\\u0013|\\u0014|\\u0015|\\u0016|\\u0017|\\u0018|\\u0019|\\u001a|\\u001b|\\u001c|\\u001d|\\u001e|\\u001f|\\"|\\\\)*")*\],|)"title-loc-key":"(?:[^"\\\u0001-\u001f]|\\u0000|\\u0001|\\u0002|\\u0003|\\u0004|\\u0005|\\u0006|\\u0007|\\b|\\t|\\n|\\u000b|\\f|\\r|\\u000e|\\u000f|\\u0010|\\u0011|\\u0012|\\u0013|\\u0014|\\u0015|\\u0016|\\u0017|\\u0018|\\u0019|\\u001a|\\u001b|\\u001c|\\u001d|\\u001e|\\u001f|\\"|\\\\)*")|)\}),"mutable-content":1\},"custom-encrypted-message":"|\{"aps":\{"content-available":1\},"custom-encrypted-message":")$'::text) OR ((convert_from(x.clear, 'UTF8'::name) COLLATE "C") ~ '[:,[]"(?:[\U00000020-\U00000020\U0000007f-\U000000a0\U000000ad-\U000000ad\U0000034f-\U0000034f\U0000061c-\U0000061c\U00001039-\U00001039\U0000115f-\U00001160\U00001680-\U00001680\U000017b4-\U000017b5\U000017d2-\U000017d2\U0000180b-\U0000180f\U00001a60-\U00001a60\U00001bab-\U00001bab\U00002000-\U0000200f\U00002028-\U0000202f\U0000205f-\U0000206f\U00002800-\U00002800\U00002d7f-\U00002d7f\U00003000-\U00003000\U00003164-\U00003164\U0000aaf6-\U0000aaf6\U0000fdd0-\U0000fdef\U0000fe00-\U0000fe0f\U0000feff-\U0000feff\U0000ffa0-\U0000ffa0\U0000fff0-\U0000fffc\U0000fffe-\U0000ffff\U00010a3f-\U00010a3f\U0001107f-\U0001107f\U00011133-\U00011133\U000113d0-\U000113d0\U0001193e-\U0001193e\U00011a47-\U00011a47\U00011a99-\U00011a99\U00011d45-\U00011d45\U00011d97-\U00011d97\U00011f42-\U00011f42\U00013430-\U0001345f\U00016fe4-\U00016fe4\U0001bc9d-\U0001bc9d\U0001bca0-\U0001bca3\U0001d159-\U0001d159\U0001d173-\U0001d17a\U0001da7f-\U0001da80\U0001da9b-\U0001da9f\U0001daa1-\U0001daaf\U0001fffe-\U0001ffff\U0002fffe-\U0002ffff\U0003fffe-\U0003ffff\U0004fffe-\U0004ffff\U0005fffe-\U0005ffff\U0006fffe-\U0006ffff\U0007fffe-\U0007ffff\U0008fffe-\U0008ffff\U0009fffe-\U0009ffff\U000afffe-\U000affff\U000bfffe-\U000bffff\U000cfffe-\U000cffff\U000dfffe-\U000e0fff\U000efffe-\U000effff\U000ffffe-\U000fffff\U0010fffe-\U0010ffff]|\\u0000|\\u0001|\\u0002|\\u0003|\\u0004|\\u0005|\\u0006|\\u0007|\\b|\\t|\\n|\\u000b|\\f|\\r|\\u000e|\\u000f|\\u0010|\\u0011|\\u0012|\\u0013|\\u0014|\\u0015|\\u0016|\\u0017|\\u0018|\\u0019|\\u001a|\\u001b|\\u001c|\\u001d|\\u001e|\\u001f)*"'::text))))) AND (NOT (EXISTS ( SELECT 1
            FROM payloads p
           WHERE (((convert_from(p.sealed, 'UTF8'::name) COLLATE "C") !~ '^(?:A[QRSTUVWXYZabcdef]|A[ghijklmnopqrstuv]|A[wxyz0123456789_-])[A-Za-z0-9_-]{2}(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?"\}$'::text) OR ((octet_length(p.sealed) - 2) <
                 CASE
                     WHEN ((convert_from(p.sealed, 'UTF8'::name) COLLATE "C") ~ '^A[QRSTUVWXYZabcdef]'::text) THEN 94
                     WHEN ((convert_from(p.sealed, 'UTF8'::name) COLLATE "C") ~ '^A[ghijklmnopqrstuv]'::text) THEN 72
                     WHEN ((convert_from(p.sealed, 'UTF8'::name) COLLATE "C") ~ '^A[wxyz0123456789_-]'::text) THEN 1544
                     ELSE 4096
                 END))))));
END;
CREATE FUNCTION sealed_push.bury(entries bigint[], device bigint, reason text, outcome text, attempts bigint, now bigint) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    WITH gone AS (
            -- One index for each step, whatever the statistics are.
            DELETE FROM sealed_push.entries e WHERE e.id = ANY(
                CASE WHEN bury.device IS NULL THEN bury.entries
                ELSE ARRAY(SELECT o.id FROM sealed_push.entries o WHERE o.device = bury.device) END)
            RETURNING id, device, priority, enqueued, send_until, expiration, apns_id, collapse_id, body, sender, code, message),
        buried AS (
            INSERT INTO sealed_push.dead_letters(id, device, priority, enqueued, send_until, expiration, apns_id, collapse_id, body, sender, code, message, reason, attempts, buried)
            SELECT id, device, priority, enqueued, send_until, expiration, apns_id, collapse_id, body, sender, code, message, bury.reason, bury.attempts, sealed_push.moment(bury.now) FROM gone
            ON CONFLICT (id) DO NOTHING),
        tallied AS (
    INSERT INTO sealed_push.tallies(day, outcome, count)
    SELECT sealed_push.moment(bury.now)::bigint / 86400000, bury.outcome, 1 * count(*) FROM gone GROUP BY 1, 2),
noted AS (
    INSERT INTO sealed_push.outcomes(message, device, outcome, count, created)
    SELECT message, CASE WHEN EXISTS (
            SELECT 1 FROM sealed_push.outcomes o
            WHERE o.message = gone.message AND o.device = 0 AND o.outcome = 'enqueued'
        ) THEN 0 ELSE device END, bury.outcome, 1 * count(*), sealed_push.moment(bury.now)::bigint
    FROM gone WHERE message IS NOT NULL GROUP BY 1, 2, 3, 5)
    SELECT count(*) FROM gone
$$;
CREATE FUNCTION sealed_push.enqueue(device text, recipient text, payload text, apns_id text, collapse_id text, priority integer DEFAULT 10, expiration bigint DEFAULT NULL::bigint, sender text DEFAULT NULL::text, key text DEFAULT NULL::text, code bytea DEFAULT NULL::bytea) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    -- Only a hash of the key is stored.
    digest bytea := sha256(convert_to('sealed_push.enqueue ' || enqueue.key, 'UTF8'));
    wanted text := 'device ' || enqueue.device;
    now bigint := sealed_push.milliseconds();
    known text;
    found_device record;
BEGIN
    IF octet_length(enqueue.key) NOT BETWEEN 1 AND 256 THEN
        RAISE EXCEPTION 'sealed_push.enqueue: the key must have 1 to 256 bytes' USING ERRCODE = '22023';
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
            ARRAY[CASE WHEN substring(convert_to(enqueue.payload, 'UTF8') FOR 59) = '{"aps":{"content-available":1},"custom-encrypted-message":"'::bytea THEN 5
                ELSE enqueue.priority::bigint END],
            ARRAY[enqueue.sender], ARRAY[found_device.id], ARRAY[found_device.revision],
            ARRAY[least(now + 2592000000,
                CASE WHEN enqueue.expiration BETWEEN 0 AND 253402300799
                    THEN (nullif(enqueue.expiration, 0) + 1) * 1000 END)],
            ARRAY[enqueue.expiration], ARRAY[enqueue.apns_id], ARRAY[enqueue.collapse_id],
            ARRAY[convert_to(enqueue.payload, 'UTF8')], ARRAY[enqueue.code])
        THEN RETURN 'enqueued'; END IF;
        -- Another transaction has just used the key.
    END LOOP;
END $$;
CREATE FUNCTION sealed_push.expires_too_late(expiration bigint, keeps bigint, now bigint) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    RETURN COALESCE((expiration > (((now / 1000) + (keeps * 86400)) + 3600)), false);
CREATE FUNCTION sealed_push.generation() RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
CREATE FUNCTION sealed_push.key_bytes(key text) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE bits bit varying := B''; bytes bytea := ''; digits text;
BEGIN
    digits := substring(key_bytes.key COLLATE "C" FROM '^push(?:pq)?1([02-9ac-hj-np-z]{58,})$');
    IF (length(digits) IN (58, 1952)) IS NOT TRUE THEN RETURN NULL; END IF;
    FOR n IN 1..length(digits) - 6 LOOP
        bits := bits || (strpos('qpzry9x8gf2tvdw0s3jn54khce6mua7l', substr(digits, n, 1)) - 1)::bit(5);
    END LOOP;
    FOR n IN 0..length(bits) / 8 - 1 LOOP
        bytes := bytes || set_byte('\x00', 0, substring(bits FROM 8 * n + 1 FOR 8)::bit(8)::integer);
    END LOOP;
    RETURN bytes;
END $_$;
CREATE FUNCTION sealed_push.line_up(devices bigint[], priority bigint, heads bigint[], due bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
CREATE FUNCTION sealed_push.milliseconds() RETURNS bigint
    LANGUAGE sql
    RETURN (floor((EXTRACT(epoch FROM clock_timestamp()) * (1000)::numeric)))::bigint;
CREATE FUNCTION sealed_push.moment(given bigint) RETURNS bigint
    LANGUAGE sql
    RETURN CASE WHEN ((abs((given - sealed_push.milliseconds())) <= 86400000) OR pg_has_role(SESSION_USER, CURRENT_USER, 'USAGE'::text)) THEN given ELSE sealed_push.milliseconds() END;
CREATE FUNCTION sealed_push.next_range(key bytea, audience text, topic text, now bigint, size bigint, message text DEFAULT NULL::text, fingerprint bytea DEFAULT NULL::bytea, OUT start bigint, OUT last bigint) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE known record; ahead record;
BEGIN
    IF (octet_length(next_range.key) = 32 AND octet_length(next_range.audience) BETWEEN 1 AND 1024
        AND next_range.now BETWEEN 0 AND 253402300799999 AND next_range.size BETWEEN 1 AND 10000
        AND coalesce(next_range.message COLLATE "C" ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', true)
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
END $_$;
CREATE FUNCTION sealed_push.request(key bytea, OUT audience text, OUT "position" bigint, OUT is_complete boolean, OUT enqueued bigint, OUT message text, OUT fingerprint bytea) RETURNS SETOF record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT r.audience, r.position, r.is_complete, r.enqueued, r.message, r.fingerprint
    FROM sealed_push.requests r WHERE r.key = request.key
$$;
CREATE FUNCTION sealed_push.set_apart(key bytea, start bigint, devices bigint[]) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
CREATE FUNCTION sealed_push.store(key bytea, audience text, start bigint, now bigint, priorities bigint[], senders text[], devices bigint[], revisions bigint[], send_until bigint[], expirations bigint[], apns_ids text[], collapse_ids text[], bodies bytea[], codes bytea[], message text DEFAULT NULL::text, fingerprint bytea DEFAULT NULL::bytea) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    device_count integer := cardinality(store.devices); held_count bigint; is_late boolean; made bigint;
BEGIN
    IF (store.now BETWEEN 0 AND 253402300799999 AND device_count <= 10000
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
        SET enqueued = least(greatest(r.enqueued, 0), 4611686018427387904) + device_count
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
            least(x.send_until, made + 2592000000, made + d.keeps * 86400000),
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
CREATE FUNCTION sealed_push.turn() RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
CREATE FUNCTION sealed_push.wake() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    PERFORM pg_notify('sealed_push', '') WHERE NOT pg_try_advisory_xact_lock_shared(1397773634, 1);
END $$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE sealed_push.claims (
    number integer NOT NULL
);
CREATE TABLE sealed_push.dead_letters (
    id bigint NOT NULL,
    device bigint NOT NULL,
    priority smallint NOT NULL,
    enqueued bigint NOT NULL,
    send_until bigint NOT NULL,
    expiration bigint,
    apns_id text NOT NULL COLLATE pg_catalog."C",
    collapse_id text NOT NULL COLLATE pg_catalog."C",
    body bytea NOT NULL,
    sender text COLLATE pg_catalog."C",
    code bytea,
    message text COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    attempts bigint NOT NULL,
    buried bigint NOT NULL,
    CONSTRAINT entries_check CHECK ((((enqueued >= 0) AND (enqueued <= '253402300799999'::bigint)) AND (priority = ANY (ARRAY[5, 10])) AND ((send_until >= 0) AND (send_until <= '253402300799999'::bigint)) AND ((expiration >= 0) AND (expiration <= '253402300799'::bigint))))
)
WITH (toast_tuple_target='8160');
ALTER TABLE ONLY sealed_push.dead_letters ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE TABLE sealed_push.devices (
    id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    user_name text NOT NULL COLLATE pg_catalog."C",
    topic text NOT NULL COLLATE pg_catalog."C",
    carrier text NOT NULL COLLATE pg_catalog."C",
    token bytea,
    token_registered bigint NOT NULL,
    token_refusal text COLLATE pg_catalog."C",
    is_proven boolean DEFAULT false NOT NULL,
    recipient bytea,
    is_verified boolean NOT NULL,
    valid_from bigint NOT NULL,
    valid_until bigint NOT NULL,
    keeps bigint,
    revision bigint DEFAULT 1 NOT NULL,
    pin_code bytea,
    address_code bytea,
    CONSTRAINT devices_keeps_check CHECK (((keeps >= 1) AND (keeps <= 31))),
    CONSTRAINT is_device CHECK ((((octet_length(name) >= 1) AND (octet_length(name) <= 128)) AND (name !~ '[\u0001-\u001f\u007f-\u009f]'::text) AND (name !~ '^[\U00000020-\U00000020\U0000007f-\U000000a0\U000000ad-\U000000ad\U0000034f-\U0000034f\U0000061c-\U0000061c\U00001039-\U00001039\U0000115f-\U00001160\U00001680-\U00001680\U000017b4-\U000017b5\U000017d2-\U000017d2\U0000180b-\U0000180f\U00001a60-\U00001a60\U00001bab-\U00001bab\U00002000-\U0000200f\U00002028-\U0000202f\U0000205f-\U0000206f\U00002800-\U00002800\U00002d7f-\U00002d7f\U00003000-\U00003000\U00003164-\U00003164\U0000aaf6-\U0000aaf6\U0000fdd0-\U0000fdef\U0000fe00-\U0000fe0f\U0000feff-\U0000feff\U0000ffa0-\U0000ffa0\U0000fff0-\U0000fffc\U0000fffe-\U0000ffff\U00010a3f-\U00010a3f\U0001107f-\U0001107f\U00011133-\U00011133\U000113d0-\U000113d0\U0001193e-\U0001193e\U00011a47-\U00011a47\U00011a99-\U00011a99\U00011d45-\U00011d45\U00011d97-\U00011d97\U00011f42-\U00011f42\U00013430-\U0001345f\U00016fe4-\U00016fe4\U0001bc9d-\U0001bc9d\U0001bca0-\U0001bca3\U0001d159-\U0001d159\U0001d173-\U0001d17a\U0001da7f-\U0001da80\U0001da9b-\U0001da9f\U0001daa1-\U0001daaf\U0001fffe-\U0001ffff\U0002fffe-\U0002ffff\U0003fffe-\U0003ffff\U0004fffe-\U0004ffff\U0005fffe-\U0005ffff\U0006fffe-\U0006ffff\U0007fffe-\U0007ffff\U0008fffe-\U0008ffff\U0009fffe-\U0009ffff\U000afffe-\U000affff\U000bfffe-\U000bffff\U000cfffe-\U000cffff\U000dfffe-\U000e0fff\U000efffe-\U000effff\U000ffffe-\U000fffff\U0010fffe-\U0010ffff]*$'::text) AND (name <> ALL (ARRAY['.'::text, '..'::text])) AND ((octet_length(user_name) >= 1) AND (octet_length(user_name) <= 128)) AND (user_name !~ '[\u0001-\u001f\u007f-\u009f]'::text) AND (user_name !~ '^[\U00000020-\U00000020\U0000007f-\U000000a0\U000000ad-\U000000ad\U0000034f-\U0000034f\U0000061c-\U0000061c\U00001039-\U00001039\U0000115f-\U00001160\U00001680-\U00001680\U000017b4-\U000017b5\U000017d2-\U000017d2\U0000180b-\U0000180f\U00001a60-\U00001a60\U00001bab-\U00001bab\U00002000-\U0000200f\U00002028-\U0000202f\U0000205f-\U0000206f\U00002800-\U00002800\U00002d7f-\U00002d7f\U00003000-\U00003000\U00003164-\U00003164\U0000aaf6-\U0000aaf6\U0000fdd0-\U0000fdef\U0000fe00-\U0000fe0f\U0000feff-\U0000feff\U0000ffa0-\U0000ffa0\U0000fff0-\U0000fffc\U0000fffe-\U0000ffff\U00010a3f-\U00010a3f\U0001107f-\U0001107f\U00011133-\U00011133\U000113d0-\U000113d0\U0001193e-\U0001193e\U00011a47-\U00011a47\U00011a99-\U00011a99\U00011d45-\U00011d45\U00011d97-\U00011d97\U00011f42-\U00011f42\U00013430-\U0001345f\U00016fe4-\U00016fe4\U0001bc9d-\U0001bc9d\U0001bca0-\U0001bca3\U0001d159-\U0001d159\U0001d173-\U0001d17a\U0001da7f-\U0001da80\U0001da9b-\U0001da9f\U0001daa1-\U0001daaf\U0001fffe-\U0001ffff\U0002fffe-\U0002ffff\U0003fffe-\U0003ffff\U0004fffe-\U0004ffff\U0005fffe-\U0005ffff\U0006fffe-\U0006ffff\U0007fffe-\U0007ffff\U0008fffe-\U0008ffff\U0009fffe-\U0009ffff\U000afffe-\U000affff\U000bfffe-\U000bffff\U000cfffe-\U000cffff\U000dfffe-\U000e0fff\U000efffe-\U000effff\U000ffffe-\U000fffff\U0010fffe-\U0010ffff]*$'::text) AND (user_name <> ALL (ARRAY['.'::text, '..'::text])) AND (topic ~ '^[A-Za-z0-9.-]{1,155}$'::text) AND (carrier ~ '^[a-z0-9-]{1,32}$'::text) AND ((octet_length(token) >= 1) AND (octet_length(token) <=
CASE
    WHEN (carrier = ANY (ARRAY['apns'::text, 'apns-sandbox'::text])) THEN 100
    ELSE 1024
END)) AND (octet_length(recipient) = ANY (ARRAY[32, 1216]))))
);
ALTER TABLE sealed_push.devices ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME sealed_push.devices_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE sealed_push.enrollments (
    device bigint NOT NULL,
    enrollment text NOT NULL COLLATE pg_catalog."C",
    record text NOT NULL COLLATE pg_catalog."C",
    proven text NOT NULL COLLATE pg_catalog."C",
    code bytea,
    CONSTRAINT is_enrollment CHECK (((enrollment ~ '^pushenrollment1[a-z0-9]{58}$'::text) AND (octet_length(record) <= 10939) AND (record ~ '^pushrecord[.][A-Za-z0-9_-]+$'::text) AND (proven ~ '^[a-z0-9 ]*$'::text)))
);
CREATE TABLE sealed_push.entries (
    id bigint NOT NULL,
    device bigint NOT NULL,
    priority smallint NOT NULL,
    enqueued bigint NOT NULL,
    send_until bigint NOT NULL,
    expiration bigint,
    apns_id text NOT NULL COLLATE pg_catalog."C",
    collapse_id text NOT NULL COLLATE pg_catalog."C",
    body bytea NOT NULL,
    sender text COLLATE pg_catalog."C",
    code bytea,
    message text COLLATE pg_catalog."C",
    CONSTRAINT entries_check CHECK ((((enqueued >= 0) AND (enqueued <= '253402300799999'::bigint)) AND (priority = ANY (ARRAY[5, 10])) AND ((send_until >= 0) AND (send_until <= '253402300799999'::bigint)) AND ((expiration >= 0) AND (expiration <= '253402300799'::bigint))))
)
WITH (toast_tuple_target='8160', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.1', autovacuum_vacuum_cost_delay='0', vacuum_truncate='false');
ALTER TABLE ONLY sealed_push.entries ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE sealed_push.entries ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME sealed_push.entries_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE sealed_push.even_generations (
);
CREATE TABLE sealed_push.generations (
    current bigint NOT NULL,
    CONSTRAINT generations_current_check CHECK (((current >= 1) AND (current <= '4611686018427387904'::bigint)))
);
CREATE TABLE sealed_push.logins (
    user_name text NOT NULL COLLATE pg_catalog."C",
    ended bigint NOT NULL
);
CREATE TABLE sealed_push.marks (
    mark bytea NOT NULL
);
CREATE TABLE sealed_push.meta (
    version integer NOT NULL
);
CREATE TABLE sealed_push.odd_generations (
);
CREATE TABLE sealed_push.outcomes (
    message text NOT NULL COLLATE pg_catalog."C",
    device bigint NOT NULL,
    outcome text NOT NULL COLLATE pg_catalog."C",
    count bigint NOT NULL,
    created bigint NOT NULL
);
CREATE TABLE sealed_push.queues (
    generation bigint NOT NULL,
    device bigint NOT NULL,
    carrier text NOT NULL COLLATE pg_catalog."C",
    priority smallint NOT NULL,
    due bigint NOT NULL,
    lease bigint,
    holder text,
    entry bigint,
    head bigint NOT NULL,
    attempts bigint DEFAULT 0 NOT NULL,
    CONSTRAINT queues_priority_check CHECK ((priority = ANY (ARRAY[5, 10])))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0', vacuum_truncate='false');
CREATE TABLE sealed_push.ranges (
    key bytea NOT NULL,
    start bigint NOT NULL,
    last bigint NOT NULL,
    is_held boolean DEFAULT false NOT NULL
);
CREATE TABLE sealed_push.receipt_devices (
    id bytea NOT NULL,
    last bigint NOT NULL,
    shown bigint NOT NULL,
    failed bigint NOT NULL,
    day bigint NOT NULL,
    shown_that_day bigint NOT NULL,
    failed_that_day bigint NOT NULL
);
CREATE TABLE sealed_push.receipt_failures (
    id bytea NOT NULL,
    reason text NOT NULL COLLATE pg_catalog."C",
    last bigint NOT NULL
);
CREATE TABLE sealed_push.receipt_numbers (
    id bytea NOT NULL,
    number bytea NOT NULL,
    day bigint NOT NULL
);
CREATE TABLE sealed_push.receipt_tallies (
    day bigint NOT NULL,
    outcome text NOT NULL COLLATE pg_catalog."C",
    count bigint NOT NULL
);
CREATE VIEW sealed_push.recipients AS
 SELECT devices.id,
    devices.revision,
    devices.name,
    devices.user_name,
    devices.topic,
        CASE
            WHEN (devices.token IS NULL) THEN false
            WHEN ((octet_length(devices.token) >= 1) AND (octet_length(devices.token) <=
            CASE
                WHEN (devices.carrier = ANY (ARRAY['apns'::text, 'apns-sandbox'::text])) THEN 100
                ELSE 1024
            END)) THEN (devices.token_refusal IS NULL)
            ELSE NULL::boolean
        END AS has_token,
    devices.recipient,
    devices.is_verified,
    devices.valid_from,
    devices.valid_until,
    devices.keeps,
    devices.pin_code
   FROM sealed_push.devices;
CREATE TABLE sealed_push.registrations (
);
CREATE TABLE sealed_push.requests (
    key bytea NOT NULL,
    audience text NOT NULL COLLATE pg_catalog."C",
    "position" bigint NOT NULL,
    is_complete boolean NOT NULL,
    enqueued bigint NOT NULL,
    created bigint NOT NULL,
    message text COLLATE pg_catalog."C",
    fingerprint bytea
);
CREATE TABLE sealed_push.tallies (
    day bigint NOT NULL,
    outcome text NOT NULL COLLATE pg_catalog."C",
    count bigint NOT NULL
);
INSERT INTO sealed_push.claims VALUES (0);
INSERT INTO sealed_push.claims VALUES (1);
INSERT INTO sealed_push.claims VALUES (2);
INSERT INTO sealed_push.claims VALUES (3);
INSERT INTO sealed_push.claims VALUES (4);
INSERT INTO sealed_push.claims VALUES (5);
INSERT INTO sealed_push.claims VALUES (6);
INSERT INTO sealed_push.claims VALUES (7);
INSERT INTO sealed_push.claims VALUES (8);
INSERT INTO sealed_push.claims VALUES (9);
INSERT INTO sealed_push.claims VALUES (10);
INSERT INTO sealed_push.claims VALUES (11);
INSERT INTO sealed_push.claims VALUES (12);
INSERT INTO sealed_push.claims VALUES (13);
INSERT INTO sealed_push.claims VALUES (14);
INSERT INTO sealed_push.claims VALUES (15);
INSERT INTO sealed_push.claims VALUES (16);
INSERT INTO sealed_push.claims VALUES (17);
INSERT INTO sealed_push.claims VALUES (18);
INSERT INTO sealed_push.claims VALUES (19);
INSERT INTO sealed_push.claims VALUES (20);
INSERT INTO sealed_push.claims VALUES (21);
INSERT INTO sealed_push.claims VALUES (22);
INSERT INTO sealed_push.claims VALUES (23);
INSERT INTO sealed_push.claims VALUES (24);
INSERT INTO sealed_push.claims VALUES (25);
INSERT INTO sealed_push.claims VALUES (26);
INSERT INTO sealed_push.claims VALUES (27);
INSERT INTO sealed_push.claims VALUES (28);
INSERT INTO sealed_push.claims VALUES (29);
INSERT INTO sealed_push.claims VALUES (30);
INSERT INTO sealed_push.claims VALUES (31);
INSERT INTO sealed_push.claims VALUES (32);
INSERT INTO sealed_push.claims VALUES (33);
INSERT INTO sealed_push.claims VALUES (34);
INSERT INTO sealed_push.claims VALUES (35);
INSERT INTO sealed_push.claims VALUES (36);
INSERT INTO sealed_push.claims VALUES (37);
INSERT INTO sealed_push.claims VALUES (38);
INSERT INTO sealed_push.claims VALUES (39);
INSERT INTO sealed_push.claims VALUES (40);
INSERT INTO sealed_push.claims VALUES (41);
INSERT INTO sealed_push.claims VALUES (42);
INSERT INTO sealed_push.claims VALUES (43);
INSERT INTO sealed_push.claims VALUES (44);
INSERT INTO sealed_push.claims VALUES (45);
INSERT INTO sealed_push.claims VALUES (46);
INSERT INTO sealed_push.claims VALUES (47);
INSERT INTO sealed_push.claims VALUES (48);
INSERT INTO sealed_push.claims VALUES (49);
INSERT INTO sealed_push.claims VALUES (50);
INSERT INTO sealed_push.claims VALUES (51);
INSERT INTO sealed_push.claims VALUES (52);
INSERT INTO sealed_push.claims VALUES (53);
INSERT INTO sealed_push.claims VALUES (54);
INSERT INTO sealed_push.claims VALUES (55);
INSERT INTO sealed_push.claims VALUES (56);
INSERT INTO sealed_push.claims VALUES (57);
INSERT INTO sealed_push.claims VALUES (58);
INSERT INTO sealed_push.claims VALUES (59);
INSERT INTO sealed_push.claims VALUES (60);
INSERT INTO sealed_push.claims VALUES (61);
INSERT INTO sealed_push.claims VALUES (62);
INSERT INTO sealed_push.claims VALUES (63);
INSERT INTO sealed_push.claims VALUES (64);
INSERT INTO sealed_push.claims VALUES (65);
INSERT INTO sealed_push.claims VALUES (66);
INSERT INTO sealed_push.claims VALUES (67);
INSERT INTO sealed_push.claims VALUES (68);
INSERT INTO sealed_push.claims VALUES (69);
INSERT INTO sealed_push.claims VALUES (70);
INSERT INTO sealed_push.claims VALUES (71);
INSERT INTO sealed_push.claims VALUES (72);
INSERT INTO sealed_push.claims VALUES (73);
INSERT INTO sealed_push.claims VALUES (74);
INSERT INTO sealed_push.claims VALUES (75);
INSERT INTO sealed_push.claims VALUES (76);
INSERT INTO sealed_push.claims VALUES (77);
INSERT INTO sealed_push.claims VALUES (78);
INSERT INTO sealed_push.claims VALUES (79);
INSERT INTO sealed_push.claims VALUES (80);
INSERT INTO sealed_push.claims VALUES (81);
INSERT INTO sealed_push.claims VALUES (82);
INSERT INTO sealed_push.claims VALUES (83);
INSERT INTO sealed_push.claims VALUES (84);
INSERT INTO sealed_push.claims VALUES (85);
INSERT INTO sealed_push.claims VALUES (86);
INSERT INTO sealed_push.claims VALUES (87);
INSERT INTO sealed_push.claims VALUES (88);
INSERT INTO sealed_push.claims VALUES (89);
INSERT INTO sealed_push.claims VALUES (90);
INSERT INTO sealed_push.claims VALUES (91);
INSERT INTO sealed_push.claims VALUES (92);
INSERT INTO sealed_push.claims VALUES (93);
INSERT INTO sealed_push.claims VALUES (94);
INSERT INTO sealed_push.claims VALUES (95);
INSERT INTO sealed_push.claims VALUES (96);
INSERT INTO sealed_push.claims VALUES (97);
INSERT INTO sealed_push.claims VALUES (98);
INSERT INTO sealed_push.claims VALUES (99);
INSERT INTO sealed_push.claims VALUES (100);
INSERT INTO sealed_push.claims VALUES (101);
INSERT INTO sealed_push.claims VALUES (102);
INSERT INTO sealed_push.claims VALUES (103);
INSERT INTO sealed_push.claims VALUES (104);
INSERT INTO sealed_push.claims VALUES (105);
INSERT INTO sealed_push.claims VALUES (106);
INSERT INTO sealed_push.claims VALUES (107);
INSERT INTO sealed_push.claims VALUES (108);
INSERT INTO sealed_push.claims VALUES (109);
INSERT INTO sealed_push.claims VALUES (110);
INSERT INTO sealed_push.claims VALUES (111);
INSERT INTO sealed_push.claims VALUES (112);
INSERT INTO sealed_push.claims VALUES (113);
INSERT INTO sealed_push.claims VALUES (114);
INSERT INTO sealed_push.claims VALUES (115);
INSERT INTO sealed_push.claims VALUES (116);
INSERT INTO sealed_push.claims VALUES (117);
INSERT INTO sealed_push.claims VALUES (118);
INSERT INTO sealed_push.claims VALUES (119);
INSERT INTO sealed_push.claims VALUES (120);
INSERT INTO sealed_push.claims VALUES (121);
INSERT INTO sealed_push.claims VALUES (122);
INSERT INTO sealed_push.claims VALUES (123);
INSERT INTO sealed_push.claims VALUES (124);
INSERT INTO sealed_push.claims VALUES (125);
INSERT INTO sealed_push.claims VALUES (126);
INSERT INTO sealed_push.claims VALUES (127);
INSERT INTO sealed_push.claims VALUES (128);
INSERT INTO sealed_push.claims VALUES (129);
INSERT INTO sealed_push.claims VALUES (130);
INSERT INTO sealed_push.claims VALUES (131);
INSERT INTO sealed_push.claims VALUES (132);
INSERT INTO sealed_push.claims VALUES (133);
INSERT INTO sealed_push.claims VALUES (134);
INSERT INTO sealed_push.claims VALUES (135);
INSERT INTO sealed_push.claims VALUES (136);
INSERT INTO sealed_push.claims VALUES (137);
INSERT INTO sealed_push.claims VALUES (138);
INSERT INTO sealed_push.claims VALUES (139);
INSERT INTO sealed_push.claims VALUES (140);
INSERT INTO sealed_push.claims VALUES (141);
INSERT INTO sealed_push.claims VALUES (142);
INSERT INTO sealed_push.claims VALUES (143);
INSERT INTO sealed_push.claims VALUES (144);
INSERT INTO sealed_push.claims VALUES (145);
INSERT INTO sealed_push.claims VALUES (146);
INSERT INTO sealed_push.claims VALUES (147);
INSERT INTO sealed_push.claims VALUES (148);
INSERT INTO sealed_push.claims VALUES (149);
INSERT INTO sealed_push.claims VALUES (150);
INSERT INTO sealed_push.claims VALUES (151);
INSERT INTO sealed_push.claims VALUES (152);
INSERT INTO sealed_push.claims VALUES (153);
INSERT INTO sealed_push.claims VALUES (154);
INSERT INTO sealed_push.claims VALUES (155);
INSERT INTO sealed_push.claims VALUES (156);
INSERT INTO sealed_push.claims VALUES (157);
INSERT INTO sealed_push.claims VALUES (158);
INSERT INTO sealed_push.claims VALUES (159);
INSERT INTO sealed_push.claims VALUES (160);
INSERT INTO sealed_push.claims VALUES (161);
INSERT INTO sealed_push.claims VALUES (162);
INSERT INTO sealed_push.claims VALUES (163);
INSERT INTO sealed_push.claims VALUES (164);
INSERT INTO sealed_push.claims VALUES (165);
INSERT INTO sealed_push.claims VALUES (166);
INSERT INTO sealed_push.claims VALUES (167);
INSERT INTO sealed_push.claims VALUES (168);
INSERT INTO sealed_push.claims VALUES (169);
INSERT INTO sealed_push.claims VALUES (170);
INSERT INTO sealed_push.claims VALUES (171);
INSERT INTO sealed_push.claims VALUES (172);
INSERT INTO sealed_push.claims VALUES (173);
INSERT INTO sealed_push.claims VALUES (174);
INSERT INTO sealed_push.claims VALUES (175);
INSERT INTO sealed_push.claims VALUES (176);
INSERT INTO sealed_push.claims VALUES (177);
INSERT INTO sealed_push.claims VALUES (178);
INSERT INTO sealed_push.claims VALUES (179);
INSERT INTO sealed_push.claims VALUES (180);
INSERT INTO sealed_push.claims VALUES (181);
INSERT INTO sealed_push.claims VALUES (182);
INSERT INTO sealed_push.claims VALUES (183);
INSERT INTO sealed_push.claims VALUES (184);
INSERT INTO sealed_push.claims VALUES (185);
INSERT INTO sealed_push.claims VALUES (186);
INSERT INTO sealed_push.claims VALUES (187);
INSERT INTO sealed_push.claims VALUES (188);
INSERT INTO sealed_push.claims VALUES (189);
INSERT INTO sealed_push.claims VALUES (190);
INSERT INTO sealed_push.claims VALUES (191);
INSERT INTO sealed_push.claims VALUES (192);
INSERT INTO sealed_push.claims VALUES (193);
INSERT INTO sealed_push.claims VALUES (194);
INSERT INTO sealed_push.claims VALUES (195);
INSERT INTO sealed_push.claims VALUES (196);
INSERT INTO sealed_push.claims VALUES (197);
INSERT INTO sealed_push.claims VALUES (198);
INSERT INTO sealed_push.claims VALUES (199);
INSERT INTO sealed_push.claims VALUES (200);
INSERT INTO sealed_push.claims VALUES (201);
INSERT INTO sealed_push.claims VALUES (202);
INSERT INTO sealed_push.claims VALUES (203);
INSERT INTO sealed_push.claims VALUES (204);
INSERT INTO sealed_push.claims VALUES (205);
INSERT INTO sealed_push.claims VALUES (206);
INSERT INTO sealed_push.claims VALUES (207);
INSERT INTO sealed_push.claims VALUES (208);
INSERT INTO sealed_push.claims VALUES (209);
INSERT INTO sealed_push.claims VALUES (210);
INSERT INTO sealed_push.claims VALUES (211);
INSERT INTO sealed_push.claims VALUES (212);
INSERT INTO sealed_push.claims VALUES (213);
INSERT INTO sealed_push.claims VALUES (214);
INSERT INTO sealed_push.claims VALUES (215);
INSERT INTO sealed_push.claims VALUES (216);
INSERT INTO sealed_push.claims VALUES (217);
INSERT INTO sealed_push.claims VALUES (218);
INSERT INTO sealed_push.claims VALUES (219);
INSERT INTO sealed_push.claims VALUES (220);
INSERT INTO sealed_push.claims VALUES (221);
INSERT INTO sealed_push.claims VALUES (222);
INSERT INTO sealed_push.claims VALUES (223);
INSERT INTO sealed_push.claims VALUES (224);
INSERT INTO sealed_push.claims VALUES (225);
INSERT INTO sealed_push.claims VALUES (226);
INSERT INTO sealed_push.claims VALUES (227);
INSERT INTO sealed_push.claims VALUES (228);
INSERT INTO sealed_push.claims VALUES (229);
INSERT INTO sealed_push.claims VALUES (230);
INSERT INTO sealed_push.claims VALUES (231);
INSERT INTO sealed_push.claims VALUES (232);
INSERT INTO sealed_push.claims VALUES (233);
INSERT INTO sealed_push.claims VALUES (234);
INSERT INTO sealed_push.claims VALUES (235);
INSERT INTO sealed_push.claims VALUES (236);
INSERT INTO sealed_push.claims VALUES (237);
INSERT INTO sealed_push.claims VALUES (238);
INSERT INTO sealed_push.claims VALUES (239);
INSERT INTO sealed_push.claims VALUES (240);
INSERT INTO sealed_push.claims VALUES (241);
INSERT INTO sealed_push.claims VALUES (242);
INSERT INTO sealed_push.claims VALUES (243);
INSERT INTO sealed_push.claims VALUES (244);
INSERT INTO sealed_push.claims VALUES (245);
INSERT INTO sealed_push.claims VALUES (246);
INSERT INTO sealed_push.claims VALUES (247);
INSERT INTO sealed_push.claims VALUES (248);
INSERT INTO sealed_push.claims VALUES (249);
INSERT INTO sealed_push.claims VALUES (250);
INSERT INTO sealed_push.claims VALUES (251);
INSERT INTO sealed_push.claims VALUES (252);
INSERT INTO sealed_push.claims VALUES (253);
INSERT INTO sealed_push.claims VALUES (254);
INSERT INTO sealed_push.claims VALUES (255);
INSERT INTO sealed_push.claims VALUES (256);
INSERT INTO sealed_push.claims VALUES (257);
INSERT INTO sealed_push.claims VALUES (258);
INSERT INTO sealed_push.claims VALUES (259);
INSERT INTO sealed_push.claims VALUES (260);
INSERT INTO sealed_push.claims VALUES (261);
INSERT INTO sealed_push.claims VALUES (262);
INSERT INTO sealed_push.claims VALUES (263);
INSERT INTO sealed_push.claims VALUES (264);
INSERT INTO sealed_push.claims VALUES (265);
INSERT INTO sealed_push.claims VALUES (266);
INSERT INTO sealed_push.claims VALUES (267);
INSERT INTO sealed_push.claims VALUES (268);
INSERT INTO sealed_push.claims VALUES (269);
INSERT INTO sealed_push.claims VALUES (270);
INSERT INTO sealed_push.claims VALUES (271);
INSERT INTO sealed_push.claims VALUES (272);
INSERT INTO sealed_push.claims VALUES (273);
INSERT INTO sealed_push.claims VALUES (274);
INSERT INTO sealed_push.claims VALUES (275);
INSERT INTO sealed_push.claims VALUES (276);
INSERT INTO sealed_push.claims VALUES (277);
INSERT INTO sealed_push.claims VALUES (278);
INSERT INTO sealed_push.claims VALUES (279);
INSERT INTO sealed_push.claims VALUES (280);
INSERT INTO sealed_push.claims VALUES (281);
INSERT INTO sealed_push.claims VALUES (282);
INSERT INTO sealed_push.claims VALUES (283);
INSERT INTO sealed_push.claims VALUES (284);
INSERT INTO sealed_push.claims VALUES (285);
INSERT INTO sealed_push.claims VALUES (286);
INSERT INTO sealed_push.claims VALUES (287);
INSERT INTO sealed_push.claims VALUES (288);
INSERT INTO sealed_push.claims VALUES (289);
INSERT INTO sealed_push.claims VALUES (290);
INSERT INTO sealed_push.claims VALUES (291);
INSERT INTO sealed_push.claims VALUES (292);
INSERT INTO sealed_push.claims VALUES (293);
INSERT INTO sealed_push.claims VALUES (294);
INSERT INTO sealed_push.claims VALUES (295);
INSERT INTO sealed_push.claims VALUES (296);
INSERT INTO sealed_push.claims VALUES (297);
INSERT INTO sealed_push.claims VALUES (298);
INSERT INTO sealed_push.claims VALUES (299);
INSERT INTO sealed_push.claims VALUES (300);
INSERT INTO sealed_push.claims VALUES (301);
INSERT INTO sealed_push.claims VALUES (302);
INSERT INTO sealed_push.claims VALUES (303);
INSERT INTO sealed_push.claims VALUES (304);
INSERT INTO sealed_push.claims VALUES (305);
INSERT INTO sealed_push.claims VALUES (306);
INSERT INTO sealed_push.claims VALUES (307);
INSERT INTO sealed_push.claims VALUES (308);
INSERT INTO sealed_push.claims VALUES (309);
INSERT INTO sealed_push.claims VALUES (310);
INSERT INTO sealed_push.claims VALUES (311);
INSERT INTO sealed_push.claims VALUES (312);
INSERT INTO sealed_push.claims VALUES (313);
INSERT INTO sealed_push.claims VALUES (314);
INSERT INTO sealed_push.claims VALUES (315);
INSERT INTO sealed_push.claims VALUES (316);
INSERT INTO sealed_push.claims VALUES (317);
INSERT INTO sealed_push.claims VALUES (318);
INSERT INTO sealed_push.claims VALUES (319);
INSERT INTO sealed_push.claims VALUES (320);
INSERT INTO sealed_push.claims VALUES (321);
INSERT INTO sealed_push.claims VALUES (322);
INSERT INTO sealed_push.claims VALUES (323);
INSERT INTO sealed_push.claims VALUES (324);
INSERT INTO sealed_push.claims VALUES (325);
INSERT INTO sealed_push.claims VALUES (326);
INSERT INTO sealed_push.claims VALUES (327);
INSERT INTO sealed_push.claims VALUES (328);
INSERT INTO sealed_push.claims VALUES (329);
INSERT INTO sealed_push.claims VALUES (330);
INSERT INTO sealed_push.claims VALUES (331);
INSERT INTO sealed_push.claims VALUES (332);
INSERT INTO sealed_push.claims VALUES (333);
INSERT INTO sealed_push.claims VALUES (334);
INSERT INTO sealed_push.claims VALUES (335);
INSERT INTO sealed_push.claims VALUES (336);
INSERT INTO sealed_push.claims VALUES (337);
INSERT INTO sealed_push.claims VALUES (338);
INSERT INTO sealed_push.claims VALUES (339);
INSERT INTO sealed_push.claims VALUES (340);
INSERT INTO sealed_push.claims VALUES (341);
INSERT INTO sealed_push.claims VALUES (342);
INSERT INTO sealed_push.claims VALUES (343);
INSERT INTO sealed_push.claims VALUES (344);
INSERT INTO sealed_push.claims VALUES (345);
INSERT INTO sealed_push.claims VALUES (346);
INSERT INTO sealed_push.claims VALUES (347);
INSERT INTO sealed_push.claims VALUES (348);
INSERT INTO sealed_push.claims VALUES (349);
INSERT INTO sealed_push.claims VALUES (350);
INSERT INTO sealed_push.claims VALUES (351);
INSERT INTO sealed_push.claims VALUES (352);
INSERT INTO sealed_push.claims VALUES (353);
INSERT INTO sealed_push.claims VALUES (354);
INSERT INTO sealed_push.claims VALUES (355);
INSERT INTO sealed_push.claims VALUES (356);
INSERT INTO sealed_push.claims VALUES (357);
INSERT INTO sealed_push.claims VALUES (358);
INSERT INTO sealed_push.claims VALUES (359);
INSERT INTO sealed_push.claims VALUES (360);
INSERT INTO sealed_push.claims VALUES (361);
INSERT INTO sealed_push.claims VALUES (362);
INSERT INTO sealed_push.claims VALUES (363);
INSERT INTO sealed_push.claims VALUES (364);
INSERT INTO sealed_push.claims VALUES (365);
INSERT INTO sealed_push.claims VALUES (366);
INSERT INTO sealed_push.claims VALUES (367);
INSERT INTO sealed_push.claims VALUES (368);
INSERT INTO sealed_push.claims VALUES (369);
INSERT INTO sealed_push.claims VALUES (370);
INSERT INTO sealed_push.claims VALUES (371);
INSERT INTO sealed_push.claims VALUES (372);
INSERT INTO sealed_push.claims VALUES (373);
INSERT INTO sealed_push.claims VALUES (374);
INSERT INTO sealed_push.claims VALUES (375);
INSERT INTO sealed_push.claims VALUES (376);
INSERT INTO sealed_push.claims VALUES (377);
INSERT INTO sealed_push.claims VALUES (378);
INSERT INTO sealed_push.claims VALUES (379);
INSERT INTO sealed_push.claims VALUES (380);
INSERT INTO sealed_push.claims VALUES (381);
INSERT INTO sealed_push.claims VALUES (382);
INSERT INTO sealed_push.claims VALUES (383);
INSERT INTO sealed_push.claims VALUES (384);
INSERT INTO sealed_push.claims VALUES (385);
INSERT INTO sealed_push.claims VALUES (386);
INSERT INTO sealed_push.claims VALUES (387);
INSERT INTO sealed_push.claims VALUES (388);
INSERT INTO sealed_push.claims VALUES (389);
INSERT INTO sealed_push.claims VALUES (390);
INSERT INTO sealed_push.claims VALUES (391);
INSERT INTO sealed_push.claims VALUES (392);
INSERT INTO sealed_push.claims VALUES (393);
INSERT INTO sealed_push.claims VALUES (394);
INSERT INTO sealed_push.claims VALUES (395);
INSERT INTO sealed_push.claims VALUES (396);
INSERT INTO sealed_push.claims VALUES (397);
INSERT INTO sealed_push.claims VALUES (398);
INSERT INTO sealed_push.claims VALUES (399);
INSERT INTO sealed_push.claims VALUES (400);
INSERT INTO sealed_push.claims VALUES (401);
INSERT INTO sealed_push.claims VALUES (402);
INSERT INTO sealed_push.claims VALUES (403);
INSERT INTO sealed_push.claims VALUES (404);
INSERT INTO sealed_push.claims VALUES (405);
INSERT INTO sealed_push.claims VALUES (406);
INSERT INTO sealed_push.claims VALUES (407);
INSERT INTO sealed_push.claims VALUES (408);
INSERT INTO sealed_push.claims VALUES (409);
INSERT INTO sealed_push.claims VALUES (410);
INSERT INTO sealed_push.claims VALUES (411);
INSERT INTO sealed_push.claims VALUES (412);
INSERT INTO sealed_push.claims VALUES (413);
INSERT INTO sealed_push.claims VALUES (414);
INSERT INTO sealed_push.claims VALUES (415);
INSERT INTO sealed_push.claims VALUES (416);
INSERT INTO sealed_push.claims VALUES (417);
INSERT INTO sealed_push.claims VALUES (418);
INSERT INTO sealed_push.claims VALUES (419);
INSERT INTO sealed_push.claims VALUES (420);
INSERT INTO sealed_push.claims VALUES (421);
INSERT INTO sealed_push.claims VALUES (422);
INSERT INTO sealed_push.claims VALUES (423);
INSERT INTO sealed_push.claims VALUES (424);
INSERT INTO sealed_push.claims VALUES (425);
INSERT INTO sealed_push.claims VALUES (426);
INSERT INTO sealed_push.claims VALUES (427);
INSERT INTO sealed_push.claims VALUES (428);
INSERT INTO sealed_push.claims VALUES (429);
INSERT INTO sealed_push.claims VALUES (430);
INSERT INTO sealed_push.claims VALUES (431);
INSERT INTO sealed_push.claims VALUES (432);
INSERT INTO sealed_push.claims VALUES (433);
INSERT INTO sealed_push.claims VALUES (434);
INSERT INTO sealed_push.claims VALUES (435);
INSERT INTO sealed_push.claims VALUES (436);
INSERT INTO sealed_push.claims VALUES (437);
INSERT INTO sealed_push.claims VALUES (438);
INSERT INTO sealed_push.claims VALUES (439);
INSERT INTO sealed_push.claims VALUES (440);
INSERT INTO sealed_push.claims VALUES (441);
INSERT INTO sealed_push.claims VALUES (442);
INSERT INTO sealed_push.claims VALUES (443);
INSERT INTO sealed_push.claims VALUES (444);
INSERT INTO sealed_push.claims VALUES (445);
INSERT INTO sealed_push.claims VALUES (446);
INSERT INTO sealed_push.claims VALUES (447);
INSERT INTO sealed_push.claims VALUES (448);
INSERT INTO sealed_push.claims VALUES (449);
INSERT INTO sealed_push.claims VALUES (450);
INSERT INTO sealed_push.claims VALUES (451);
INSERT INTO sealed_push.claims VALUES (452);
INSERT INTO sealed_push.claims VALUES (453);
INSERT INTO sealed_push.claims VALUES (454);
INSERT INTO sealed_push.claims VALUES (455);
INSERT INTO sealed_push.claims VALUES (456);
INSERT INTO sealed_push.claims VALUES (457);
INSERT INTO sealed_push.claims VALUES (458);
INSERT INTO sealed_push.claims VALUES (459);
INSERT INTO sealed_push.claims VALUES (460);
INSERT INTO sealed_push.claims VALUES (461);
INSERT INTO sealed_push.claims VALUES (462);
INSERT INTO sealed_push.claims VALUES (463);
INSERT INTO sealed_push.claims VALUES (464);
INSERT INTO sealed_push.claims VALUES (465);
INSERT INTO sealed_push.claims VALUES (466);
INSERT INTO sealed_push.claims VALUES (467);
INSERT INTO sealed_push.claims VALUES (468);
INSERT INTO sealed_push.claims VALUES (469);
INSERT INTO sealed_push.claims VALUES (470);
INSERT INTO sealed_push.claims VALUES (471);
INSERT INTO sealed_push.claims VALUES (472);
INSERT INTO sealed_push.claims VALUES (473);
INSERT INTO sealed_push.claims VALUES (474);
INSERT INTO sealed_push.claims VALUES (475);
INSERT INTO sealed_push.claims VALUES (476);
INSERT INTO sealed_push.claims VALUES (477);
INSERT INTO sealed_push.claims VALUES (478);
INSERT INTO sealed_push.claims VALUES (479);
INSERT INTO sealed_push.claims VALUES (480);
INSERT INTO sealed_push.claims VALUES (481);
INSERT INTO sealed_push.claims VALUES (482);
INSERT INTO sealed_push.claims VALUES (483);
INSERT INTO sealed_push.claims VALUES (484);
INSERT INTO sealed_push.claims VALUES (485);
INSERT INTO sealed_push.claims VALUES (486);
INSERT INTO sealed_push.claims VALUES (487);
INSERT INTO sealed_push.claims VALUES (488);
INSERT INTO sealed_push.claims VALUES (489);
INSERT INTO sealed_push.claims VALUES (490);
INSERT INTO sealed_push.claims VALUES (491);
INSERT INTO sealed_push.claims VALUES (492);
INSERT INTO sealed_push.claims VALUES (493);
INSERT INTO sealed_push.claims VALUES (494);
INSERT INTO sealed_push.claims VALUES (495);
INSERT INTO sealed_push.claims VALUES (496);
INSERT INTO sealed_push.claims VALUES (497);
INSERT INTO sealed_push.claims VALUES (498);
INSERT INTO sealed_push.claims VALUES (499);
INSERT INTO sealed_push.claims VALUES (500);
INSERT INTO sealed_push.claims VALUES (501);
INSERT INTO sealed_push.claims VALUES (502);
INSERT INTO sealed_push.claims VALUES (503);
INSERT INTO sealed_push.claims VALUES (504);
INSERT INTO sealed_push.claims VALUES (505);
INSERT INTO sealed_push.claims VALUES (506);
INSERT INTO sealed_push.claims VALUES (507);
INSERT INTO sealed_push.claims VALUES (508);
INSERT INTO sealed_push.claims VALUES (509);
INSERT INTO sealed_push.claims VALUES (510);
INSERT INTO sealed_push.claims VALUES (511);
INSERT INTO sealed_push.dead_letters VALUES (2, 2, 10, 1795000000000, 1797592000000, NULL, 'e7479e70-bd0e-86e9-b38c-c5b95a5fd84f', '1UHy3mdlCCkZAEmWzuvtig', '\x7b22617073223a7b22616c657274223a22596f7520686176652061206e6577206d65737361676521222c226d757461626c652d636f6e74656e74223a317d2c22637573746f6d2d656e637279707465642d6d657373616765223a2241557a327a704a6f766436696c4d547130625771555972494a6a4b7577415443515739566c5147304c6b33595a3167674e4c496b54775071564166414f47627675487a414d3947625039596954457938614f544b6d506e2d6e4f52334b4c4b70313939316b67716c6a6471374a5747363459542d6c4d4877346641674963365347577a722d7870584876684e42396575705851314d6d584c5459624f724c6453464475614a744b62474e716136554c556861656165716c7431314b685450665a6c324f57733051795a75765f695f47595f4561704d4d6a6d5a4b615074687568797a594b53647461644d4e414e796847654a764f7069365353567856536e555951324b517231336b7a415763465538496771316f716b427a727156726a44706349744f7335444a786a6e6d53776147456747534f786838424e66493734345435684e34674876796c394c6d684e5578774d4355386c356f7954395a4279456747565649725044696f66335a304a4f716f6c56707679334f4e525336574c6159354b516641736c5049315f6d3678556f36556274644568424a397a30457a695231515336512d5545665a7a5f5f444c5f335a77227d', 'pushsender1rlqser6mwdevl04yqmjxesdw8q7a0r85cj6wyz5getl6uz02seaqep9ks2', '\x0b1dfccf6179e0c218777d6a7184c280b59b6fd00fec00faeb3ae1dcb5261e98', '89b5f060-e81b-42f6-908c-7b33c10d9c40', 'BadDeviceToken', 1, 1795000000000);
INSERT INTO sealed_push.devices OVERRIDING SYSTEM VALUE VALUES (1, 'enrolled', 'anna', 'com.example.app', 'apns', '\x656e726f6c6c65642f656e726f6c6c65642f656e726f6c6c65642f656e726f6c', 1795000000000, NULL, false, '\x6b215682da2b8e3a9c72f6be995b987164a5901146df10c4b0fcbca5888ea16b0471085b2648250b6995b32065ed916c8bc86b3b1376d151bd3794a412a978ae7837527485b0f2b6a1b0be78ca8eb9502a530b773919a8803393466137e010cdc42cb2e0dab0ba2ccd95a5c86da06ef9b48180eab1b002c3a4eac9a3b523c441a93cc746f2fb75d5f15692e7be061a6fc5658dfa167db59146d8f5ac57d41c2dc62565d0220f3886d2d9cf97a2cd8c60103494a588dc42b54ab9ac23292eaa60101676796172da51143b35249bb44e9ca0b5834337e2b9547af73957943642f9b48f662cc63976a1228e4969c13a008f3f134620f683bb6c93121563bffb1ca16a9f503205cca38a9ca71da897a7d4e5119d9818c5457aba3043b064985052bedb87938f73b0b531684ad7334330a4a513737dbc2231d7ab11cbc6463216cf0b7ad4bc426b3ccd720a85ec5c3532c35684039083824ef1f085440279a19a448d248607688b7116502502ae1a6009f811597f7b82cb0402b4f248a990642ba181aa99a71fc7b98dabb86cb2c243341e6dfba8080842ce88b330a18514715de7b7b87bd1988731bdd995c7eb609992a3810a33261f94bfce7949a6c08d7300533fb08f8ee58d0823a5d3e310e08729625513fe0a321224afe75702edba1cc96b8a7b8c11b715cba4849590b4333a0b2f1f04b7721a13c80b1dc49c2d96b2ac66285a3c106d3d775273c6aece2b0f4d8c9aa105bc9c0380ef613740622f4c6580c841643f9986c64494f57861a08204a00a80c2e71e39548133790fe2b5b82bf2bfe9e64490658a6c52af66dc206c5c602cb0a37319914d4b84273bbb6f020d47ca1f20c88bd5f2561cdc35038c8578e94a28651d87e105f106c95bd5a181d4769ce50322903e7801592b525ef4a43088580fbb9527bb2bc73f079a532904ea94371428b2cff423df7595a57cb3d23b4e37215392a5ab6d365a4329ab32a25e444130bb8c04518a7aa09a153fdc499f797f2280b64a0a4f645a26ecd30779dcb6e418861784948094293e63434b6bcc4219079ab686b59886a602622a7ca58832a5b0742e46cb57d5bba13e7262b922b7dc9c2852b574ab9b85cbd105469ca040e076dc9635782983b93348f78cb378695bb9990243e13f5ba5ab36648579b02d52c24bac1b27f8d7be82d19bcf217458a23be0633f81e41e16059b9a60b606b0b664355389c8466ff9b86d2170df4097dde5102d836967e9cf479ab34a2396ef9881e53b6569711b60d674d21578d7c0aeccb03dd671bf5f748264188af030afa11b0bfb44be10d567614b9bb165368d88255ebccaf22ca126d0551a0cc48979531f02a698888a0dd6bce3a00bbb0a0898018796ba7afcc45b4d25260dd5419a8ca7f72b846fb504bb8690748576f9e3339c15ad9752762473a7beda348c241a72c386a408546062126bdbb60a57b5366ab26d258cad02c1cb6122f4b68db0052756426edcb3797bc76a2314775a02ce99928ba6f105d049565043cb2a654fbaeb97b4876ba9a36a7453857b583da7297c1d545b3fd62b11acac14080f1a4ca5a64095ac1703d0665e43a145df6c6ebd0c3aa6963beae5c6cf136cf3cab32ba9c0562a12e1fb64ee7a504b242e61201d6ff1f1787147a8442e3aa695e6a13d96d72a4026c146cdaf653f868f35990bdce5980afca9cf26f9139b21661832de845b', true, 1794906400, 1829560000, 30, 1, '\xe6ea2050510f30b0942450293c2b29c23ffaab9c189e88f7b9f85ad4aab17d1e', '\x904861f7d1a1eecadf85bec457602aea83063741f2766b63dbb85c8569245949');
INSERT INTO sealed_push.devices OVERRIDING SYSTEM VALUE VALUES (2, 'refused', 'anna', 'com.example.app', 'apns', '\x726566757365642f726566757365642f726566757365642f726566757365642f', 1795000000000, 'BadDeviceToken', false, '\x235dc76646bf57cdc35d8acfd490e2b123e46003ec2ff5e0f6c48d2aa2d2a143', false, 0, 9223372036854775807, NULL, 2, '\xbe1c2795508cfc96a796760eeea7a27d0294bb51842e80f6c65a12f5a422daf8', '\x27a0190020c88d58acd8b5eacfad9529f4bc0ea08365bac38502a02e34140af4');
INSERT INTO sealed_push.enrollments VALUES (1, 'pushenrollment1z6z5lvfht96fzadrm5c0lqfg2yhzse4mxted7mgq99cnnxgv8mdqsp8v6s', 'pushrecord.AQIWhU-xN1l0kXWj3TD_gShRLihmuzLy320AKXE5mQw-2gAAAABq_YbAAAAAAGr9hsAAAAAAbQzewB4PY29tLmV4YW1wbGUuYXBwAQNrIVaC2iuOOpxy9r6ZW5hxZKWQEUbfEMSw_LyliI6hawRxCFsmSCULaZWzIGXtkWyLyGs7E3bRUb03lKQSqXiueDdSdIWw8rahsL54yo65UCpTC3c5GaiAM5NGYTfgEM3ELLLg2rC6LM2VpchtoG75tIGA6rGwAsOk6smjtSPEQak8x0by-3XV8VaS574GGm_FZY36Fn21kUbY9axX1BwtxiVl0CIPOIbS2c-Xos2MYBA0lKWI3EK1SrmsIykuqmAQFnZ5YXLaURQ7NSSbtE6coLWDQzfiuVR69zlXlDZC-bSPZizGOXahIo5JacE6AI8_E0Yg9oO7bJMSFWO_-xyhap9QMgXMo4qcpx2ol6fU5RGdmBjFRXq6MEOwZJhQUr7bh5OPc7C1MWhK1zNDMKSlE3N9vCIx16sRy8ZGMhbPC3rUvEJrPM1yCoXsXDUyw1aEA5CDgk7x8IVEAnmhmkSNJIYHaItxFlAlAq4aYAn4EVl_e4LLBAK08kipkGQroYGqmacfx7mNq7hsssJDNB5t-6gICELOiLMwoYUUcV3nt7h70ZiHMb3ZlcfrYJmSo4EKMyYflL_OeUmmwI1zAFM_sI-O5Y0II6XT4xDghyliVRP-CjISJK_nVwLtuhzJa4p7jBG3FcukhJWQtDM6Cy8fBLdyGhPICx3EnC2WsqxmKFo8EG09d1Jzxq7OKw9NjJqhBbycA4DvYTdAYi9MZYDIQWQ_mYbGRJT1eGGgggSgCoDC5x45VIEzeQ_itbgr8r_p5kSQZYpsUq9m3CBsXGAssKNzGZFNS4QnO7tvAg1Hyh8gyIvV8lYc3DUDjIV46UooZR2H4QXxBslb1aGB1Hac5QMikD54AVkrUl70pDCIWA-7lSe7K8c_B5pTKQTqlDcUKLLP9CPfdZWlfLPSO043IVOSpattNlpDKasyol5EQTC7jARRinqgmhU_3EmfeX8igLZKCk9kWibs0wd53LbkGIYXhJSAlCk-Y0NLa8xCGQeatoa1mIamAmIqfKWIMqWwdC5Gy1fVu6E-cmK5IrfcnChStXSrm4XL0QVGnKBA4HbcljV4KYO5M0j3jLN4aVu5mQJD4T9bpas2ZIV5sC1SwkusGyf4176C0ZvPIXRYojvgYz-B5B4WBZuaYLYGsLZkNVOJyEZv-bhtIXDfQJfd5RAtg2ln6c9HmrNKI5bvmIHlO2VpcRtg1nTSFXjXwK7MsD3Wcb9fdIJkGIrwMK-hGwv7RL4Q1WdhS5uxZTaNiCVevMryLKEm0FUaDMSJeVMfAqaYiIoN1rzjoAu7CgiYAYeWunr8xFtNJSYN1UGajKf3K4RvtQS7hpB0hXb54zOcFa2XUnYkc6e-2jSMJBpyw4akCFRgYhJr27YKV7U2arJtJYytAsHLYSL0to2wBSdWQm7cs3l7x2ojFHdaAs6Zkoum8QXQSVZQQ8sqZU-665e0h2upo2p0U4V7WD2nKXwdVFs_1isRrKwUCA8aTKWmQJWsFwPQZl5DoUXfbG69DDqmljvq5cbPE2zzyrMrqcBWKhLh-2TuelBLJC5hIB1v8fF4cUeoRC46ppXmoT2W1ypAJsFGza9lP4aPNZkL3OWYCvypzyb5E5shZhgy3oRbxM6a4U5q5UJSemHhSjguBAGRtT60HLWIjJSfni0Y5jAJIz4HecKqt7rM_8dn-jdRQXUgN0BqWrKmAnS_VsmVDPJplI8', 'pushpq1dvs4dqk69w8r48rj76lfjkucw9j2tyq3gm03p39slj72tzyw594sguggtvnysfgtdx2mxgr9akgkez7gdva3xak32x7n099yz25h3tncxaf8fpds72m2rv970r9gaw2s9ffskaeerx5gqvungesn0cqsehzzevhqm2ct5txdjkjusmdqdmumfqvqa2cmqqkr5n4vnga4y0zyr2fucar097m46hc4dyh8hcrp5m79vkxl59nakkg5dk8443tag8pdccjkt5pzpuugd5kee7t69nvvvqgrf9993rwy9d22hxkzx2fw4fspq9nk09sh9kj3zsan2fymk38feg94sdpn0c4e23a0ww2hjsmy97d53anze33ew6sj9rjfd8qn5qy08uf5vg8kswakeycjz43ml7cu594f75pjqhx28z5u5uw639a86nj3r8vcrrz52746xppmqeyc2pftaku8jw8h8v94x95y44engvc2ffgnwd7mcg336743rj7xgcepdnct0t2tcsnt8nxhyz59a3wr2vkr26zq8yyrsf80ruy9gsp8ngv6gjxjfps8dz9hz9jsy5p2uxnqp8upzktl0wpvkpqzkney32vsvs46rqd2nxn3l3ae3k4msm9jcfpng8ndlw5qszzze6ytxv9ps528zh08k7u8h5vcsucmmkv4cl4kpxvj5wqs5vexr72tlnnefxnvprtnqpfnlvy03mjc6zpr5hf7xy8qsu5ky4gnlc9ryy3y4ln4wqhdhgwvj6u20wxprdc4ewjgf9vsksen5ze0ruztwus6z0yqk8wynskedv4vvc5950qsd57hw5nnc6hvu2c0fkxf4gg9hjwq8q80vym5qc30f3jcpjzpvslenpkxgj2027rp5zpqfgq2srpww83e2jqnx7g0u26ms2ljhl57v3ysvk9xc540vmwzqmzuvqktpgmnrxg56juyyuamkmczp4ru58eqez9atujkrnwr2quvs4uwjj3gv5wc0cg97yrvjk745xqaga5uu5pj9yp70qq4j26jtm62gvygtq8mh9f8hv4uw0c8nffjjp82jsm3g29jel6z8hm4jkjhev7j8d8rwg2nj2j6kmfktfpjn2ej5f0ygsfshwxqg5v202sf59flm3ye77tly2qtvjs2faj95fhv6vrhnh9kusvgv9uyjjqfg2f7vdp5k67vggvs0x4ks66e3p4xqf3z5l993qe2tvr59ervk474hwsnuunzhy3t0hyu9pft2a9tnwzuh5g9g6w2qs8qwmwfvdtc9xpmjv6g77xtx7rftwuejqjruyl4hfdtxejg27ds94fvyjavrvnl34a7stgehnepw3v2ywlqvvlcreq7zczehxnqkcrtpdnyx4fcnjzxdlumsmfpwr05p97au5gzmqmfvl5u73u6kd9z89h0nzq72wm9d9c3kcxkwnfp27xhczhvevpa6ecm7hm5sfjp3zhsxzh6zxctldztuyx4vas5hxa3v5mgmzp9t67v4u3v5yndq4g6pnzgj72nrup2dxyg3gxad08r5q9mkzsgnqqc09460t7vgk6dy5nqm42pn2x20aets3hm2p9ms6g8fptkl83n88q44kt4ya3ywwnmak353sjp5ukrs6jqs4rqvgfxhkakpftm2dn2kfkjtr9dqtqukcfz7jmgmvq9yatyymkukduhh3m2yv28wksze6ve9zax7yzaqj2k2ppuk2n9f7awh9a5sa46ngm2w3fc276c8knjjlqa23dnl43tzxk2c9qgpudyefdxgz26c9cr6pn9usapgh0kcm4apsa2d93matjudncndneu4vet48q9v2sju8akfmn62p9jgtnpyqwklu030pc502zy9ca2d90x5y7ed4e2gqnvz3kd4ajnlp50xkvshh89nq90e2w0ymu38xepvcvr9h5ytveufly2', '\x400281873b284f935b7887c1b94f94a03ad6c31eef66575f85bc51aa18fc77ad');
INSERT INTO sealed_push.entries VALUES (1, 1, 10, 1795000000000, 1797592000000, NULL, '2fdbd4b5-2891-8a92-af62-87e7de1a5352', '0WSBa6Ik8US2tPwTnjgVjA', '\x7b22617073223a7b22616c657274223a22596f7520686176652061206e6577206d65737361676521222c226d757461626c652d636f6e74656e74223a317d2c22637573746f6d2d656e637279707465642d6d657373616765223a22415f51616c485f44696a6c2d524c704b5043506e6c33386f794c4a2d365466325f6b6f3030774f795065464941452d4d3144665671443065397056736b334e4d356632384e5f627a2d716343396e3674424336754c4b62724d6966464a454c444d347478704742414b4a66703144356d354f506345457153615a685064615a74694241713436724579386e46384c7475532d4539634c614b4d4847704567706359326455554a685f664f7750526f49317a4a6f746d397253434a6a57576a65446a72724847446e4e2d37595573525f6c526c414842304778637057726d676555326d647074546a505a304c51544266794c32464d6a6b4f6b363951365834624151386c4a44426979785a4b3630614d50637944387774466c644e55735a39554333525f443669464e4279394d58594a4136767167744632514159665a3263625657323775387a39427a6d4349743937585f5469396941486e71645a745f34494352492d6c337a345a4350614d4861737a5069784b33534535574b464c736731794468466e6667555350754137304d6266574d53516b4b5263616d71565978326949773066374a4459544d784b5768396e577566664351525779657672586656505070697879524b466e4773467a6d36796a735a47313048497a78427666355a5975594e694c56546c57586b49376f4f554537725779786a4d54436966396d77703072487550795a49424f4f4f545f46354d47436a384e4a656a63396e334432744d2d576955592d4e505f74384d464c677747693570356c6951677a507332456c6b6f786347444d385f79306b5547764f576a424d6838514a516c303045584a4b704c77686751427a424a58695a73453941567a48354c69684647704f61636e59764d572d4c42385f355a57527a454a44786d56396169454f594e5833344178704b70595a462d4b794f595a4f5361446f6d7a646533775f30344250314a72694c563068624a6e4667764467616a326c506264774a6a67334676694a515447636a4937644667334a506c367737413469547a7831526e30634e3144662d633271486f7550433672534d3441396434672d68717474626c5158765a632d6f42507531356e69315f3637365267394b6e6e6863564d6c616d4277365676304d4655695050594943687969362d6476344d47614c4568365a644b5479306a51447673544568306173783966777a6c386b6571315141615f7164496e43526958722d747977586c554d635f4e6133564644354e50786c7269496a3847796f7831736e694250486d53625748574678594f655f58656d75735a6a312d59674c436734677559655f4f4f7534343070655a5f6d785933704e396c5f6c5f6a6267516a7266393078457650657730417a4a6f52626f4d59546f4872736c7477584167305463754b6f4d6e476d4d65524f6641457934476472526b6b5a4644334b37614a596753544d73395f324f44337849677a6e74653268704d336e52487a526a324e5f7875426938587657467075533737547a64592d4e49526f577141716a566c735a574431515149556463446f6d5836435145786776647a515276723145565556734451525a494b617968306541336f594c6d6a4578396b706d417a6a5f664145775269524c64484b686a53544a5a48793362656831395952367065316d512d766257693342736b335f5852366535774c57736938767873734c5f34676933785033314c51744d59567641437048574369614a665550384c566b38703869614d63656e4b3069556d465f664b38717a70667543614c70377450334e754c324876645a317352394d66506b6632692d5479756b4c59567a3772794d307257694941466f525f495842516268625f7949777658776f653573416c63462d73394f64546b66456a59474f3539746f6a6a355f72647a49766c43795862683775633667444c7656324b703239636d4339697654376d53374a4d656a4f4b52524761584e7664374f47363658656d467747306c4f795f4a72764e6e787753476c6e392d566f37473359414332666b4862386f64484c65717a78485834766c426630717130566e7745494b5f314339646c7a3964663831733269614958574b6c2d4e4a46396b71767434485f3377375a766871434262656945663663474535716d2d6246554c715953534e616f6a374c61453269597967414c47734d717067584e5333416741574b5439644a316a7548782d48345a344f637456557530667076412d512d4d37326c3633435045637a61695632477962647a6a333852453357397534425633634632516135473650686f547066306c536f4c556b723831692d51465635596e5f7734707a696b38754a765557494179597172316e507a32644578707a4a5454397a76766d69626b555141615a7a674a4f5962515767544e7a5f5f6c56534c754f6d63356a64746b33753979576a5830506e39566b486146734367514d5a54367631394c376d3336486b34626749776e3478506831614b66513465596e73526d333664375a4a5f725948694e73653976313337587671427a645630706a76334c5449796849615f747638464376624363626c75364430796c67416366676f536d743764227d', 'pushsender1rlqser6mwdevl04yqmjxesdw8q7a0r85cj6wyz5getl6uz02seaqep9ks2', '\xdece6c56b95edf9bd97558d8b8fc9fc900b13754ecfc76cab88cab8c8a72aaad', '89b5f060-e81b-42f6-908c-7b33c10d9c40');
INSERT INTO sealed_push.entries VALUES (3, 1, 10, 1795000000000, 1797592000000, NULL, '3b364f5e-dd7e-8899-bf48-8779f0445a28', '1gK09w7OzZT9ChnCtAXDkA', '\x7b22617073223a7b22616c657274223a22596f7520686176652061206e6577206d65737361676521222c226d757461626c652d636f6e74656e74223a317d2c22637573746f6d2d656e637279707465642d6d657373616765223a22412d673779436279764d706f4e306d6a696761444172463676327951537679757a766e32716a444a593473506850347533304e7733435a796f4a53454265776d764d4e4a3734782d31737233775031567857546e4d37327279392d62695f6176394f796b6a6569436b6c6163774c455f337958764849424f5f4e584745436647583148656142344b34337678514255354378564a5751616d32636a64333278613577563268705f69555464554b425750765064566437515453635f4438594e64457350464a6d42524262384457716c394d35387566634b4b65366d71563578617431346e45516b6c6542454a524c6a39364435487a706d624d714f436f765356566561323347756b3856674d4d47305768422d57517a486932436f767049765f43506b727365704f715f6d76734f716241305659504b46306376796453614f64714a6c6a56456153704548355f4957515f437a7769714333684d4d5f71737753794450784d47474b7173355047543270517657525454704354584b35634d3375557633767979375064377348683573725a70303043316431542d5a6a6553477459537938346b54674c4175536b58696457706c69795761565538415f4c69634d332d63496d562d63426271786241787432493666697575534738534d4c4c4e4d6d6d796446557047564e48494e346564326a344b6271716d58764d78546b4a4a767a7a786f516e6536445363774732616255426c686432524c584d6e735774797643734d7757344a4b6731455855326b556c5867387236764c492d59315046444b6e65434364666e6466725a696a37795f56445f46434967426c35694859666e732d6e666256714c6f6a727076756e47705456496e3650754a6348495478587436376e5f685a725f455544424e3551314132655f6e6c624b72307163325762757679547750716f5f374a4454374c6148572d656a63584c6678703971494d2d6d4f316b656a327372515234764a354d2d7131474a71386d32556a47306f646d547359766a6c724c4a663943376d737346557264647a396e3736524f366431774e6f7249426f4b37533536556259524a6742466b54316843304f437341624b3737344e736565696677786262466231354b6836486e67725f7577524a71346c4546526b686c757056644357386c70796f4254754a4f48625250416835664637564379795959494c4f377135537372556f4157535f4b6e7a716d7272694f77664a5662706a494f374473326d73414d356a74786e4b5a6c6669494437304e6869516d456875784745536e594336517658307a61777641447739504631454241695838396f4354524e6959754c557a6b7a4452664d4d5751694e51304b5673484e3577505936792d784b464d2d68706545444235686a4f33544c3767342d5666692d61686a7051314a33353431314c71372d49712d464a496a477967736a6b76614e3473785a5071415a544c63692d5271504b5650586a727a52425a6b77437a333677504d7775546b506a666a6941503871377455656a766963505f793373725568686d6c47382d44386965454d69446d737847586476483075505a42546c67664a35507745483934504b4a326b2d78676361725f66696c6f4a684a6b41534c77383834414b505844526e6578456a33476d5768576450766b36646968506976766a323233544b763476654e48364d633934455430755364325f557a5a31733968696b6c6d314472527368697437395a56775851533979306f6c50484f65774648436531656a626770764a74366f57714f5876364d3448416f34685a59555f5a4b41797275784a55384f652d754c734c65524e4e30536f584d4849306d674b347166726b36474f706351665955357767724b5452795a716659393775467953444c4f5a4d56767a7842314873654b754554646941756f4443486467416959754b6a785a414373336e4a3542364547497948316270334a38737a736f664e6c2d626e544f30523477745450715f536a51776d5363704848414e6c4c37556d70316d724750616454767a524274335a5051487a6a43555577705f5a424d595843316f455f6e782d72655a666f753252665f62734173715259525674784e704b7563506739612d444f446c5744692d334473683841645f51524935636c324d6c3735386b4574554852455172636d444a6f44535971386c4a484b39596f5957715056616477647a506d4c714f696b5a2d414a4b7459625a6941725346424c6d356d4a434467786a5778673367313066316c4d71546a4d394e56736d5139724977616452792d425379486544566a496a6a793774493275517747535157396370716d4a796b33345a704c424f437038676f7a544f413152565f514f67554f584d30722d7a466577725857396767613332466f4c6a74353342536c796d5769794d51444f6f45754348517665304a4d4f5143344e4a457a56647a3061546b33646b31715a396e78374a5531623159664a4f62434c536e617332336a304f73437a6c4b4f30624b7150467655314155413648346f342d4634314177375f732d6c43656b555466734d5842304c64586d45445647734a592d72563149776d54454946507a4447227d', 'pushsender1rlqser6mwdevl04yqmjxesdw8q7a0r85cj6wyz5getl6uz02seaqep9ks2', '\xedcfa25c31d40af442a6e1ad3192460fd2bec95057022261445a367c67fc4359', '86dd50b9-5b07-4afd-9130-bffe0fb12a4b');
INSERT INTO sealed_push.generations VALUES (1);
INSERT INTO sealed_push.marks VALUES ('\xf1294d6fba25633d83992d291e7846bf9795fc0aedbb1987d9d96b4546627053');
INSERT INTO sealed_push.meta VALUES (9);
INSERT INTO sealed_push.outcomes VALUES ('89b5f060-e81b-42f6-908c-7b33c10d9c40', 0, 'enqueued', 2, 1795000000000);
INSERT INTO sealed_push.outcomes VALUES ('89b5f060-e81b-42f6-908c-7b33c10d9c40', 0, 'refused:BadDeviceToken', 1, 1795000000000);
INSERT INTO sealed_push.outcomes VALUES ('86dd50b9-5b07-4afd-9130-bffe0fb12a4b', 0, 'enqueued', 1, 1795000000000);
INSERT INTO sealed_push.queues VALUES (1, 1, 'apns', 10, 1795000888012, NULL, NULL, 1, 1, 1);
INSERT INTO sealed_push.receipt_devices VALUES ('\x398cd4305538eff69d204877a754e2ea', 1795000000000, 1, 1, 20775, 1, 1);
INSERT INTO sealed_push.receipt_failures VALUES ('\x398cd4305538eff69d204877a754e2ea', 'expired', 1795000000000);
INSERT INTO sealed_push.receipt_numbers VALUES ('\x398cd4305538eff69d204877a754e2ea', '\xb407076f743f7962b2ef6735f796f9af', 20775);
INSERT INTO sealed_push.receipt_tallies VALUES (20775, 'receipt:within:250', 1);
INSERT INTO sealed_push.receipt_tallies VALUES (20775, 'receipt:failed:expired', 1);
INSERT INTO sealed_push.receipt_tallies VALUES (20775, 'receipt:shown', 1);
INSERT INTO sealed_push.requests VALUES ('\x1e1a7ee1972968bd419dafe0554932971e0ddc153e472fabd034c0f48b0d5621', 'everyone of com.example.app', 9223372036854775807, true, 2, 1795000000000, '89b5f060-e81b-42f6-908c-7b33c10d9c40', '\xe5c6c68646c5bfce0f8ff0f8d5e0b72d6a818fb80a459ceaad26b7ccf1bf5034');
INSERT INTO sealed_push.requests VALUES ('\xfa50cc389d784a86687a18971e828beb0361de40513eea2a29aea03ebf9d3a05', 'everyone of com.example.app', 9223372036854775807, true, 1, 1795000000000, '86dd50b9-5b07-4afd-9130-bffe0fb12a4b', '\xe5c6c68646c5bfce0f8ff0f8d5e0b72d251b9923d9df5e38d79ca54c4ccb4970');
INSERT INTO sealed_push.tallies VALUES (20775, 'refused:BadDeviceToken', 1);
SELECT pg_catalog.setval('sealed_push.devices_id_seq', 2, true);
SELECT pg_catalog.setval('sealed_push.entries_id_seq', 3, true);
ALTER TABLE ONLY sealed_push.claims
    ADD CONSTRAINT claims_pkey PRIMARY KEY (number);
ALTER TABLE ONLY sealed_push.dead_letters
    ADD CONSTRAINT dead_letters_pkey PRIMARY KEY (id);
ALTER TABLE ONLY sealed_push.devices
    ADD CONSTRAINT devices_name_key UNIQUE (name);
ALTER TABLE ONLY sealed_push.devices
    ADD CONSTRAINT devices_pkey PRIMARY KEY (id);
ALTER TABLE ONLY sealed_push.devices
    ADD CONSTRAINT devices_token_key UNIQUE (token);
ALTER TABLE ONLY sealed_push.enrollments
    ADD CONSTRAINT enrollments_pkey PRIMARY KEY (device);
ALTER TABLE ONLY sealed_push.entries
    ADD CONSTRAINT entries_pkey PRIMARY KEY (id);
ALTER TABLE ONLY sealed_push.logins
    ADD CONSTRAINT logins_pkey PRIMARY KEY (user_name);
ALTER TABLE ONLY sealed_push.ranges
    ADD CONSTRAINT ranges_pkey PRIMARY KEY (key, start);
ALTER TABLE ONLY sealed_push.receipt_devices
    ADD CONSTRAINT receipt_devices_pkey PRIMARY KEY (id);
ALTER TABLE ONLY sealed_push.receipt_failures
    ADD CONSTRAINT receipt_failures_pkey PRIMARY KEY (id, reason);
ALTER TABLE ONLY sealed_push.receipt_numbers
    ADD CONSTRAINT receipt_numbers_pkey PRIMARY KEY (id, number);
ALTER TABLE ONLY sealed_push.requests
    ADD CONSTRAINT requests_pkey PRIMARY KEY (key);
CREATE INDEX dead_letters_by_device ON sealed_push.dead_letters USING btree (device);
CREATE INDEX devices_by_topic ON sealed_push.devices USING btree (topic, ((id + 0)));
CREATE INDEX devices_by_user ON sealed_push.devices USING btree (user_name);
CREATE INDEX enrollments_by_key ON sealed_push.enrollments USING btree (enrollment);
CREATE INDEX entries_by_device ON sealed_push.entries USING btree (device, priority, ((id + 0)));
CREATE INDEX entries_by_send_until ON sealed_push.entries USING btree (send_until) WHERE (send_until < (enqueued + '2592000000'::bigint));
CREATE INDEX outcomes_by_age ON sealed_push.outcomes USING btree (created);
CREATE INDEX outcomes_by_message ON sealed_push.outcomes USING btree (message);
CREATE INDEX queues_by_device ON sealed_push.queues USING btree (generation, device);
CREATE INDEX queues_by_due ON sealed_push.queues USING btree (carrier, priority, due);
CREATE INDEX receipt_numbers_by_day ON sealed_push.receipt_numbers USING btree (day);
CREATE INDEX receipt_tallies_day_idx ON sealed_push.receipt_tallies USING btree (day);
CREATE INDEX requests_by_age ON sealed_push.requests USING btree (created);
CREATE INDEX tallies_by_day ON sealed_push.tallies USING btree (day);
ALTER TABLE ONLY sealed_push.enrollments
    ADD CONSTRAINT enrollments_device_fkey FOREIGN KEY (device) REFERENCES sealed_push.devices(id) ON DELETE CASCADE;
ALTER TABLE ONLY sealed_push.ranges
    ADD CONSTRAINT ranges_key_fkey FOREIGN KEY (key) REFERENCES sealed_push.requests(key) ON DELETE CASCADE;
