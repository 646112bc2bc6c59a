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
CREATE FUNCTION sealed_push.are_pushes(message text, priorities bigint[], senders text[], stale bigint[], expirations bigint[], apns_ids text[], collapse_ids text[], bodies bytea[], codes bytea[]) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
BEGIN
    RETURN coalesce(
        coalesce(are_pushes.message COLLATE "C" ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', true) AND sealed_push.are_sealed(are_pushes.bodies)
        AND (
            SELECT coalesce(bool_and(coalesce(
                x.stale BETWEEN 0 AND 253402300799999
                    AND (x.priority = 5 OR x.priority = 10 AND NOT substring(x.body FOR 59) = '{"aps":{"content-available":1},"custom-encrypted-message":"'::bytea)
                    AND (x.sender = 'anonymous' OR x.sender COLLATE "C" ~ '^pushsender1[02-9ac-hj-np-z]{58}$')
                    AND coalesce(x.expiration BETWEEN 0 AND 253402300799, true)
                    AND x.apns_id COLLATE "C" ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' AND x.collapse_id COLLATE "C" ~ '^[!-~]{1,64}$'
                    AND octet_length(x.body) <= 4096
                    AND coalesce(octet_length(x.code) = 32, true), false)), true)
            FROM unnest(are_pushes.priorities, are_pushes.senders, are_pushes.stale,
                are_pushes.expirations, are_pushes.apns_ids, are_pushes.collapse_ids, are_pushes.bodies,
                are_pushes.codes
            ) AS x(priority, sender, stale, expiration, apns_id, collapse_id, body, code)), false);
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
           WHERE ((convert_from(p.sealed, 'UTF8'::name) COLLATE "C") !~ '^(?:A[QRSTUVWXYZabcdef]|A[ghijklmnopqrstuv]|A[wxyz0123456789_-])[A-Za-z0-9_-]{2}(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?"\}$'::text) OR octet_length(p.sealed) - 2 < CASE WHEN convert_from(p.sealed, 'UTF8') COLLATE "C" ~ '^A[QRSTUVWXYZabcdef]' THEN 94 WHEN convert_from(p.sealed, 'UTF8') COLLATE "C" ~ '^A[ghijklmnopqrstuv]' THEN 72 WHEN convert_from(p.sealed, 'UTF8') COLLATE "C" ~ '^A[wxyz0123456789_-]' THEN 1544 ELSE 4096 END))));
