#if Postgres
    import PushOutbox

    extension PostgresSchema {
        /// By these the library enqueues. They run as the schema's owner, so that whoever may only enqueue writes no table
        /// himself: what he has written is as whole as what anybody else has, and he finds nobody's messages by looking.
        static let storeFunctions = moment + lineUp + store + request + nextRange

        /// When something is enqueued: by the caller's clock where that is within a day of ours. Whoever may do all that the owner
        /// may gives any time, as he could write it himself.
        private static let moment = """
            CREATE FUNCTION sealed_push.moment(given bigint) RETURNS bigint LANGUAGE sql VOLATILE
            RETURN CASE WHEN abs(given - sealed_push.milliseconds()) <= \(Tally.millisecondsPerDay)
                OR pg_has_role(session_user, current_user, 'USAGE') THEN given ELSE sealed_push.milliseconds() END;

            """

        /// Lets what waits for devices be taken, in the better of the lanes; a back-off or lease goes on. The devices' rows are
        /// the caller's. No entry of a device that waits has a lower number than its head; NULL where none was numbered yet.
        ///
        /// The queues' rows are held until the transaction's end, so that the entries of one device are numbered in the order
        /// in which they become visible. What is made now begins behind all numbers that were given before.
        private static let lineUp = """
            CREATE FUNCTION sealed_push.line_up(devices bigint[], priorities bigint[], heads bigint[], due bigint)
            RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
            DECLARE
                newest bigint := sealed_push.generation();
                found record;
            BEGIN
                SELECT array_agg(l.place) FILTER (WHERE l.is_other) AS places,
                    array_agg(l.priority) FILTER (WHERE l.is_other) AS priorities,
                    array_agg(l.head) FILTER (WHERE l.is_other) AS heads,
                    array_agg(l.device) FILTER (WHERE l.place IS NULL) AS new_devices,
                    array_agg(l.priority) FILTER (WHERE l.place IS NULL) AS new_priorities,
                    array_agg(l.head) FILTER (WHERE l.place IS NULL) AS new_heads
                INTO found FROM (
                    SELECT x.device, q.place, greatest(q.priority, x.priority) AS priority, least(q.head, x.head) AS head,
                        x.priority > q.priority OR x.head < q.head AS is_other
                    FROM unnest(line_up.devices, line_up.priorities, line_up.heads) AS x(device, priority, head)
                        LEFT JOIN LATERAL (
                            SELECT o.ctid AS place, o.priority, o.head FROM sealed_push.queues o
                            WHERE o.generation IN (newest - 1, newest) AND o.device = x.device FOR UPDATE) AS q ON true
                ) AS l;
                IF found.places IS NOT NULL THEN
                    UPDATE sealed_push.queues q SET priority = x.priority, head = x.head
                    FROM unnest(found.places, found.priorities, found.heads) AS x(place, priority, head)
                    WHERE q.ctid = x.place;
                END IF;
                IF found.new_devices IS NOT NULL THEN
                    INSERT INTO sealed_push.queues(generation, device, carrier, priority, due, head)
                    SELECT newest, x.device, d.carrier, x.priority, line_up.due, coalesce(x.head, s.last_value)
                    FROM unnest(found.new_devices, found.new_priorities, found.new_heads) AS x(device, priority, head)
                        JOIN sealed_push.devices d ON d.id = x.device, sealed_push.entries_id_seq s;
                END IF;
            END $$;

            """

        /// Stores pushes for devices, in ascending order, and notes it under the key. False, and nothing stored, where a device
        /// is not as it was read, or somebody else has stored the same: the range that begins there, or all under the key.
        private static let store = """
            CREATE FUNCTION sealed_push.store(
                key bytea, audience text, start bigint, now bigint, priority bigint, sender text, devices bigint[],
                revisions bigint[], stale bigint[], expirations bigint[], apns_ids text[], collapse_ids text[],
                bodies bytea[], codes bytea[]
            ) RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
            DECLARE
                device_count integer := cardinality(store.devices);
                held_count bigint;
                sender_id integer;
                made bigint;
            BEGIN
                IF (store.priority IN (5, 10) AND store.now \(isTime) AND device_count <= 10000
                    AND coalesce(octet_length(store.key) = 32, store.start IS NULL)
                    AND octet_length(store.audience) BETWEEN 1 AND 1024
                    AND (
                        SELECT count(*) = device_count AND coalesce(bool_and(coalesce(
                            x.device IS NOT NULL AND x.stale \(isTime)
                                AND coalesce(x.expiration \(isExpiration), true)
                                AND x.apns_id \(isIdentifier) AND x.collapse_id \(isCollapseID)
                                AND octet_length(x.body) BETWEEN 2 AND 4096 AND coalesce(octet_length(x.code) = 32, true),
                            false)), true)
                        FROM unnest(store.devices, store.stale, store.expirations, store.apns_ids, store.collapse_ids,
                            store.bodies, store.codes) AS x(device, stale, expiration, apns_id, collapse_id, body, code))
                ) IS NOT TRUE THEN
                    RAISE EXCEPTION 'sealed_push.store: these are no pushes' USING ERRCODE = '22023';
                END IF;
                made := sealed_push.moment(store.now);

                IF store.start IS NOT NULL THEN
                    PERFORM 1 FROM sealed_push.ranges r WHERE r.key = store.key AND r.start = store.start FOR UPDATE;
                    IF NOT FOUND THEN RETURN false; END IF;
                END IF;
                IF device_count > 0 THEN
                    -- Until the end: a change of user or key comes before this, or finds what is enqueued, and discards it.
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
                    INSERT INTO sealed_push.requests(key, audience, position, is_complete, enqueued, created)
                    VALUES (store.key, store.audience, 9223372036854775807, true, device_count, made)
                    ON CONFLICT ON CONSTRAINT requests_pkey DO NOTHING;
                    IF NOT FOUND THEN RETURN false; END IF;
                END IF;
                IF device_count > 0 THEN
                    sender_id := sealed_push.sender_number(store.sender);
                    PERFORM sealed_push.line_up(store.devices, array_fill(store.priority, ARRAY[device_count]),
                        array_fill(NULL::bigint, ARRAY[device_count]), made);
                    INSERT INTO sealed_push.entries(device, priority, enqueued, stale, expiration, apns_id, collapse_id, body,
                        sender, code)
                    SELECT x.device, store.priority, made, least(x.stale, made + \(EnqueueOrder.lifetime)), x.expiration,
                        x.apns_id, x.collapse_id, x.body, sender_id, x.code
                    FROM unnest(store.devices, store.stale, store.expirations, store.apns_ids, store.collapse_ids,
                        store.bodies, store.codes) AS x(device, stale, expiration, apns_id, collapse_id, body, code);
                    PERFORM sealed_push.wake();
                END IF;
                RETURN true;
            END $$;

            """

        /// How far a message has come, for who knows its key.
        private static let request = """
            CREATE FUNCTION sealed_push.request(
                key bytea, OUT audience text, OUT "position" bigint, OUT is_complete boolean, OUT enqueued bigint
            ) RETURNS SETOF record LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
                SELECT r.audience, r.position, r.is_complete, r.enqueued FROM sealed_push.requests r
                WHERE r.key = request.key
            $$;

            """

        /// Begins a range of a message for everyone, or returns one that was begun and is not stored; all NULL where none is
        /// left. Whoever else begins one waits until this has moved the position on.
        private static let nextRange = """
            CREATE FUNCTION sealed_push.next_range(
                key bytea, audience text, topic text, now bigint, size bigint, OUT start bigint, OUT last bigint
            ) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
            DECLARE
                known record;
                ahead record;
            BEGIN
                IF (octet_length(next_range.key) = 32 AND octet_length(next_range.audience) BETWEEN 1 AND 1024
                    AND next_range.now \(isTime) AND next_range.size BETWEEN 1 AND 10000) IS NOT TRUE
                THEN
                    RAISE EXCEPTION 'sealed_push.next_range: this is no message' USING ERRCODE = '22023';
                END IF;
                INSERT INTO sealed_push.requests(key, audience, position, is_complete, enqueued, created)
                VALUES (next_range.key, next_range.audience, 0, false, 0, sealed_push.moment(next_range.now))
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
                        start := known.position;
                        last := ahead.last;
                        INSERT INTO sealed_push.ranges(key, start, last)
                        VALUES (next_range.key, next_range.start, next_range.last);
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
