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
CREATE FUNCTION sealed_push.is_device(name text, user_name text, topic text, carrier text, token bytea, recipient bytea) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
BEGIN
    RETURN octet_length(name) BETWEEN 1 AND 128
        AND octet_length(user_name) BETWEEN 1 AND 128
        AND (name ~ '^[A-Za-z0-9@_+-]+$' OR name !~ '[\u0001-\u001f\u007f-\u009f]' AND name !~ '^[\U00000020-\U00000020\U0000007f-\U000000a0\U000000ad-\U000000ad\U0000034f-\U0000034f\U0000061c-\U0000061c\U00001039-\U00001039\U0000115f-\U00001160\U00001680-\U00001680\U000017b4-\U000017b5\U000017d2-\U000017d2\U0000180b-\U0000180f\U00001a60-\U00001a60\U00001bab-\U00001bab\U00002000-\U0000200f\U00002028-\U0000202f\U0000205f-\U0000206f\U00002800-\U00002800\U00002d7f-\U00002d7f\U00003000-\U00003000\U00003164-\U00003164\U0000aaf6-\U0000aaf6\U0000fdd0-\U0000fdef\U0000fe00-\U0000fe0f\U0000feff-\U0000feff\U0000ffa0-\U0000ffa0\U0000fff0-\U0000fffc\U0000fffe-\U0000ffff\U00010a3f-\U00010a3f\U0001107f-\U0001107f\U00011133-\U00011133\U000113d0-\U000113d0\U0001193e-\U0001193e\U00011a47-\U00011a47\U00011a99-\U00011a99\U00011d45-\U00011d45\U00011d97-\U00011d97\U00011f42-\U00011f42\U00013430-\U0001345f\U00016fe4-\U00016fe4\U0001bc9d-\U0001bc9d\U0001bca0-\U0001bca3\U0001d159-\U0001d159\U0001d173-\U0001d17a\U0001da7f-\U0001da80\U0001da9b-\U0001da9f\U0001daa1-\U0001daaf\U0001fffe-\U0001ffff\U0002fffe-\U0002ffff\U0003fffe-\U0003ffff\U0004fffe-\U0004ffff\U0005fffe-\U0005ffff\U0006fffe-\U0006ffff\U0007fffe-\U0007ffff\U0008fffe-\U0008ffff\U0009fffe-\U0009ffff\U000afffe-\U000affff\U000bfffe-\U000bffff\U000cfffe-\U000cffff\U000dfffe-\U000e0fff\U000efffe-\U000effff\U000ffffe-\U000fffff\U0010fffe-\U0010ffff]*$'
AND name NOT IN ('.', '..'))
        AND (user_name ~ '^[A-Za-z0-9@_+-]+$' OR user_name !~ '[\u0001-\u001f\u007f-\u009f]' AND user_name !~ '^[\U00000020-\U00000020\U0000007f-\U000000a0\U000000ad-\U000000ad\U0000034f-\U0000034f\U0000061c-\U0000061c\U00001039-\U00001039\U0000115f-\U00001160\U00001680-\U00001680\U000017b4-\U000017b5\U000017d2-\U000017d2\U0000180b-\U0000180f\U00001a60-\U00001a60\U00001bab-\U00001bab\U00002000-\U0000200f\U00002028-\U0000202f\U0000205f-\U0000206f\U00002800-\U00002800\U00002d7f-\U00002d7f\U00003000-\U00003000\U00003164-\U00003164\U0000aaf6-\U0000aaf6\U0000fdd0-\U0000fdef\U0000fe00-\U0000fe0f\U0000feff-\U0000feff\U0000ffa0-\U0000ffa0\U0000fff0-\U0000fffc\U0000fffe-\U0000ffff\U00010a3f-\U00010a3f\U0001107f-\U0001107f\U00011133-\U00011133\U000113d0-\U000113d0\U0001193e-\U0001193e\U00011a47-\U00011a47\U00011a99-\U00011a99\U00011d45-\U00011d45\U00011d97-\U00011d97\U00011f42-\U00011f42\U00013430-\U0001345f\U00016fe4-\U00016fe4\U0001bc9d-\U0001bc9d\U0001bca0-\U0001bca3\U0001d159-\U0001d159\U0001d173-\U0001d17a\U0001da7f-\U0001da80\U0001da9b-\U0001da9f\U0001daa1-\U0001daaf\U0001fffe-\U0001ffff\U0002fffe-\U0002ffff\U0003fffe-\U0003ffff\U0004fffe-\U0004ffff\U0005fffe-\U0005ffff\U0006fffe-\U0006ffff\U0007fffe-\U0007ffff\U0008fffe-\U0008ffff\U0009fffe-\U0009ffff\U000afffe-\U000affff\U000bfffe-\U000bffff\U000cfffe-\U000cffff\U000dfffe-\U000e0fff\U000efffe-\U000effff\U000ffffe-\U000fffff\U0010fffe-\U0010ffff]*$'
AND user_name NOT IN ('.', '..'))
        AND topic ~ '^[A-Za-z0-9.-]+$' AND octet_length(topic) <= 155
        AND carrier ~ '^[a-z0-9-]+$' AND octet_length(carrier) <= 32 AND octet_length(token) BETWEEN 1 AND CASE WHEN carrier IN ('apns', 'apns-sandbox') THEN 100 ELSE 1024 END
        AND octet_length(recipient) IN (32, 1216);
