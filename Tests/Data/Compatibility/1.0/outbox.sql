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
    IF key_bytes.key COLLATE "C" ~ '^pushpq[.][A-Za-z0-9_-]+$' AND length(key_bytes.key) = 1634 THEN
        bytes := decode(translate(substr(key_bytes.key, 8), '-_', '+/') || '=', 'base64');
        RETURN substring(bytes FROM 1 FOR 1216);
    END IF;
    digits := substring(key_bytes.key COLLATE "C" FROM '^push1([02-9ac-hj-np-z]{58})$');
    IF digits IS NULL THEN RETURN NULL; END IF;
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
    CONSTRAINT is_enrollment CHECK (((enrollment ~ '^pushenrollment1[a-z0-9]{58}$'::text) AND (octet_length(record) <= 10939) AND (record ~ '^pushrecord[.][A-Za-z0-9_-]+$'::text) AND (proven ~ '^[A-Za-z0-9._ -]*$'::text)))
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
INSERT INTO sealed_push.dead_letters VALUES (2, 2, 10, 1795000000000, 1797592000000, NULL, '307144c7-d389-8ca9-abdd-e268686bc320', 'FtQTWSH9QRoSt1xMnppGsw', '\x7b22617073223a7b22616c657274223a22596f7520686176652061206e6577206d65737361676521222c226d757461626c652d636f6e74656e74223a317d2c22637573746f6d2d656e637279707465642d6d657373616765223a224165687874677058655a64616b3270465a727432626377376a7755617754597a5347746930423234624a44585238445a447055732d6e31776261627a3776634d59433971556e30466362536c6c44335755364641573051584f5132356c63337a75615662595641446c7636663644435f776958786e4e724564327439305f5238796e41694552317957336d4b4b6d6f546e6667706a36684b566a6a356c3345396c58307934524c754e4e4678644348325450707a386230354772485f793553756f75586f4b33666541453531594e6a53446f5466414e2d74704374436375457549454d5f30754567564867386e3061625a6d567775423137524b4d645a644d56746a58484237526a6b6e30384856456b4a314c334b59724e662d7961724d38774d424249515361534653514763413231696f794f6f5855515f354f685473385452646766327436527561665a31574e4539383739734a63734e574556464c54784a524567347a47432d39335643777871746c6c575a426d424f73324b6e4c474d44434347416541737565756a46344a6f4d696f51774c6c675f61416f77666a62667633694f6d667638363139543369594c41227d', 'pushsender16kgm8t0jpwqusy3sdmh3kfesefl0c60cv6kr34uer5jc8z8v79pqg2nke9', '\xac5b6c90d718bdeef369421c08bbb74236a1a0e5d1ddaaf97d3ff2b43ea64cbf', 'eb188580-c270-4b99-835b-b991404c2e96', 'BadDeviceToken', 1, 1795000000000);
INSERT INTO sealed_push.devices OVERRIDING SYSTEM VALUE VALUES (1, 'enrolled', 'anna', 'com.example.app', 'apns', '\x656e726f6c6c65642f656e726f6c6c65642f656e726f6c6c65642f656e726f6c', 1795000000000, NULL, false, '\x1562c47c089fa8692179779342d6027a575c8a5ccce9282dc9b25b5cf9cdd1a762d443b1ff034833886f29a66c31b5b2498651a41ab214d487998042fb6a3bcc5c1ae34c52754861f08900c6e67e6e4882f9fc8bc85bb5e8f8670650c34398a60569797ec65e1e0b6e9209d0b09384f72a02aa568a5d8bb8af84340e2b07d7e74d29f79217939742fc7fbc72a3a8100021b57774855a3f8b2caebc48bf7cbac3eb53a07757f3ca65446c54a6d199db622869e27666e0493f65008252a096628bb589cc1453af3a14b20e4bbc62d18009c71383076175e911ab396730f76889f848e0595f8e06c9c9fb04ed9612f9bcae31002253a63b8303875ce46ca26b19272461cb929341d5c1e988cc3d308259b62908510a18a09cff454b91fa509c02655e4a014f0c440ee88f5f83af26d95afb6c5698a0441728757c673ee1324b72c1a1c9ca02e046a1e10bcb6ed48cab0208ac93b764c5af26f0106b8471df0b86be86470c42444ec2bf8be01c4bcc1de9491d291bc8307831c5a275debaab9254641a9c848c1a0784709291493ead2a132d5690b7a817c5738417135ceee084b860b446899964990250a72ff5521f88f4b9ca593e18c3cedf81aed2e5353672569d233febb4781c22358a583c8f7734aa075909eba68dd3a99d2c1750905aa1343aab53b164e19761789c95143d1fd6afa4c9071fccc7d8499dbf5c1592f60f84cb9a121656001ac15cea189cf9abab59057e136f9f9554c997ce3c8c745be744b5e79440f139681b68d8b3c6d7312bfedc6f7ee44cdcf692e9904874bb49cc6ac5415b11ebd3bb5b5ab61e855565134a49c2c2bdd0b5f8acc15735c534418789212eaad07ad84b12aae065150c4a26092429e8051886c6f0071dca17b419a898e68699899467fd483bdf297d28f92bc563907d919a23b7cf6bfb55675a34ed9c089d71454e005ec5825ce85bb158a4308912cfc9281ea6c18bd00c5ba83812562aa2096cc84ef18e99815cc29ac8da0902ca6643c7c5188506a0c32a0c87c8ceb1266e42a32f989987cb0010ba5822e395cd3c4268f5d0ba3e9b60732556b8a306a496a93cd46053d97f67777d50ec9365c52e26e011fbe53f26db56a7125532d854aa102384367a0ce166fbb1b3e7e2a0e2b8108f0509b31a77be84c64143c387f3b9e8c04941f217bf44766f08c4e5aa95f71a69a8d25d5bccb4bf31148f370ffd300e02c71b6820b6137202d65556af34cc1323a37e6755bf50b48a7c646ddaae6bd7118c7a4cfe08c717c2a3123556ec565f443c9e456a6c3209bf025614c0a2be80243ee2290ac3ac90cf931451f8a683aa357adbb1e45ac8e83269f5cc4c2be90d916cb59de39597db1404e62200c79fef3a35e8ea8dac935bf4414e8535666c307fd319715d9a7924102ee5b9ad1019908a80655103418a6a707532c85faa9ad1b88e20e24d87280a9c8b79d5601bb3eca8597757fce4bd30e74e8b337e21385eca53169109b60ac4cecce889fe188ebc64b61c22b772c7cb437217d6c30fa9a897b3b47781b0302e7712de7533cf0635ab8622a9d82e7b876e9d7bbd9618765766935688c930681e7d14c2d610959b9082f1449780c56a0613b543661a1a2fb03b7680cead30b29a44b931aaab082062ad166c379ca6df00eff7571ab536ee04e2d5c74d2679ba0bdb920571d687292fea672d4de2899f9c696211442a', true, 1794906400, 1829560000, 30, 1, '\x900df7e768c801ae60a640ea3e5d40799bca28d8bbf1d2bf04c7c6e391db5c27', '\x094018ffe57d24385f12c5025fb8db2383453fc9a454e37eebfd3b845296a3df');
INSERT INTO sealed_push.devices OVERRIDING SYSTEM VALUE VALUES (2, 'refused', 'anna', 'com.example.app', 'apns', '\x726566757365642f726566757365642f726566757365642f726566757365642f', 1795000000000, 'BadDeviceToken', false, '\xb717b3436dc500e31e458971a0fd212cf6fdc704ea148a447e406606addb332d', false, 0, 9223372036854775807, NULL, 2, '\x061766894de8f832d3ea9398d4bae775f32567e6f0f8a5aaac8dff9d58bcc532', '\x85f188223386f1afa8b2dabb84ae669e2e019b279a5a9abaf0775fbc7f5e93ab');
INSERT INTO sealed_push.enrollments VALUES (1, 'pushenrollment1r64hked2gk6azq4lfmclme2v6whcew8wajrfpqw7yd8yas5qhmks50a6aa', 'pushrecord.AQMeq3tlqkW10QK_TvH95UzTr4y47uyGkIHeI05OwoC-7QAAAABq_YbAAAAAAGr9hsAAAAAAbQzewB4PY29tLmV4YW1wbGUuYXBwAQMEwBVixHwIn6hpIXl3k0LWAnpXXIpczOkoLcmyW1z5zdGnYtRDsf8DSDOIbymmbDG1skmGUaQashTUh5mAQvtqO8xcGuNMUnVIYfCJAMbmfm5Igvn8i8hbtej4ZwZQw0OYpgVpeX7GXh4LbpIJ0LCThPcqAqpWil2LuK-ENA4rB9fnTSn3kheTl0L8f7xyo6gQACG1d3SFWj-LLK68SL98usPrU6B3V_PKZURsVKbRmdtiKGnidmbgST9lAIJSoJZii7WJzBRTrzoUsg5LvGLRgAnHE4MHYXXpEas5ZzD3aIn4SOBZX44Gycn7BO2WEvm8rjEAIlOmO4MDh1zkbKJrGSckYcuSk0HVwemIzD0wglm2KQhRChignP9FS5H6UJwCZV5KAU8MRA7oj1-DrybZWvtsVpigRBcodXxnPuEyS3LBocnKAuBGoeELy27UjKsCCKyTt2TFrybwEGuEcd8Lhr6GRwxCRE7Cv4vgHEvMHelJHSkbyDB4McWidd66q5JUZBqchIwaB4RwkpFJPq0qEy1WkLeoF8VzhBcTXO7ghLhgtEaJmWSZAlCnL_VSH4j0ucpZPhjDzt-BrtLlNTZyVp0jP-u0eBwiNYpYPI93NKoHWQnrpo3TqZ0sF1CQWqE0OqtTsWThl2F4nJUUPR_Wr6TJBx_Mx9hJnb9cFZL2D4TLmhIWVgAawVzqGJz5q6tZBX4Tb5-VVMmXzjyMdFvnRLXnlEDxOWgbaNizxtcxK_7cb37kTNz2kumQSHS7ScxqxUFbEevTu1tath6FVWUTSknCwr3QtfiswVc1xTRBh4khLqrQethLEqrgZRUMSiYJJCnoBRiGxvAHHcoXtBmomOaGmYmUZ_1IO98pfSj5K8VjkH2RmiO3z2v7VWdaNO2cCJ1xRU4AXsWCXOhbsVikMIkSz8koHqbBi9AMW6g4ElYqoglsyE7xjpmBXMKayNoJAspmQ8fFGIUGoMMqDIfIzrEmbkKjL5iZh8sAELpYIuOVzTxCaPXQuj6bYHMlVrijBqSWqTzUYFPZf2d3fVDsk2XFLibgEfvlPybbVqcSVTLYVKoQI4Q2egzhZvuxs-fioOK4EI8FCbMad76ExkFDw4fzuejASUHyF79Edm8IxOWqlfcaaajSXVvMtL8xFI83D_0wDgLHG2ggthNyAtZVVq80zBMjo35nVb9QtIp8ZG3armvXEYx6TP4IxxfCoxI1VuxWX0Q8nkVqbDIJvwJWFMCivoAkPuIpCsOskM-TFFH4poOqNXrbseRayOgyafXMTCvpDZFstZ3jlZfbFATmIgDHn-86NejqjayTW_RBToU1Zmwwf9MZcV2aeSQQLuW5rRAZkIqAZVEDQYpqcHUyyF-qmtG4jiDiTYcoCpyLedVgG7PsqFl3V_zkvTDnToszfiE4XspTFpEJtgrEzszoif4Yjrxkthwit3LHy0NyF9bDD6mol7O0d4GwMC53Et51M88GNauGIqnYLnuHbp17vZYYdldmk1aIyTBoHn0UwtYQlZuQgvFEl4DFagYTtUNmGhovsDt2gM6tMLKaRLkxqqsIIGKtFmw3nKbfAO_3Vxq1Nu4E4tXHTSZ5ugvbkgVx1ocpL-pnLU3iiZ-caWIRRCq2-hG6q1NKociufA4ONM3WB0hzCoYCFJSvW0e-aj2DXkA9Rd5o9gYIG9YnXmwggs4a6YkikJfyvRZTkJrx_gsEgE_Mag', 'pushpq.FWLEfAifqGkheXeTQtYCeldcilzM6SgtybJbXPnN0adi1EOx_wNIM4hvKaZsMbWySYZRpBqyFNSHmYBC-2o7zFwa40xSdUhh8IkAxuZ-bkiC-fyLyFu16PhnBlDDQ5imBWl5fsZeHgtukgnQsJOE9yoCqlaKXYu4r4Q0DisH1-dNKfeSF5OXQvx_vHKjqBAAIbV3dIVaP4ssrrxIv3y6w-tToHdX88plRGxUptGZ22IoaeJ2ZuBJP2UAglKglmKLtYnMFFOvOhSyDku8YtGACccTgwdhdekRqzlnMPdoifhI4FlfjgbJyfsE7ZYS-byuMQAiU6Y7gwOHXORsomsZJyRhy5KTQdXB6YjMPTCCWbYpCFEKGKCc_0VLkfpQnAJlXkoBTwxEDuiPX4OvJtla-2xWmKBEFyh1fGc-4TJLcsGhycoC4Eah4QvLbtSMqwIIrJO3ZMWvJvAQa4Rx3wuGvoZHDEJETsK_i-AcS8wd6UkdKRvIMHgxxaJ13rqrklRkGpyEjBoHhHCSkUk-rSoTLVaQt6gXxXOEFxNc7uCEuGC0RomZZJkCUKcv9VIfiPS5ylk-GMPO34Gu0uU1NnJWnSM_67R4HCI1ilg8j3c0qgdZCeumjdOpnSwXUJBaoTQ6q1OxZOGXYXiclRQ9H9avpMkHH8zH2Emdv1wVkvYPhMuaEhZWABrBXOoYnPmrq1kFfhNvn5VUyZfOPIx0W-dEteeUQPE5aBto2LPG1zEr_txvfuRM3PaS6ZBIdLtJzGrFQVsR69O7W1q2HoVVZRNKScLCvdC1-KzBVzXFNEGHiSEuqtB62EsSquBlFQxKJgkkKegFGIbG8Acdyhe0GaiY5oaZiZRn_Ug73yl9KPkrxWOQfZGaI7fPa_tVZ1o07ZwInXFFTgBexYJc6FuxWKQwiRLPySgepsGL0AxbqDgSViqiCWzITvGOmYFcwprI2gkCymZDx8UYhQagwyoMh8jOsSZuQqMvmJmHywAQulgi45XNPEJo9dC6PptgcyVWuKMGpJapPNRgU9l_Z3d9UOyTZcUuJuAR--U_JttWpxJVMthUqhAjhDZ6DOFm-7Gz5-Kg4rgQjwUJsxp3voTGQUPDh_O56MBJQfIXv0R2bwjE5aqV9xppqNJdW8y0vzEUjzcP_TAOAscbaCC2E3IC1lVWrzTMEyOjfmdVv1C0inxkbdqua9cRjHpM_gjHF8KjEjVW7FZfRDyeRWpsMgm_AlYUwKK-gCQ-4ikKw6yQz5MUUfimg6o1etux5FrI6DJp9cxMK-kNkWy1neOVl9sUBOYiAMef7zo16OqNrJNb9EFOhTVmbDB_0xlxXZp5JBAu5bmtEBmQioBlUQNBimpwdTLIX6qa0biOIOJNhygKnIt51WAbs-yoWXdX_OS9MOdOizN-ITheylMWkQm2CsTOzOiJ_hiOvGS2HCK3csfLQ3IX1sMPqaiXs7R3gbAwLncS3nUzzwY1q4Yiqdgue4dunXu9lhh2V2aTVojJMGgefRTC1hCVm5CC8USXgMVqBhO1Q2YaGi-wO3aAzq0wsppEuTGqqwggYq0WbDecpt8A7_dXGrU27gTi1cdNJnm6C9uSBXHWhykv6mctTeKJn5xpYhFEKnTn0GA', '\x1b27c2312d3715cc7fcbb8b55b63d83a2f5466fe44e8f9cb9f8e21ffa9a262f5');
INSERT INTO sealed_push.entries VALUES (1, 1, 10, 1795000000000, 1797592000000, NULL, '12f96fe5-e2d7-8055-acad-1c322e387835', '4L2rx-vqj9UVbjAotqWhJA', '\x7b22617073223a7b22616c657274223a22596f7520686176652061206e6577206d65737361676521222c226d757461626c652d636f6e74656e74223a317d2c22637573746f6d2d656e637279707465642d6d657373616765223a2241306452435a3573526f51434164704c67306d667748494c6c6c69306d714957317268706f70426d50337a6179453247357a4a4f7842464255305478466e5747574f5635376a424842483135596a6132567869347453505a574f4867586a635a3238717a42363968704a6c5847424262375f41456c736f6a512d684b4f513830777668522d6a534a4665786f5132626b7844696578722d354c447055697a35794f4464514c39747348784f67764169477568644d6a486f3264424b376131476c71576e727663776d687638764e4572304736622d67584f504e34366a375f3234415a4354414d484e6c39504e7278386c5547722d494764567561355261383447335352642d52503369417869475151444b726a526a6b626255363731494c5131744730545473586c672d4d6b514658307a65744970496f5941305f7a4a3046372d576c5f4e692d6c71524d6673694b3476765f666d4f32414d754441525f354b5a6b396e397752644777567641754b456d4a43484852357950672d65597873585954313957764e473371754541346977316d5445487a4c544b466571664c6f386c43334775396b4170494c3966526f6955747937384e656e4675494e54504744634d5035336d7168473063697a7838303273356c5f38614f5461624e7443686b6d4e7130553867787259726b382d4d6347324a48745365635637696c415a7442696d673073644f4946504734495f745a717150735556585a674a4a515968592d324d4e4278346777756757713846314652625048486250302d566565462d326e442d4e447730437453656c52773964485a50764636705047564a4268546962496d4f38384c6a58797769584472446164556a53535232754d504a4d765a4451784c6c4b557978345864775633474b367945416d656a757159625765714b505a634953616275506b55704d3758347648736b594551436e63443647344b6a7738384c4b5a31484542705a7952573641672d414364694b67395438556270653338706754447637456b6772504c355a2d763463786a6e5372644f71445f423367784d4c446f5638476161634368385f66653939375f345468647733625f77424f345175677241466942676f6b506c325631326643716b65487459366a3673555444545968367447544c73612d414a6e57512d4361412d516630776b45724c6d724c575a4f626b726d4a335f6b39347547596e66506a546c4f6e7539783147413372555666467a663331634833786f4859624b2d2d4e6c5674763446355454314a642d692d50593348524f52725f626f6a77504c42515a696d547734434e694f753863376e5f33416d5a334f5539475f4f617354386659706c687a4c46364657454c386a536d786e727a2d704831746a79524b503333705f616854764d6e586b6974686841684277754d59755f34646138614c53572d624e6f435768764377666f576e435a542d366874386154623673594732424a5a4c4a6f576d5548304c376b2d5164572d7176747152476347596730484a6877656b4850362d6a4d6a736363304954426338304e784c7636557559474d6e75657262534e434359557574427356414b564e45634b6a4b4c37574873574d7a32324833615a72626a787666444e664c757963443735636c616b4568624751494b346768527638773364706f414d427532536f5a4d3555625a376d4c4a6931367572365a392d457849524b484c79304158514c61457773363277387054454465595a327364525f735f3733776546665f444d696c5a63447a70643034722d6878415347414c4552706f5a476e53337532706e7677535557625930746931786c704149443044526842766e4858336c4838503949586955767467567538532d45674d7351486a39326b475a64577830736f665064417636554c47484f6b33544745736f714b535f4e31564343684e54595a5158552d74446953497a6f6e6472793639675972494453756934462d4b396d524934585a6967576f6a645a7465486648454a46364a417a56507350545674385f37487876615274635848493439797469726e33485550437a513063434551545f4b7775704a6868776e4c4a646a643279456a36455a744c6c6370764872757248593878392d78416c474351765448646553745057786a756234713535674e3162526973534f38646b6f6752724d326143504d4a2d437a4a78676d78654e6f5537777774765f766852586a6d5a77506c645874734f7452705f7a68396e386a72332d434f37775775664f5a4331664468324a54426e5032687a5a783468684d77414f5a7949644e315a5f766d794571312d4373684c6e5966446d33654a6975486b3871326a4b5f5555685f6a505a70553073442d645152755839636e50582d70483942596e3158496e546e58653852485270325a654f394c4265547830464c4f6b61544659396f614a5a4c68337638776c5070564e775a4b656a56754544523237345046456233374d6539663456696f315a7336456e33473473304f5356736c324a4e5f684e333239472d746b306959682d4e3738537153396257713151765a3958444b79497a454736695369313569482d62617063646a685463785f227d', 'pushsender16kgm8t0jpwqusy3sdmh3kfesefl0c60cv6kr34uer5jc8z8v79pqg2nke9', '\x4a1cf1138247f2a7bc51886797d53fb7e85e4c589dbd4d19415df35e0933eef2', 'eb188580-c270-4b99-835b-b991404c2e96');
INSERT INTO sealed_push.entries VALUES (3, 1, 10, 1795000000000, 1797592000000, NULL, '8c2ec02c-46cd-859a-b5dc-17ffcd1454c5', '0fARz5AkyVpAOWixxHaSyw', '\x7b22617073223a7b22616c657274223a22596f7520686176652061206e6577206d65737361676521222c226d757461626c652d636f6e74656e74223a317d2c22637573746f6d2d656e637279707465642d6d657373616765223a22417942773641754d596870496c5a5637656e5a4e6162643971397179737732376f2d675f35722d6258764843793561506c523371414443434a4947664f355536573554616e39656369444e646861356133436d4272316e5044704866416f53773531394d5336515166786c365f476f616e6c636d66797044666471454c4469425a736a5a55454653644c5f45373143595a5a5442704b43477331466b4a5233384955384a34714d644248527238516f434e43713158686b47765730622d624b6a794c3930474c6b4e51675142464c495a396a30794f64373651395a6d7234523467794a487973434f4130616b5737423653533249775434506436494c58536f63516854654931317653366c6f6c5232516572644346674a4468693970684b5444662d414a43616a67416a48476b71487369344b584d4732385a794944316d39443357376d47486c663262426f474865786173576266775569516f4f652d47344655367a4d503152385f643363385a6a31364d49387351655435635f565f423450304d4c42322d7173436479576b684959383151554d48746a4d706249493545705f44393679536d64486455434959674d7a474f6f694f4a786a66707763586879446542706570684e4a615370734b66445a41687831533373683733447a5f6555486836506e644d2d527a6f306661637a30683454617a3438555a42366d44594e5442615734513463376f414c6575716c6f6568464d34694c38464c49666f445558334979764368636c575a503262306b726b3171624c455945515f58366e4a5f657075444e4946744f494a4251554b4f393365652d6547785a5f5f5a7574507441566f45525a34576c536e4a474e315154624472756941307a726542795942535f6a5f6f315268444335554a58554b47766373325479666941486d567165536d386c52627748396d59365559515752315a56626f513178525869793771703051626d7659496f6f6a5379704a6a357a3145345a53756e71673875457735672d46347a4d6e494a7770396b6c4b46547262306d6972646130693764795f45627a316d5359656d6445344256324a666f3374384a6d58556e486970646f6a5a66334b3151624e685a486b4d59733470704b494173354759555234324d4861577969506c74395567377a6a7834306c36564b72596c464d786738697a4248772d676a534263704b336a4e32346e6c78773358374f2d444d71337147436d4c597755394731707452705948717449686357474c65615f767334486d392d697270305a4e352d5230686c514735723038765979356f47355233547156553745726a4e6a46483550776f69585343687a616445344c62346b7375524f6b6430747a73755649427262336936766a642d617a4c61324b3378547a367778483233326c796f44653746596a4f4e6d4d72444669574d6d3655725133745264754c377642776b6d7262705171484141692d427253516e4c4637786d6c47586e426f5a47614b546c64656b5148745750435759327148484b6a4c4d716d5462696152376e6365736b66377a706b3739674a6b583351376e3341544c5543396d396454373656725358476e5f7433422d44693145415a3264474a7a7937386f73663674523464303348596333334e5a6a6c4972364745444a6a50636652623451535a5934564d646a504f49513971496f76697a68394543535932334e6875535a315144754a6f4f5a554378716a6a39726274686d6750576f5330715963594a4a36447768316b4f315456634162416b6f465979383471366c704c786c6137554a727a57416b734a396e6232626551676a3377674655696962366d4a384d4f4b556f496c7a7a44754970583850307044624b6b6236714f55784c5a526675304a464a3937696743304f6d493768484f4d35735357536457664a66484e625a46583434647a6b7773587a394358597133726134433351476e4e383559516571706636706e70747337334c4d53632d57364846567942536233625a677531316b73686d624b5a5f5471776531506a736b374d7974443644335430774d327253416177794d78536c54335751764c324a4f6950754a4437364f67394e764f63736a6f46694b6633686f594b4f5f7159325a35704736547a38534578754372732d5648426e6d43756d6a6e744e756b537830534f426269445972727a4344367243715977474b37706c6a38777976705a75365357517976344a5f2d4d526b6147554e64703252622d5a56656f57765f6c30375f5f6c33576568315849376a73646457416e6452354542625970695f4e3158436f4e6659334741306e37644a6977794e51636d4f4a71387949505a714672625a43704e544d63535a6378545f4d55346372645f31646d466e61756f38324e4a734242676a6b6f776b6b4352365148414c7576557572734f5f316a516e704531494a354454506c497a464455664a47535830354979574d4b666f307a5a6f4d6d62796551773753714843502d4237434652414632525a2d523169344a716a5058334456715643514c7856765655566763455f5a5f775344335a75665f415f4e4f4f4a54686c7272766c53654345346a5237645f394c526246474e6e227d', 'pushsender16kgm8t0jpwqusy3sdmh3kfesefl0c60cv6kr34uer5jc8z8v79pqg2nke9', '\x67f39aa86e8315744885a5ebb9a45f38c93a75eae6fe4ec4b4a15cf3cb674d1b', 'a81a1028-2dcd-483b-8e5b-4f34dac81ddb');
INSERT INTO sealed_push.generations VALUES (1);
INSERT INTO sealed_push.marks VALUES ('\x838b49b89259e3eef5d3a262eda6df25d9cd78dd93ca59b68117d604b9578ead');
INSERT INTO sealed_push.meta VALUES (9);
INSERT INTO sealed_push.outcomes VALUES ('eb188580-c270-4b99-835b-b991404c2e96', 0, 'enqueued', 2, 1795000000000);
INSERT INTO sealed_push.outcomes VALUES ('eb188580-c270-4b99-835b-b991404c2e96', 0, 'refused:BadDeviceToken', 1, 1795000000000);
INSERT INTO sealed_push.outcomes VALUES ('a81a1028-2dcd-483b-8e5b-4f34dac81ddb', 0, 'enqueued', 1, 1795000000000);
INSERT INTO sealed_push.queues VALUES (1, 1, 'apns', 10, 1795000922216, NULL, NULL, 1, 1, 1);
INSERT INTO sealed_push.receipt_devices VALUES ('\x9401476a8e216796148073e3b77cb061', 1795000000000, 1, 1, 20775, 1, 1);
INSERT INTO sealed_push.receipt_failures VALUES ('\x9401476a8e216796148073e3b77cb061', 'expired', 1795000000000);
INSERT INTO sealed_push.receipt_numbers VALUES ('\x9401476a8e216796148073e3b77cb061', '\xcd1236d3600092cc0e09a110d69c46bd', 20775);
INSERT INTO sealed_push.receipt_tallies VALUES (20775, 'receipt:within:250', 1);
INSERT INTO sealed_push.receipt_tallies VALUES (20775, 'receipt:failed:expired', 1);
INSERT INTO sealed_push.receipt_tallies VALUES (20775, 'receipt:shown', 1);
INSERT INTO sealed_push.requests VALUES ('\x1e1a7ee1972968bd419dafe0554932971e0ddc153e472fabd034c0f48b0d5621', 'everyone of com.example.app', 9223372036854775807, true, 2, 1795000000000, 'eb188580-c270-4b99-835b-b991404c2e96', '\xf4563fb245af236d6bf93875007bb046620813f7f40bd5b8731e60a02218df90');
INSERT INTO sealed_push.requests VALUES ('\xfa50cc389d784a86687a18971e828beb0361de40513eea2a29aea03ebf9d3a05', 'everyone of com.example.app', 9223372036854775807, true, 1, 1795000000000, 'a81a1028-2dcd-483b-8e5b-4f34dac81ddb', '\xf4563fb245af236d6bf93875007bb0463fd4753c71876610b0e8abae1f3d36a6');
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