END;
CREATE FUNCTION sealed_push.bury(entries bigint[], device bigint, reason text, attempts bigint, now bigint) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    WITH gone AS (
            -- One index for each step, whatever the statistics are.
            DELETE FROM sealed_push.entries e WHERE e.id = ANY(
                CASE WHEN bury.device IS NULL THEN bury.entries
                ELSE ARRAY(SELECT o.id FROM sealed_push.entries o WHERE o.device = bury.device) END)
            RETURNING id, device, priority, enqueued, stale, expiration, apns_id, collapse_id, body, sender, code, message),
        buried AS (
            INSERT INTO sealed_push.dead_letters(id, device, priority, enqueued, stale, expiration, apns_id, collapse_id, body, sender, code, message, reason, attempts, died)
            SELECT id, device, priority, enqueued, stale, expiration, apns_id, collapse_id, body, sender, code, message, bury.reason, bury.attempts, sealed_push.moment(bury.now) FROM gone
            ON CONFLICT (id) DO NOTHING),
        noted AS (
    INSERT INTO sealed_push.outcomes(message, device, outcome, count, created)
    SELECT message, CASE WHEN EXISTS (
            SELECT 1 FROM sealed_push.outcomes o
            WHERE o.message = gone.message AND o.device = 0 AND o.outcome = 'enqueued'
        ) THEN 0 ELSE device END, CASE bury.reason WHEN 'expired' THEN bury.reason ELSE 'dead:' || bury.reason END, count(*), sealed_push.moment(bury.now)::bigint
    FROM gone WHERE message IS NOT NULL GROUP BY 1, 2, 3)
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
CREATE FUNCTION sealed_push.store(key bytea, audience text, start bigint, now bigint, priorities bigint[], senders text[], devices bigint[], revisions bigint[], stale bigint[], expirations bigint[], apns_ids text[], collapse_ids text[], bodies bytea[], codes bytea[], message text DEFAULT NULL::text, fingerprint bytea DEFAULT NULL::bytea) RETURNS boolean
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
            FROM unnest(store.priorities, store.senders, store.devices, store.stale, store.expirations,
                store.apns_ids, store.collapse_ids, store.bodies, store.codes
            ) AS x(priority, sender, device, stale, expiration, apns_id, collapse_id, body, code))
        AND sealed_push.are_pushes(store.message, store.priorities, store.senders, store.stale,
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
        INSERT INTO sealed_push.entries(device, priority, enqueued, stale, expiration, apns_id, collapse_id,
            body, sender, code, message)
        SELECT x.device, x.priority, made,
            least(x.stale, made + 2592000000, made + d.keeps * 86400000),
            x.expiration, x.apns_id, x.collapse_id, x.body, x.sender, x.code, store.message
        FROM unnest(store.priorities, store.senders, store.devices, store.stale, store.expirations,
            store.apns_ids, store.collapse_ids, store.bodies, store.codes
        ) WITH ORDINALITY AS x(priority, sender, device, stale, expiration, apns_id, collapse_id, body, code, n)
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
    stale bigint NOT NULL,
    expiration bigint,
    apns_id text NOT NULL COLLATE pg_catalog."C",
    collapse_id text NOT NULL COLLATE pg_catalog."C",
    body bytea NOT NULL,
    sender text COLLATE pg_catalog."C",
    code bytea,
    message text COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    attempts bigint NOT NULL,
    died bigint NOT NULL,
    CONSTRAINT entries_check CHECK ((((enqueued >= 0) AND (enqueued <= '253402300799999'::bigint)) AND (priority = ANY (ARRAY[5, 10])) AND ((stale >= 0) AND (stale <= '253402300799999'::bigint)) AND ((expiration >= 0) AND (expiration <= '253402300799'::bigint))))
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
    CONSTRAINT is_device CHECK (octet_length(name) BETWEEN 1 AND 128 AND name !~ '[\u0001-\u001f\u007f-\u009f]' AND name !~ '^[\U00000020-\U00000020\U0000007f-\U000000a0\U000000ad-\U000000ad\U0000034f-\U0000034f\U0000061c-\U0000061c\U00001039-\U00001039\U0000115f-\U00001160\U00001680-\U00001680\U000017b4-\U000017b5\U000017d2-\U000017d2\U0000180b-\U0000180f\U00001a60-\U00001a60\U00001bab-\U00001bab\U00002000-\U0000200f\U00002028-\U0000202f\U0000205f-\U0000206f\U00002800-\U00002800\U00002d7f-\U00002d7f\U00003000-\U00003000\U00003164-\U00003164\U0000aaf6-\U0000aaf6\U0000fdd0-\U0000fdef\U0000fe00-\U0000fe0f\U0000feff-\U0000feff\U0000ffa0-\U0000ffa0\U0000fff0-\U0000fffc\U0000fffe-\U0000ffff\U00010a3f-\U00010a3f\U0001107f-\U0001107f\U00011133-\U00011133\U000113d0-\U000113d0\U0001193e-\U0001193e\U00011a47-\U00011a47\U00011a99-\U00011a99\U00011d45-\U00011d45\U00011d97-\U00011d97\U00011f42-\U00011f42\U00013430-\U0001345f\U00016fe4-\U00016fe4\U0001bc9d-\U0001bc9d\U0001bca0-\U0001bca3\U0001d159-\U0001d159\U0001d173-\U0001d17a\U0001da7f-\U0001da80\U0001da9b-\U0001da9f\U0001daa1-\U0001daaf\U0001fffe-\U0001ffff\U0002fffe-\U0002ffff\U0003fffe-\U0003ffff\U0004fffe-\U0004ffff\U0005fffe-\U0005ffff\U0006fffe-\U0006ffff\U0007fffe-\U0007ffff\U0008fffe-\U0008ffff\U0009fffe-\U0009ffff\U000afffe-\U000affff\U000bfffe-\U000bffff\U000cfffe-\U000cffff\U000dfffe-\U000e0fff\U000efffe-\U000effff\U000ffffe-\U000fffff\U0010fffe-\U0010ffff]*$' AND name NOT IN ('.', '..') AND octet_length(user_name) BETWEEN 1 AND 128 AND user_name !~ '[\u0001-\u001f\u007f-\u009f]' AND user_name !~ '^[\U00000020-\U00000020\U0000007f-\U000000a0\U000000ad-\U000000ad\U0000034f-\U0000034f\U0000061c-\U0000061c\U00001039-\U00001039\U0000115f-\U00001160\U00001680-\U00001680\U000017b4-\U000017b5\U000017d2-\U000017d2\U0000180b-\U0000180f\U00001a60-\U00001a60\U00001bab-\U00001bab\U00002000-\U0000200f\U00002028-\U0000202f\U0000205f-\U0000206f\U00002800-\U00002800\U00002d7f-\U00002d7f\U00003000-\U00003000\U00003164-\U00003164\U0000aaf6-\U0000aaf6\U0000fdd0-\U0000fdef\U0000fe00-\U0000fe0f\U0000feff-\U0000feff\U0000ffa0-\U0000ffa0\U0000fff0-\U0000fffc\U0000fffe-\U0000ffff\U00010a3f-\U00010a3f\U0001107f-\U0001107f\U00011133-\U00011133\U000113d0-\U000113d0\U0001193e-\U0001193e\U00011a47-\U00011a47\U00011a99-\U00011a99\U00011d45-\U00011d45\U00011d97-\U00011d97\U00011f42-\U00011f42\U00013430-\U0001345f\U00016fe4-\U00016fe4\U0001bc9d-\U0001bc9d\U0001bca0-\U0001bca3\U0001d159-\U0001d159\U0001d173-\U0001d17a\U0001da7f-\U0001da80\U0001da9b-\U0001da9f\U0001daa1-\U0001daaf\U0001fffe-\U0001ffff\U0002fffe-\U0002ffff\U0003fffe-\U0003ffff\U0004fffe-\U0004ffff\U0005fffe-\U0005ffff\U0006fffe-\U0006ffff\U0007fffe-\U0007ffff\U0008fffe-\U0008ffff\U0009fffe-\U0009ffff\U000afffe-\U000affff\U000bfffe-\U000bffff\U000cfffe-\U000cffff\U000dfffe-\U000e0fff\U000efffe-\U000effff\U000ffffe-\U000fffff\U0010fffe-\U0010ffff]*$' AND user_name NOT IN ('.', '..') AND topic ~ '^[A-Za-z0-9.-]{1,155}$' AND carrier ~ '^[a-z0-9-]{1,32}$' AND octet_length(token) BETWEEN 1 AND CASE WHEN carrier IN ('apns', 'apns-sandbox') THEN 100 ELSE 1024 END AND octet_length(recipient) IN (32, 1216))
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
    CONSTRAINT is_enrollment CHECK (enrollment ~ '^pushenrollment1[a-z0-9]{58}$' AND octet_length(record) <= 10939 AND record ~ '^pushrecord[.][A-Za-z0-9_-]+$' AND proven ~ '^[a-z0-9 ]*$')
);
CREATE TABLE sealed_push.entries (
    id bigint NOT NULL,
    device bigint NOT NULL,
    priority smallint NOT NULL,
    enqueued bigint NOT NULL,
    stale bigint NOT NULL,
    expiration bigint,
    apns_id text NOT NULL COLLATE pg_catalog."C",
    collapse_id text NOT NULL COLLATE pg_catalog."C",
    body bytea NOT NULL,
    sender text COLLATE pg_catalog."C",
    code bytea,
    message text COLLATE pg_catalog."C",
    CONSTRAINT entries_check CHECK ((((enqueued >= 0) AND (enqueued <= '253402300799999'::bigint)) AND (priority = ANY (ARRAY[5, 10])) AND ((stale >= 0) AND (stale <= '253402300799999'::bigint)) AND ((expiration >= 0) AND (expiration <= '253402300799'::bigint))))
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
    CASE WHEN token IS NULL THEN false WHEN octet_length(token) BETWEEN 1 AND CASE WHEN carrier IN ('apns', 'apns-sandbox') THEN 100 ELSE 1024 END THEN token_refusal IS NULL END AS has_token,
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
INSERT INTO sealed_push.dead_letters VALUES (2, 2, 10, 1795000000000, 1797592000000, NULL, '91b74d70-8588-8599-89d2-d303830136e1', 'EaW5-iECDOTT3t-NPCPjLw', '\x7b22617073223a7b22616c657274223a22596f7520686176652061206e6577206d65737361676521222c226d757461626c652d636f6e74656e74223a317d2c22637573746f6d2d656e637279707465642d6d657373616765223a224157764c3153633469575746484a4c367a385f49307545466f74725f4e70564c4175594f785f49666c586c364f52717235467a5f3767527530374677786445414c6c7957556c3048377445316c7573444f6a51374754585731644c356d714b6959467750326958536a444461636544666234714343586c744b4a6134345831565164704b4c654a616e5f52367678385a6837307a46646d427a74414f786232544a386d5172644a4d52614e704162374863506e56423359736f70524e3432444761384d69475f2d395f2d56696f55622d6c43623267552d457553796e4654594834444c625a39384b412d726b45747650395a5067446e3671543978314b5236324d45324448416958736e585a6b4f4c5430444b30705f4e724d663476426b57556d303961552d6a6c6135776851464470347a326e684974643470612d41545f305a636f5577387655482d5f493950504165624e363032424c683156775752387769452d3372506e4563796e584b336d655577596167463750426571566646462d36452d74493473454c34416b6d644f416d43555f4c4b3257475672746b4f36434749494f44754779695744445a4870755641227d', 'pushsender1wwv6rnj6gy52zp3xuh93s3jge7lqvwwqz82tcv6f52jy0qdy2s2qhqr9rq', '\xc867ea2a7e29405453cef5c45ba75fda02347f65160e071aaad99032e09c3079', '5eaef085-6a3b-4980-a96b-ad9f9cd82fa4', 'BadDeviceToken', 1, 1795000000000);
INSERT INTO sealed_push.devices OVERRIDING SYSTEM VALUE VALUES (1, 'enrolled', 'anna', 'com.example.app', 'apns', '\x656e726f6c6c65642f656e726f6c6c65642f656e726f6c6c65642f656e726f6c', 1795000000000, NULL, false, '\xb2874aa6a04efbf745c22bc5a4f75070c59380e09a376ab4cf57169314aecc911c390c2036d218ff4c0d7d6817e1a13bdfe10106b383c7e5b04174041cbccab59c5b43e2070b2b6bf3028a961551e5c7c0b2425f41462e21a757902b13a6e42f5936b306f344df110ff9329430035ce9e3966260059a51bb33b42c31842ae285a9d238037e12ceb1b06ee0693c45b679874229248536270a25378b8cf3b13058f6994c6213a9597e30b89a8185ab0006b2e18c1ee1109c2d0a631c7a8e7050951f5c5fb54ca92f089d1eda1023bb83cd007feed8c485860ef878064d445ad4571522b9318b4c43b4859c7009a219e80f4b3691bec57e8341c8d598c2e3699442c3075f67c47e450cd3da7097d991fbf34c683c56bcd8046963936e91cb8afb16e6338d23701831c8a054e371c8683f4d8a7d136b5533a8be58a4a81c61c79208b8b9b679c95324e8fa19d734b6e4262d681640f6f6052027375dfc8f82f647fc0c50a8a7458a8b9bb92a30ada547ffe232413c1ec37acb31b98b88b8afff13640cb527ccd13e7bf551947a6b4366a2241bc825110d4f7c6f5d28857ae8291d42324e2b5eae584771448e9afcab49bb924d584b5e95ab88f3190d778f245536e2b42f061230b833008300c31ae96f5d4904d286bc517b0b4c7ccfc68c51b16712b1c6529a331a15fa0d69f4a81dd0ceaed43e2c4171f1cab52bc94ae256c51221bfee0c86e47163b67820c559640d2659c673135b26563c288492e52c33966ecb03a0541a84a894a5e930bd6bb945f1e21666b13288372b928034ed68805c942d7cc6bb8b8523a9a4040955acf5ec739a971319ea8495280da8e871c7d06f410582299a8425bc58e430b6832373373a93b6788077d64d5ad56b328241bbc2000c6829857245e170a97e47bffe43a3d03a7e12c26b65e04d8179b9672b20e3b2c65956b1cab62b2143a1ed9b4bf362226e124a1d129e4e106dede596fae15a3347c7e1f658456a5d042307b7c3bf413080a01634c5eb595bbb7b3c4671e4f54057024bea2c835227013cdab14e6769a3a74b4df70af30975b957048fc69b9ad4bae62687dee90ca8371555f90ed8356e942a3ea75082c03c73073120c4b362a916a987b9c3e07a657d270ae1d3aee8dc35887944fc09251f6b1a3fe698c3b003af8b3353f65391d94e24031f7f46aa9f97658f9a0238ac1469e552706444dc41afc94c7912ebcb4b67542af42693f105a8d02893092feeb511c8ac1522f6a93d396be966822e082c29f9c42036adaa69617eb602cb29128ae40df3b797e8ab2562670ad4ea82992ac0ec7a977d0bcd4c06c8f54c0702f9012b9c6b4a3412a4163384da17042204f5cba55d091ca788c9f61b125bac3ac9e756ef2831d3d83aded2411b5856871b352acca9cbabc64b14a18ba54078b8c4c928c3016a9b6601c0c7a880c4e3078819293243291b4291b2f881956021f9811cfe029fa9429a470cb9b973ac79e93334b802ae297906746d5225611c9cb2ea21668443b337f05cb293bf4bb884e5c1223933a663e83174a18120b97e5f03768c053a3898c1f18c2fe318a499399d99b4bd84f5116e787680d15066a20b14ec036de589ba6bb26d5468f8b1dc58e7c6bc31e273b7fd4c5dc5bea1085f7569f04f5a1f36cad428d8662e16d834f12fa5cb9e986f9ba0d16c07e93c5b3e38c4d39f0b81bad44cd652924b', true, 1794906400, 1829560000, 30, 1, '\x29ef44726848ae5d7a50580f6e6df90881da466d0f854f5500c6ab7714586534', '\x1899216e88ea21af96ca19bc7c6b02f7440658fa3e5c7d2c3445c737342a1354');
INSERT INTO sealed_push.devices OVERRIDING SYSTEM VALUE VALUES (2, 'refused', 'anna', 'com.example.app', 'apns', '\x726566757365642f726566757365642f726566757365642f726566757365642f', 1795000000000, 'BadDeviceToken', false, '\x4fdcd3955de47448c0daf72f0b8b92b442d5ad7a5e8ac0befc8b9e2992e4db72', false, 0, 9223372036854775807, NULL, 2, '\x004c64aae121ab672e92dbb04bccb5ee344f6ab13c7038c69648de806a2e9803', '\x4c3c1df7f331baafe913edbbdee2fe7990589308c09300c3a8cf57ee585cb237');
INSERT INTO sealed_push.enrollments VALUES (1, 'pushenrollment13qh868mde59230wsgr7hnlkhqv2st2s06jams7nvx0zhea0dac0sspae9g', 'pushrecord.AQKILn0fbc0KqL3QQP15_tcDFQWqD9S7uHpsM8V89e3uHwAAAABq_YbAAAAAAGr9hsAAAAAAbQzewB4PY29tLmV4YW1wbGUuYXBwAQOyh0qmoE7790XCK8Wk91BwxZOA4Jo3arTPVxaTFK7MkRw5DCA20hj_TA19aBfhoTvf4QEGs4PH5bBBdAQcvMq1nFtD4gcLK2vzAoqWFVHlx8CyQl9BRi4hp1eQKxOm5C9ZNrMG80TfEQ_5MpQwA1zp45ZiYAWaUbsztCwxhCrihanSOAN-Es6xsG7gaTxFtnmHQikkhTYnCiU3i4zzsTBY9plMYhOpWX4wuJqBhasABrLhjB7hEJwtCmMceo5wUJUfXF-1TKkvCJ0e2hAju4PNAH_u2MSFhg74eAZNRFrUVxUiuTGLTEO0hZxwCaIZ6A9LNpG-xX6DQcjVmMLjaZRCwwdfZ8R-RQzT2nCX2ZH780xoPFa82ARpY5NukcuK-xbmM40jcBgxyKBU43HIaD9Nin0Ta1UzqL5YpKgcYceSCLi5tnnJUyTo-hnXNLbkJi1oFkD29gUgJzdd_I-C9kf8DFCop0WKi5u5KjCtpUf_4jJBPB7DessxuYuIuK__E2QMtSfM0T579VGUemtDZqIkG8glEQ1PfG9dKIV66CkdQjJOK16uWEdxRI6a_KtJu5JNWEtelauI8xkNd48kVTbitC8GEjC4MwCDAMMa6W9dSQTShrxRewtMfM_GjFGxZxKxxlKaMxoV-g1p9Kgd0M6u1D4sQXHxyrUryUriVsUSIb_uDIbkcWO2eCDFWWQNJlnGcxNbJlY8KISS5Swzlm7LA6BUGoSolKXpML1ruUXx4hZmsTKINyuSgDTtaIBclC18xruLhSOppAQJVaz17HOalxMZ6oSVKA2o6HHH0G9BBYIpmoQlvFjkMLaDI3M3OpO2eIB31k1a1WsygkG7wgAMaCmFckXhcKl-R7_-Q6PQOn4Swmtl4E2BeblnKyDjssZZVrHKtishQ6Htm0vzYiJuEkodEp5OEG3t5Zb64VozR8fh9lhFal0EIwe3w79BMICgFjTF61lbu3s8RnHk9UBXAkvqLINSJwE82rFOZ2mjp0tN9wrzCXW5VwSPxpua1LrmJofe6QyoNxVV-Q7YNW6UKj6nUILAPHMHMSDEs2KpFqmHucPgemV9Jwrh067o3DWIeUT8CSUfaxo_5pjDsAOvizNT9lOR2U4kAx9_Rqqfl2WPmgI4rBRp5VJwZETcQa_JTHkS68tLZ1Qq9CaT8QWo0CiTCS_utRHIrBUi9qk9OWvpZoIuCCwp-cQgNq2qaWF-tgLLKRKK5A3zt5foqyViZwrU6oKZKsDsepd9C81MBsj1TAcC-QErnGtKNBKkFjOE2hcEIgT1y6VdCRyniMn2GxJbrDrJ51bvKDHT2Dre0kEbWFaHGzUqzKnLq8ZLFKGLpUB4uMTJKMMBaptmAcDHqIDE4weIGSkyQykbQpGy-IGVYCH5gRz-Ap-pQppHDLm5c6x56TM0uAKuKXkGdG1SJWEcnLLqIWaEQ7M38Fyyk79LuITlwSI5M6Zj6DF0oYEguX5fA3aMBTo4mMHxjC_jGKSZOZ2ZtL2E9RFueHaA0VBmogsU7ANt5Ym6a7JtVGj4sdxY58a8MeJzt_1MXcW-oQhfdWnwT1ofNsrUKNhmLhbYNPEvpcuemG-boNFsB-k8Wz44xNOfC4G61EzWUpJL9PylhmlMqcv7M3QPzOyrOGK7z_XP9iqaCf6MIOe3OAKicBFBbj61qsl9XkHtcZoiHq55N8mNGjDuxnB30RMzBLtyVAA', 'pushpq1k2r54f4qfmalw3wz90z6fa6swrze8q8qngmk4dx02utfx99wejg3cwgvyqmdyx8lfsxh66qhuxsnhhlpqyrt8q78ukcyzaqyrj7v4dvutdp7ypct9d4lxq52jc24rew8czeyyh6pgchzrf6hjq438fhy9avndvcx7dzd7yg0lyefgvqrtn5789nzvqze55dmxw6zcvvy9t3gt2wj8qphuykwkxcxacrf83zmv7v8gg5jfpfkyu9z2dut3nemzvzc76v5ccsn49vhuv9cn2qct2cqq6ewrrq7uygfctg2vvw84rns2z237hzlk4x2jtcgn50d5yprhwpu6qrlamvvfpvxpmu8spjdg3ddg4c4y2unrz6vgw6gt8rspx3pn6q0fvmfr0k906p5rjx4nrpwx6v5gtpswhm8c3ly2rxnmfcf0kv3l0e5c6pu267dsprfvwfkaywt3ta3de3n353hqxp3ezs9fcm3ep5r7nv205fkk4fn4zl93f9gr3su0ysghzumv7wf2vjw37se6u6tdepx945pvs8k7czjqfehth7glqhkgl7qc59g5azc4zumhy4rptd9gll7yvjp8s0vx7ktxxuchz9c4ll3xeqvk5nue5f70064r9r6ddpkdg3yr0yz2ygdfa7x7hfgs4aws2gaggeyu2674evywu2y36d0e26fhwfy6kztt626hz8nryxh0rey25mw9dp0qcfrpwpnqzpspsc6a9h46jgy62rtc5tmpdx8en7x33gmzecjk8r99x3nrg2l5rtf7j5pm5xw4m2rutzpw8cu4dfte99wy4k9zgsmlmsvsmj8zcak0qsv2ktyp5n9n3nnzddjv43u9zzf9efvxwtxajcr5p2p4p9gjjj7jv9adwu5tu0zzentzv5gxu4e9qp5a45gqhy5947vdwuts536nfqyp926ea0vwwdfwycea2zf22qd4r58r37sdaqstq3fn2zzt0zcusctdqerwvmn4yak0zq804jdtt2kkv5zgxauyqqvdq5c2uj9u9c2jlj8hlly8g7s8flp9sntvhsymqteh9njkg8rktr9j443e2mzkg2r58kekjlnvg3xuyj2r5ffunssdhk7t9h6u9drx378u8m9s3t2t5zzxpahcwl5zvyq5qtrf30tt9dmk7eugec7fa2q2upyh63vsdfzwqfum2c5uemf5wn5kn0hptesjade2uzgl35mnt2t4e3xsl0wjr9gxu24t7gwmq6ka9p286n4pqkq83eswvfqcjek92gk4xrmnslq0fjh6fc2u8f6a6xuxky8j38upyj376c68lnf3sasqwhckv6n7eferk2wysp37l6x420ewev0ngpr3tq5d8j4yurygnwyrt7ff3u3967tfdn4g2h5y6flzpdg6q5fxzf0a663rj9vz530d2fa8947je5z9cyzc20ecssrdtd2d9shadszev539zhyphem09lg4vjkyec26n4g9xf2crk849map0x5cpkg74xqwqheqy4ec662xsf2g93nsndpwppzqn6uhf2apyw20zxf7cd3ykav8ty7w4h09qca8kp6mmfyzx6c26r3kdf2ej5uh27xfv22rza9gput33xf9rpsz65mvcqup3agsrzwxpugry5nysefrdpfrvhcsx2kqg0esyw0uq5l49pf53cvhxuh8treayenfwqz4c5hjpn5d4fz2cgunjew5gtxs3pmxdlstjef806thzzwtsfz8ye6vclgx962rqfqh9l97qmk3szn5wycc8ccctlrrzjfjwvanx6tmp84z9h8sa5q69gxdgstznkqxm093xaxhvnd23503vwutrnud0p3ufem0l2vthzmagggta6knuz0tg0ndjk59rvxvtskmq60zta9ew0fsmum5rgkcplf83dnuwxy6w0shqd663xdv55jfvr7u3cf', '\xdc02c2e4f8b3ac4293dfd1f62994101f585d0b08343dd6d1355e7ed8a648ad55');
INSERT INTO sealed_push.entries VALUES (1, 1, 10, 1795000000000, 1797592000000, NULL, 'd10d24b0-c6c0-8767-926d-873ac7b4ba41', 'LG-KU2f16sLCqxdWV-SduQ', '\x7b22617073223a7b22616c657274223a22596f7520686176652061206e6577206d65737361676521222c226d757461626c652d636f6e74656e74223a317d2c22637573746f6d2d656e637279707465642d6d657373616765223a2241375575706a7a67574542647a74763935456c53666b47525a724d6478474a67736b72496d794f61306579334c6645543545795255444143664977644e44423152756953656477522d3838566568473662416f2d4f7554376a6f304243504542354e426f5f3856414535725134634f3241487166357048305f535f4331747858434637776243324e4a455f6c4567724c4b68483030646f355f2d4430377a5533776c2d41495f4c5a51577639695458355255386e4732754c5a68796343744e47522d6f4952533361337a4b357671794862507838484f4e655739785734367a714136577777394b52394b346b6666424a4d71517a344d4e475a7074495639333751486f637571443539734b5341374b454878504b4c7136667533714b2d594c57352d516b466c6a6d437268714d777a53595351474b374e323641643856736a456a3850617545445f55304937447458487a50376a6157314e6f6869565f4e333136526e6477573548377331674a54476d6a326b3061474e3533474c4f4333796543556b31514b3062423566414338364f53545a644d69324872675935694659503942735a6d334b7a584b394b2d49745a3645426376757051614f623764783455695573474546667146766a7a7030796752367276594d7841387268433969336757354f44633455626c4b753266466c51677a527a644770427369426b476c597572506a3242716573706536656e474d327268507172334a764c43745f6e4c6578456d7455476f797855494f4751364d7665536e3341672d494d4a333379446653486b4c34394959644e684241627150666c75773230634b37507448394e6d583772695f62563047514b357839357a5a572d48567a504c394a31704d54774564424a4e596f5f5979425a4c3149317a6f6636764578797948645149684f6d324639326955596b71766d5043376a397443696965654d48556230464578695958442d427a516a453069725f656278324c375049496a2d4975343050574e486d6645773243356d356b6b674639566c316d5954725a336f4464326b5a76367668394b4f3362523866445f737450596671335073687566744a45496270554b4831385a767862734e4c64544c4b5256787530486b7959506e444d5f3869326d4c61346b61416d50454830456a773570596f48717959307946345a6b76675771576d6947673066557367747932617550315642307644665155546b7a356571706456697032456b73374962666c6432506841686e5a4d635546385643723969474e32586c514756576d6e726474553577773664655f7830756d4e41306d71582d456b784a556f4a516d3151726b674f592d39435a784b6d41757276664253773445366f32383665337762502d506b4d31555265726d4c455f46417168333277666c304e44794d4477354d384e6671676a5a7452525f5a7456345062304d61535f6c617970513979636e494c7a4e5a73363150317a45577442765044796c784f667745613070627938344b46394d464d6c6a5544787971792d4f7078567077636934746f6a52674f4f4c585579527a4149785f32715574493330486a54694963763972643839355164633047794a70333639784e59704f59434562564a37454b4a506c3163503647757838484e363554757537526e70665044367677572d535753655852672d51684d44374e37497861794e614b52464c5267586b38667553386962757256674d70304e67434b376e5a6367527952686a727634525a64586a5843514641655f675a32706f6b4b55394b39552d787a344a566373576c316b71733977346e445959413665705169695f715562504975516a5254546630625f39493853645951637069764d3136463074643862744b4851516b67654e4f5452506b77574132664e594f51653056535f5f6164587653734745424b546f4c536b517a673048664d537763435a4e4a59555f5a425a4555567730666e7638496b726e42487569686e7364306a4267376336696b624d2d757142617a52355239726844594847425471523443356b6d4b42687a443268316230586369706b4476654d6b5a7a79535f33324f6561526e495a5f396868673578372d5f64415747464c772d7567517938626c6c584c317854765556575350587046486b4b695143357977696a6934497239663366352d4154475a78776f4c7a327a6645706d6c467a3463544d5a6d7671355270664c7063506739717773395153496a654146374345436b5a494c38435a51715439666351366a716462465252647a3935417739476f4b417258436a68716c745f6139474445526f79426f37716e59314e6a6a4566344f4d74456879693259686b73455970616c674f33584c586a73613254526c42754c5f48414e7439534b47537a71376f4263436f6a5f514c5a4663684144784d754b394a654c774f466b54475465344b67744a326530515f50685a4166325f316a3955556d324a3448614162614376494a4d753649614c676853375070505948723072656b665a6b72746b584e627062513744722d51762d4c31696d6b794e764c6774334b4a6c6347334c4744724f304d5653367252454f75572d32473531744f536855573931227d', 'pushsender1wwv6rnj6gy52zp3xuh93s3jge7lqvwwqz82tcv6f52jy0qdy2s2qhqr9rq', '\x03bef3059fa87feedafe09e1b188d41f4e9e85e5ec42fc4b860346576277d9a7', '5eaef085-6a3b-4980-a96b-ad9f9cd82fa4');
INSERT INTO sealed_push.entries VALUES (3, 1, 10, 1795000000000, 1797592000000, NULL, '816af83e-9bca-8b4c-a3eb-f7f30fe9e1df', 'OIGl1K2a8-EgQibP4_Lk2A', '\x7b22617073223a7b22616c657274223a22596f7520686176652061206e6577206d65737361676521222c226d757461626c652d636f6e74656e74223a317d2c22637573746f6d2d656e637279707465642d6d657373616765223a224135465455776234596d6563765a3566772d6b656c57445334396f686a4642593474796f5f384a4a766f50734277464e68525a3367434a71785146746f656e644873396a4462543768386e4e755754527654785f7644343371716f6a6e2d54356438446c6f726a77716c4a754449617856325530523953526c712d7a6a4b715279367257346145475969554e636e6d6765504a6571485249724c6f4438336f50375a4b394f4c5250496f6c476c68333737666e7746634a3753565a526478375655344e49542d4f45756e5649326e6d647974766151394a39596e7a4b4b4c334574415a4d594a64636a6353424f735a306f70564248447a377962416848366c41686b6b324d6a625a775031366566485f6b666948763050574d794e7853363837743071666c4c663558754c79474f677449542d4d6574327737484d735a354c3532647651696f6556734b6e41386d4e332d647671414f37434544626a346a2d69473151357739716b6570324579727333386667497532494830327348754a2d427058415642425a4d6261514161593345466264336c4651584c5877744642444a386f71525f42503549364f366c384776557069524f6a36496639494c704d5562416b384c735464584c4e74347642734d6e7a615936637455384f69565350477338774130616e387a744473345f32555669575448584475636650634d596a7276626f49687348557a6f616f6449713156394e516658516a484b74613462767542732d72586a66576f6e62703435775f685971676333425570786d4174734a3735537a6c5f357849785f6e45684b3248554748767a7a35786333766a6d4e65304d4d37686b5836344267765f54644b506c744558547038473450684761657030342d564342635972666b63762d75307a647241426175557a44624d6173534e345545753370586b56435a6b476d4556475a45675277446b344c62575f4d687479383650447845595131627a547074656b58363739463248536734436c6d3270724f39355270556d66646566486d77585369652d32713972787a7274535f69516e316569413454316e5048326f4e612d52554b576f74574778496878476c4b6e58557148326e563379666c6d346e7a77734c59305041794a676c6a496d5a384f582d4a63633861504f543533383374536e7865746b7a4a732d5359416f447350484b615146676e786c39795f6448455f306e4b6c726a54323178596f6f545f54767349655a623552426c746d4f716968417938676a532d573553473675767074497a4254354868567958357239345f7a504349686f77622d4f6b344f4b72426632344746727357336e7a5572496150687a437a6e79715669486134526a5250664b47337a3358583164694243654171474431536a2d6c7451716e472d75354b6633427536367266696d7838797041787a474a7a676872305051705246386d4b4e434a423077353475696b755975736f45593965327630334e7a7230727a6947372d4f3865373761585a784958786c6236793062786f4163675367554d5a364a4d334a4d76527032515f2d7454433752646a4d6d4e635f384e414441364546596e795a5045754f4368434557735662506676454a4e56775873334c64534d756d7546524942616949554d765f353451656968444d6a4443785667664f4166634a30743635446f4c4c514c65416957466875384a733548512d57346b4637426a7a6f3370676c7537433534396b7050443044426c475f35537a7a624265477667422d446a46426c5849345650356f67447a6a4d68674b35316e6638764b5a64314f457a7668786b5a446f37435f74755f474f52557458624f3557617a6c4669593046733257774b4c695968446f72417370783838785032524f6563476e44693738524951416f7a70417257397757475f3749446e374b4269716447484a6762667637635963686a35573245513879496f2d3547396461364939684932384b67654344345055366a38654d323465737554697a65546f6e5f7a4f776a7536724f774a5a584971646b6637323365325179424c69514e7a46367235586e466853675269586f46656e43644d55696e4570736f354738537a62704342586b3544766d4a7651374630536c2d5a59537a7a5055494a6131444c58324e4658584554476f4a684b4577374b394e2d4c696c76476b4a766138796d767a694a46314b494b47326d4e337967346937656f4967746c50726d4d6b64767a7758685972426851545478785465484e382d3330764f3631366b756b513459357152557757457243774434557536486e79576b42507348693364777055785659356144443549396174684764784a573454434731624c6b41746e3068425567316b7a5f504f7a33665677343455754d386d4963303738414d4f7253675f4e4c2d76736a614a6831666d6a6a53376669586c50646a4651363346464c3530632d325f77356b53634a73524b4b435f73766865674a324b30744d6f753277446e4c7a49786a4865776f6f724b4f684f545f38544142554f75625f7555766a696b416970573249494e3656644e376356534d3131655531565553776742646332746c4432544e326b4e53306a4b227d', 'pushsender1wwv6rnj6gy52zp3xuh93s3jge7lqvwwqz82tcv6f52jy0qdy2s2qhqr9rq', '\xe449953d93c48ddc48b1a38869d1abeda3b2f61219bc3070495e31bf9099d777', 'b9d0eed3-c6c6-4665-a5ba-b3af0d91f6a4');
INSERT INTO sealed_push.generations VALUES (1);
INSERT INTO sealed_push.marks VALUES ('\x614ef0dfc59c63df6cfad7a522e403c2ee15e1e785177956600f3060f7eea9af');
INSERT INTO sealed_push.meta VALUES (7);
INSERT INTO sealed_push.outcomes VALUES ('5eaef085-6a3b-4980-a96b-ad9f9cd82fa4', 0, 'enqueued', 2, 1795000000000);
INSERT INTO sealed_push.outcomes VALUES ('5eaef085-6a3b-4980-a96b-ad9f9cd82fa4', 0, 'dead:BadDeviceToken', 1, 1795000000000);
INSERT INTO sealed_push.outcomes VALUES ('b9d0eed3-c6c6-4665-a5ba-b3af0d91f6a4', 0, 'enqueued', 1, 1795000000000);
INSERT INTO sealed_push.queues VALUES (1, 1, 'apns', 10, 1795000962210, NULL, NULL, 1, 1, 1);
INSERT INTO sealed_push.receipt_devices VALUES ('\x24c802809edda4209c87860a6adf23b0', 1795000000000, 1, 1, 20775, 1, 1);
INSERT INTO sealed_push.receipt_failures VALUES ('\x24c802809edda4209c87860a6adf23b0', 'expired', 1795000000000);
INSERT INTO sealed_push.receipt_numbers VALUES ('\x24c802809edda4209c87860a6adf23b0', '\x210d2180e1e335a1902e572795bd0bdd', 20775);
INSERT INTO sealed_push.receipt_tallies VALUES (20775, 'receipt:shown', 1);
INSERT INTO sealed_push.receipt_tallies VALUES (20775, 'receipt:within:250', 1);
INSERT INTO sealed_push.receipt_tallies VALUES (20775, 'receipt:failed:expired', 1);
INSERT INTO sealed_push.requests VALUES ('\x1e1a7ee1972968bd419dafe0554932971e0ddc153e472fabd034c0f48b0d5621', 'everyone of com.example.app', 9223372036854775807, true, 2, 1795000000000, '5eaef085-6a3b-4980-a96b-ad9f9cd82fa4', '\x2c77338609f6796bca9b95e2bec26ba0a7c03016095667047261b6321d61a0f3');
INSERT INTO sealed_push.requests VALUES ('\xfa50cc389d784a86687a18971e828beb0361de40513eea2a29aea03ebf9d3a05', 'everyone of com.example.app', 9223372036854775807, true, 1, 1795000000000, 'b9d0eed3-c6c6-4665-a5ba-b3af0d91f6a4', '\x2c77338609f6796bca9b95e2bec26ba058041808f82725e60308e7d7ee12e721');
INSERT INTO sealed_push.tallies VALUES (20775, 'dead:BadDeviceToken', 1);
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
CREATE INDEX entries_by_stale ON sealed_push.entries USING btree (stale) WHERE (stale < (enqueued + '2592000000'::bigint));
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