END $_$;
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
    CONSTRAINT is_device CHECK (sealed_push.is_device(name, user_name, topic, carrier, token, recipient))
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
INSERT INTO sealed_push.dead_letters VALUES (2, 2, 10, 1795000000000, 1797592000000, NULL, '604936a5-eb27-85f5-abd5-ee6204bf786b', 'C4k-FZNx011fU5iXDijo1A', '\x7b22617073223a7b22616c657274223a22596f7520686176652061206e6577206d65737361676521222c226d757461626c652d636f6e74656e74223a317d2c22637573746f6d2d656e637279707465642d6d657373616765223a2241526a32645a6e7972454f526a5f494456327276434747716479474342422d7972497a4d4765426648566e32745f665134305456305662584d4248683548624569767a514b584f597838537255507a727662375847436931786d6849457239455973473136446b5641597670386b304678567463567a6e476d486774594654436f50565055397562395154477451484e424e4b386738556f4868636872717a44416f6f6e38513963643761656944495f4f78346f4f633661627338497937575773704e714c6b5f2d4d744a796550425f5052626a4e68466e673157705537753768716b735a53512d73754b34783268394e30794539735234754871613072326b574874414f695854775759425f327a716e596b4a4e313871636d44526e4a5935706d75665034677936336d7252543558623552676a4e6a687268566f366b6635676e416f476b4769356f45694763416853354a6e7a79753252647344336e363358756241544b734d5437697354376d7172697348446248314c51794336592d64736a636d655a6d514f52316857354c70306c426971426d433032695254755a617236654b543734306450636e5331665a4977227d', 'pushsender15ysfzr59xfu8a5ecktp85t5ylxyralrr50dwgjpvuyh8hrqr6d7qvrdtjv', '\xb7b7604f4700ee692717f884a1263cb19d9b57ad5e42a0ce19dd682cd839ae2f', '6f139956-3a31-446d-bd6b-0c9d0eba9ce0', 'BadDeviceToken', 1, 1795000000000);
INSERT INTO sealed_push.devices OVERRIDING SYSTEM VALUE VALUES (1, 'enrolled', 'anna', 'com.example.app', 'apns', '\x656e726f6c6c65642f656e726f6c6c65642f656e726f6c6c65642f656e726f6c', 1795000000000, NULL, false, '\x7ba4ad2bf01de1d4238a1042a1f908c7929fa0d37fb0bc0321643764176e616c4d432a27629737e60aad31091330860a6a16410b3b47b1904aa81568836bab5059518e47beecb8071cb69c4d625bca39b92bbaac15737f03e3b610c846010cbaa78b8cbba6b82f8c6052fb8387925d627237f3a1cb96517dc4a247825382a0002d7cb45d17f8976d362b1faab668a27b9173962c932cf25a69b4063b4fbcc9f61b28256c5769dcaf98a04eb1300e41d37d0ca20facb893aeb50b2c7110ce099c6f5c23935900c4925bd793c110c8386647b6b048b021aa3d180b95d431bbbff5358ec150738a98b71221cd2b55025972a5d11375c53f8dc73f5621a2a3064440f4841f74c8ffa1776e61c7358576a1c9c1df006c03f33b7e9a8821ba01f8646498f39f27f106b78597e2e91337ac32744904f80b730355891bb58f3c185ad62acd4ed8502b27cbcd74a8d89536d75ba81196042ce3652cbc159d5ab23e59743b742faa45a15c40b24a1bca8f045e88226f06708755265d2c72791a08443484cac76121488a846401028e77cf029547be76be5cd02429a926e10bb1e54591ee734f278c0344a496a2a600d88660a2e356e9a5c45b018e88849fed403122293a9882267d9ca749d954ace01f8ae3b10f1a3491a4c551d35149029fe1a5ae19b1c316ca2b9e778178f4b34d589544f46a94863f19e01b832634f8e191a422cfed44652993ca5e04684665cd043b46cac974152a362f24473fdb81f1e25633e9c657ec5a3b361fe621c7f657bbb9ac2dadb477de815fbad88ddc58740518b1cdb709cf269412c29381247de8859987f956d4e57ab739070316329a7183d7c74c1fd0c6179a2956c8bbe0cc53f2449391e15790a29ea7b37c73902378283bcd81651102706343038c37a545db5577625a5522253f079435b0159b2c742e9307a4c8c11718b46c848d96563e8f7b6967b99d8e5042b24a141a41ce8edc7deff284c5b268d2a54d4197529fc91843ba2da80157a2791161702f5fd02103e16d04249c2a39c94d647362782c401c6ab7917ef1bca4950630280855fc1ace6a66c795637c936c1b5159611e4a01fcb6acec2c4e222c45afc07bbf04babba02a85d9649c12b56fe7104f8889b6016afc56945694303bdb10cc34b43e8830a26431f6963bd3e17cfb9c7c7735a08e979589591bd6c5463b207dcb66bedd869a744076f8b730b5cc27ab7532eb665beaa2008ce16567e42b10f8cc4b42b7be379adbb492005008f17783d43013f3f491129c628d396e8c33309f850faeb64f22202894f1aa69343127d3c0df18c79bb2a2ca402683c313d5c3a803d926b9b1390147867e9299fd912d5127623e317b97250982867c9aa996bcac79f6fba499e79f713bc0d4b09316259848671725ea50cce70f1828bc4ad52b624c262752726896a65eaa561f29c663a33cd9a88745540532466ae2bbb7b080536db647c340b56286a4220a341f2ac3180b697b1958caf352bbc01b22fa3b08a5c78bc19716270b6510951cf684bf8cb30ef7065ea1a617d2a4b0bb4f1b04466d812f4555cf05230cd814847a50b37c022a358394bdac50d816223e6a964dd2a275d194182b4691b879f410bdb61ba0e589357d8725e4aa4476246eac6a3e29b1076d42ff2cbf04c9e3f55d0c794da95e5969ad7eeb0e95ef1545f003d89b809e7c6bcd177d5a9124a9a59f48', true, 1794906400, 1829560000, 30, 1, '\x7146439b39c459ccf33479259397383913beefed7ae427aca18ba4653f1b4d6c', '\x08fcd95c7fa39263462d38c83fa7816ac41f7c3e99c24c9f7be57cd8bce34bd2');
INSERT INTO sealed_push.devices OVERRIDING SYSTEM VALUE VALUES (2, 'refused', 'anna', 'com.example.app', 'apns', '\x726566757365642f726566757365642f726566757365642f726566757365642f', 1795000000000, 'BadDeviceToken', false, '\x8bbf912c76dd898600f4a77546e4eb13611c7f9806a3c8528decd369cc88e65d', false, 0, 9223372036854775807, NULL, 2, '\x799e2e67e34787d9f74efcae9fa0e5011846229cc7c44b28eeaa276afac87e9b', '\xafe2b9438c6a04c929f202699ba99a1dc4c8a218bba2f618392f9d3830a71bcf');
INSERT INTO sealed_push.enrollments VALUES (1, 'pushenrollment1vwlfnzhvz8m70ctyfxd4rzmn3hs7nsgpejqmrge2ua7m7w08wx3sszfy8h', 'pushrecord.AQNjvpmK7BH35-FkSZtRi3ON4enBAcyBsaMq532_OedxowAAAABq_YbAAAAAAGr9hsAAAAAAbQzewB4PY29tLmV4YW1wbGUuYXBwAQMEwHukrSvwHeHUI4oQQqH5CMeSn6DTf7C8AyFkN2QXbmFsTUMqJ2KXN-YKrTEJEzCGCmoWQQs7R7GQSqgVaINrq1BZUY5Hvuy4Bxy2nE1iW8o5uSu6rBVzfwPjthDIRgEMuqeLjLumuC-MYFL7g4eSXWJyN_Ohy5ZRfcSiR4JTgqAALXy0XRf4l202Kx-qtmiie5FzliyTLPJaabQGO0-8yfYbKCVsV2ncr5igTrEwDkHTfQyiD6y4k661CyxxEM4JnG9cI5NZAMSSW9eTwRDIOGZHtrBIsCGqPRgLldQxu7_1NY7BUHOKmLcSIc0rVQJZcqXRE3XFP43HP1YhoqMGRED0hB90yP-hd25hxzWFdqHJwd8AbAPzO36aiCG6AfhkZJjznyfxBreFl-LpEzesMnRJBPgLcwNViRu1jzwYWtYqzU7YUCsny810qNiVNtdbqBGWBCzjZSy8FZ1asj5ZdDt0L6pFoVxAskobyo8EXogibwZwh1UmXSxyeRoIRDSEysdhIUiKhGQBAo53zwKVR752vlzQJCmpJuELseVFke5zTyeMA0SklqKmANiGYKLjVumlxFsBjoiEn-1AMSIpOpiCJn2cp0nZVKzgH4rjsQ8aNJGkxVHTUUkCn-GlrhmxwxbKK553gXj0s01YlUT0apSGPxngG4MmNPjhkaQiz-1EZSmTyl4EaEZlzQQ7RsrJdBUqNi8kRz_bgfHiVjPpxlfsWjs2H-Yhx_ZXu7msLa20d96BX7rYjdxYdAUYsc23Cc8mlBLCk4EkfeiFmYf5VtTlerc5BwMWMppxg9fHTB_QxheaKVbIu-DMU_JEk5HhV5CinqezfHOQI3goO82BZRECcGNDA4w3pUXbVXdiWlUiJT8HlDWwFZssdC6TB6TIwRcYtGyEjZZWPo97aWe5nY5QQrJKFBpBzo7cfe_yhMWyaNKlTUGXUp_JGEO6LagBV6J5EWFwL1_QIQPhbQQknCo5yU1kc2J4LEAcareRfvG8pJUGMCgIVfwazmpmx5VjfJNsG1FZYR5KAfy2rOwsTiIsRa_Ae78EurugKoXZZJwStW_nEE-IibYBavxWlFaUMDvbEMw0tD6IMKJkMfaWO9PhfPucfHc1oI6XlYlZG9bFRjsgfctmvt2GmnRAdvi3MLXMJ6t1MutmW-qiAIzhZWfkKxD4zEtCt743mtu0kgBQCPF3g9QwE_P0kRKcYo05bowzMJ-FD662TyIgKJTxqmk0MSfTwN8Yx5uyospAJoPDE9XDqAPZJrmxOQFHhn6Smf2RLVEnYj4xe5clCYKGfJqplrysefb7pJnnn3E7wNSwkxYlmEhnFyXqUMznDxgovErVK2JMJidScmiWpl6qVh8pxmOjPNmoh0VUBTJGauK7t7CAU222R8NAtWKGpCIKNB8qwxgLaXsZWMrzUrvAGyL6Owilx4vBlxYnC2UQlRz2hL-Msw73Bl6hphfSpLC7TxsERm2BL0VVzwUjDNgUhHpQs3wCKjWDlL2sUNgWIj5qlk3SonXRlBgrRpG4efQQvbYboOWJNX2HJeSqRHYkbqxqPimxB21C_yy_BMnj9V0MeU2pXllprX7rDpXvFUXwA9ibgJ58a80XfVqRJKmln0iMXlsNFiJHQpLkXBY3bbtF-xCL9UUxn71Q1B0OwFXvkSB6Ob1r3O6HgU-kYxUdfqnfprfR8NlEOflClP_vsYwNrI-Sig', 'pushpq.e6StK_Ad4dQjihBCofkIx5KfoNN_sLwDIWQ3ZBduYWxNQyonYpc35gqtMQkTMIYKahZBCztHsZBKqBVog2urUFlRjke-7LgHHLacTWJbyjm5K7qsFXN_A-O2EMhGAQy6p4uMu6a4L4xgUvuDh5JdYnI386HLllF9xKJHglOCoAAtfLRdF_iXbTYrH6q2aKJ7kXOWLJMs8lpptAY7T7zJ9hsoJWxXadyvmKBOsTAOQdN9DKIPrLiTrrULLHEQzgmcb1wjk1kAxJJb15PBEMg4Zke2sEiwIao9GAuV1DG7v_U1jsFQc4qYtxIhzStVAllypdETdcU_jcc_ViGiowZEQPSEH3TI_6F3bmHHNYV2ocnB3wBsA_M7fpqIIboB-GRkmPOfJ_EGt4WX4ukTN6wydEkE-AtzA1WJG7WPPBha1irNTthQKyfLzXSo2JU211uoEZYELONlLLwVnVqyPll0O3QvqkWhXECyShvKjwReiCJvBnCHVSZdLHJ5GghENITKx2EhSIqEZAECjnfPApVHvna-XNAkKakm4Qux5UWR7nNPJ4wDRKSWoqYA2IZgouNW6aXEWwGOiISf7UAxIik6mIImfZynSdlUrOAfiuOxDxo0kaTFUdNRSQKf4aWuGbHDFsornneBePSzTViVRPRqlIY_GeAbgyY0-OGRpCLP7URlKZPKXgRoRmXNBDtGysl0FSo2LyRHP9uB8eJWM-nGV-xaOzYf5iHH9le7uawtrbR33oFfutiN3Fh0BRixzbcJzyaUEsKTgSR96IWZh_lW1OV6tzkHAxYymnGD18dMH9DGF5opVsi74MxT8kSTkeFXkKKep7N8c5AjeCg7zYFlEQJwY0MDjDelRdtVd2JaVSIlPweUNbAVmyx0LpMHpMjBFxi0bISNllY-j3tpZ7mdjlBCskoUGkHOjtx97_KExbJo0qVNQZdSn8kYQ7otqAFXonkRYXAvX9AhA-FtBCScKjnJTWRzYngsQBxqt5F-8byklQYwKAhV_BrOambHlWN8k2wbUVlhHkoB_Las7CxOIixFr8B7vwS6u6AqhdlknBK1b-cQT4iJtgFq_FaUVpQwO9sQzDS0PogwomQx9pY70-F8-5x8dzWgjpeViVkb1sVGOyB9y2a-3YaadEB2-Lcwtcwnq3Uy62Zb6qIAjOFlZ-QrEPjMS0K3vjea27SSAFAI8XeD1DAT8_SREpxijTlujDMwn4UPrrZPIiAolPGqaTQxJ9PA3xjHm7KiykAmg8MT1cOoA9kmubE5AUeGfpKZ_ZEtUSdiPjF7lyUJgoZ8mqmWvKx59vukmeefcTvA1LCTFiWYSGcXJepQzOcPGCi8StUrYkwmJ1JyaJamXqpWHynGY6M82aiHRVQFMkZq4ru3sIBTbbZHw0C1YoakIgo0HyrDGAtpexlYyvNSu8AbIvo7CKXHi8GXFicLZRCVHPaEv4yzDvcGXqGmF9KksLtPGwRGbYEvRVXPBSMM2BSEelCzfAIqNYOUvaxQ2BYiPmqWTdKiddGUGCtGkbh59BC9thug5Yk1fYcl5KpEdiRurGo-KbEHbUL_LL8EyeP1XQx5TaleWWmtfusOle8VRfAD2JuAnnxrzRd9WpEkqaWfSMgKNuk', '\x7141f3717771636522f77eb1c03b312a804e6694f8f2982b7703cd789f9a41b2');
INSERT INTO sealed_push.entries VALUES (1, 1, 10, 1795000000000, 1797592000000, NULL, '0ed3d4d5-d933-8a41-a409-17eff2f7bda8', 'JK5A1ZBJ99cSfiCwoYojwA', '\x7b22617073223a7b22616c657274223a22596f7520686176652061206e6577206d65737361676521222c226d757461626c652d636f6e74656e74223a317d2c22637573746f6d2d656e637279707465642d6d657373616765223a22413971414e4c7247647744347a5a59744d755f684242595a75355f33525a7973695457324254423270457168695f452d564c637764676f5158514f71555a45536d503678355031595a77755f5565644230687661315973712d59524f545f5f79482d70765931764952486a624b584472574c57567776476c5f3074396563784559684e443337324f70536e7352756b716f51485a30415764356d6157656669726e686a6c6d5954756d4262306e377677594932525266754e725635696a30637058384a575370347a64354977676c4f564477654e554738784f6f6d524d4465465436426c5665515f7a5f50584f4b6b4d795036714343327635763067456f2d426f473559553751684b4450447a525650482d483971475a416837726e7574566741687a4a6753377744736741734a704c49693357736e70424c38704331464a706f4d744b7a6b7779786a4367376679515547344c31646563744d364a6a7a37305f6173564d6166316c666b716b4b4447744d53585741626d45386b6661564e7a58514d6767693662316c6e35536b796d7977705758775355324b38444247303072734f3552766c315545504b53773632435f6579704a564c3758695244626542507172334531495073426b57764e333731476b544d4771645048677866665178395f43675f3250334759463845653659593953355239395964474a76447a6e326579324e4947625653563433445936333445694378396862724c6c464c456356386776476449394f6375353934374b5f7a6d324577374336494b50797551416c596f71414b544b4838475a58614332747a4e68364e69795179526b415f4474435578445f626a336b70474b73412d65704d7a6c3464557750343867757a39487953585a78734f576f6c4c326544354f304a613176487755587866344c704b39665f73734f76714247505339475363657147383937696648597542423048514e613247594f5934796a77525a6c5730446d677870436468544935586d666f597a6a65586946424f377552424976712d666879704556724372476f4f38486532553973786f545f53684b58694279506e624830665f36303637514b74764f484176737041735f75347859452d446b415456526751386332726e6f546832397579706d376e6368396763444b354e326671725545775f6f6950524a71562d796b7032597344386f4534534b4b77674671634c6545546775763675565664696945646d46484a7441536e4b515267736661585a41546b437557674a6f355631626d4d706a526e7676314a45726d6557787073373268544357663454586173364341415637307a314f354e57435a6e68687330577735357452565232462d32434248456f495847344768417562346e6b6c4437455057317057494f7553574e46326b57334e30706a4a635639727349654e71696e496776334d70655a5679395352484531463750364a613371703350624366662d4d4a66507838672d526a6e41366e445f33566d50437846497931664e56744d49586e6c62654544727a326a50334550726f4c5f6169316667392d445f63384b44373938694f6d4c316d674950526450667343796951627839466e685a454c5f4d6f31686652774b5051437874634c434334724b526d37487832696675445f556b73635a7530753857626b6f4a3955756976315645527768743565546773545375334a6f634b615a6171486c523345576c797348696a6d2d62615953784c74353374784a6b686758545646344c5a6b4439355269365947426369327139687261776548725432453778503363354d324650576256792d76616b7146706b72643865753474356e75324542457a7a636e794c417246544d39483834774f544a3155673074324250386b3959714c7637787070384f4339636a7267696c7a516c7a67737451416132786239756d6353446d717338454f54506a525f59415a797558786d2d38367076615f6c303779562d534748635a756e305551366b37324150686c37644c533353773773485645726359615a583366596e63476f3358345059357932572d55664867564f6365697762765a7161424e45417339706561785a303174755f6454727049507a734948732d476e624b52426b715051425a71514372386b46785f56486c4a634e47333467504f4d6b5f506d3361687a4c7350655632393967347059414d5a4174516257366769395f587834775a625849616c4f43374a38793464526f57485a325230475035466b5a67525737763161464c6544613066524e514b656b4f6155707574465471623668445163674873566a347957645248796e554268415f5762304d787545354e654b6941794747664d4a4a42327932776565516541624368577a41585144434b4b4948735f546d45762d746e56444e4f4879424748762d79774c4b6333467830344458626c4a5f6e5957593830656876475359615a77414a6b766e507931313853336231383156685a304f49795477505436566f59586f79717652592d71447742396b5230726c674c51475437456b386e4e532d7738796c5a65724f4e50324a595f486751744d7a4148327a7a494d6c4d506c5869565a314b66447345336d227d', 'pushsender15ysfzr59xfu8a5ecktp85t5ylxyralrr50dwgjpvuyh8hrqr6d7qvrdtjv', '\x758894204202e70f3215841daea57eb13d6b89ecbcb3b461f8e91ccd135eac85', '6f139956-3a31-446d-bd6b-0c9d0eba9ce0');
INSERT INTO sealed_push.entries VALUES (3, 1, 10, 1795000000000, 1797592000000, NULL, 'a4104406-5e3a-8ced-bf87-a04199808d3e', 'c07ryHs_CqOjAvDNbpK2fQ', '\x7b22617073223a7b22616c657274223a22596f7520686176652061206e6577206d65737361676521222c226d757461626c652d636f6e74656e74223a317d2c22637573746f6d2d656e637279707465642d6d657373616765223a224134394272434b7655776d4838506a4e2d703856495467534b4c644b6f70476f674a2d5f4a6a524c7643324f716c55773868386565324a38744966765569566b4f4b6e69726a4d576578304265532d6363487a4835494c66497a6f7170426d64486d746b7a67634576314e535179376441446c557144306976674e475559795a3462525944472d4a42673564624c79566d76645667357055357177566e496d424b4a306869514d5f494c305431364a525f64563963344b6b74754b62536d6d73496d5a324f5450533375573364344b764c704e445f3966495961777343484159523150737a6330757755347a786947724b38393253614c5045354c4d5f637070336767565f33694a75384f554f6b4b76317255687a78796653394c44306665444331586a7838745178337636475257456239716553775a594464385051794a41324f6a30486e5772574e34485f574c36774678683659556c6c436d656c65506c566f584a457035506c73777a44703257522d7337526c346e416c6f714470587874414b4c727a4e34332d4e3966654d79415a3558576532446c5a766f50744677414b32694b446d663547556a344e654f6d4d496b37345242416d6176366d61504b743375724c4979653055554f53465650796438454474746d49503253485f365a4e33784c3643454d572d5a5a696d30545a7237666e4875565f66613459665976333679395a6277395f423365417132444f6448323849625a47686555654a2d345a6d4f4f6f4e394866526434375635676473754c566c7a6746466164705474775a356b346f6d324c466f5461414c6378644a4f325346316a4f563662797139626d4c3067596968425774737667654f477854566434744e4b624255706a36335973704171544b6462625071684f564d5679596e4971544957345f735839792d666e593142665f487a74796f4c4a484543654665696c4236684e54784764644c666c526278384f394732534c487259507278514b386342674e3255544a595663376e63595a353462334758625a754c62546c546a694c72534b6e515a49364c4c6165665348745966747a495248436a476c3746316767756e4b6563424b5248366e636b634a4837446f7055744a513272386e77797a55424e4864766b79304b34387770494d2d63494e7a55334f535f72726143666d7a41714b754b7168694e5556426672332d38504c796d54463864793368564b447463594b3269715634623064445673545358676e59596b4b43464b6a4b466f5f334154485958377a7a774b623058796e7469425f4375587566594233387435536c65797a4433654b454665555f3965554744546a703254486a543958394f765444674e415a7271345174756c346d667642426c7447756569516e776f356f5a34716c50365a704e514a6e4a3552774b7352556152644e576542625a36335a395a424454493877352d3647377655382d69747249625a574932315a454e736735424b506354486a5548784d314545624b385a735446525a4b71584673724a793347435f7772613134734e65644e316a58346b7673556a744549363148425f704752684d6c484471336841753558463571465372354471344b4b4b5a5a32743775774d6641625a434d4c42327a4757525367707a423366797a662d345a65593363556c37586f554b4b515246383855644f6f455934384b547535634f677451614d562d445a394332506d376164386c416e333254667766584e456d7849585f65433751626e3271656247394e5a6d4d654d304b434367387267747135764a4a514c7a42524863655a4c4574535369394f4a695567745a4a384a38324e414b35796438686e3762473244593339746f4c4e6554337a517075516f79383152767167534f55475976546676574867735a49554775483445344b53736878486530382d55416b6972516f3179722d78573474452d622d6b4d6f763448427770495f57766e734d784f565532677964366d72796a4b686c59583668554a644b36797973356f42637446505a6d734c7a4f597a59387a6569767175534735723032313477356f7a6d6a56685564627132494f313346506971425035647064304f2d717a4f6e646855716531334f77466c767867714d2d5849646c306e4750317367454a534f697144617731705459393137304559764d656c624c4548786877372d6b686d6a4b2d63734a74346172346470665672584a51426d6737686163314f516b55673247786f3654703371582d536b30787a643658465532782d4f36342d7750457133336f3767416948723663554d356637644863505275455952346d494967336b747232563362493278476a57626c79636779766b796f504d4b46475f58424372474e7a2d505046784c5076397371795949443352724145386968335638376930786a73626c4d43484d7358474576693255415f5f67794a4d50556b6a4e784d70475134657569365037466456587846656368703042553241345462453655733878664f684a6f7a706c70324875457469796435413338364835365152696b6238566e4e7268544a37586671386f443335746a3158754d62464e7577617339334d3177684b516267667148227d', 'pushsender15ysfzr59xfu8a5ecktp85t5ylxyralrr50dwgjpvuyh8hrqr6d7qvrdtjv', '\xe18fa32e6c2620c7c67becf6429405dca77a3cc0ab6bd152f23402746e91947b', 'a8ce38b8-addd-48d7-a38d-563bea34ea94');
INSERT INTO sealed_push.generations VALUES (1);
INSERT INTO sealed_push.marks VALUES ('\xdd15dc1d272408a3e680b689825fb526d40cd244653aa9cca37e9cc01e102898');
INSERT INTO sealed_push.meta VALUES (10);
INSERT INTO sealed_push.outcomes VALUES ('6f139956-3a31-446d-bd6b-0c9d0eba9ce0', 0, 'enqueued', 2, 1795000000000);
INSERT INTO sealed_push.outcomes VALUES ('6f139956-3a31-446d-bd6b-0c9d0eba9ce0', 0, 'refused:BadDeviceToken', 1, 1795000000000);
INSERT INTO sealed_push.outcomes VALUES ('a8ce38b8-addd-48d7-a38d-563bea34ea94', 0, 'enqueued', 1, 1795000000000);
INSERT INTO sealed_push.queues VALUES (1, 1, 'apns', 10, 1795000890936, NULL, NULL, 1, 1, 1);
INSERT INTO sealed_push.receipt_devices VALUES ('\xb2481d0e0142f85fa6d95aa4a32318f9', 1795000000000, 1, 1, 20775, 1, 1);
INSERT INTO sealed_push.receipt_failures VALUES ('\xb2481d0e0142f85fa6d95aa4a32318f9', 'expired', 1795000000000);
INSERT INTO sealed_push.receipt_numbers VALUES ('\xb2481d0e0142f85fa6d95aa4a32318f9', '\x142c01427e649ac5066680e2806337aa', 20775);
INSERT INTO sealed_push.receipt_tallies VALUES (20775, 'receipt:shown', 1);
INSERT INTO sealed_push.receipt_tallies VALUES (20775, 'receipt:within:250', 1);
INSERT INTO sealed_push.receipt_tallies VALUES (20775, 'receipt:failed:expired', 1);
INSERT INTO sealed_push.requests VALUES ('\x1e1a7ee1972968bd419dafe0554932971e0ddc153e472fabd034c0f48b0d5621', 'everyone of com.example.app', 9223372036854775807, true, 2, 1795000000000, '6f139956-3a31-446d-bd6b-0c9d0eba9ce0', '\xd6f2a5403b701cd9ab83721a3784899b37159653e54c187b3857d28153109849');
INSERT INTO sealed_push.requests VALUES ('\xfa50cc389d784a86687a18971e828beb0361de40513eea2a29aea03ebf9d3a05', 'everyone of com.example.app', 9223372036854775807, true, 1, 1795000000000, 'a8ce38b8-addd-48d7-a38d-563bea34ea94', '\xd6f2a5403b701cd9ab83721a3784899bff74611b251c9db62a71e65ab1809df6');
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
