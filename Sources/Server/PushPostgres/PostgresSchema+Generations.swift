#if Postgres
    extension PostgresSchema {
        /// Begins another generation of rows in `queues`; true where one has begun. It does where nothing lives that is older than
        /// this one and nobody is under way who may still make such rows: few that live are moved, and where there are many, time
        /// will show.
        ///
        /// It runs as the schema's owner: whoever delivers can turn generations, and write neither which one is current nor of
        /// which one a row is.
        ///
        /// Source of what each promises the others: Docs/Decisions/0038-the-outbox-in-postgresql.md.
        static let turnFunction = """
            CREATE FUNCTION sealed_push.turn() RETURNS boolean
            LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
            DECLARE
                newest bigint;
                old_count bigint;
                moved_count bigint;
            BEGIN
                -- An older snapshot would not see the rows that others have made meanwhile, and leave them behind.
                IF current_setting('transaction_isolation') NOT LIKE 'read %' THEN
                    RAISE EXCEPTION 'sealed_push.turn: wants a transaction that is READ COMMITTED' USING ERRCODE = '25001';
                END IF;
                SELECT g.current INTO newest FROM sealed_push.generations g;
                IF pg_try_advisory_xact_lock(\(generationClass), ((newest - 1) % 2147483647)::integer) IS NOT TRUE THEN
                    RETURN false;
                END IF;
                SELECT count(*) INTO old_count FROM (
                    SELECT 1 FROM sealed_push.queues q WHERE q.generation = newest - 1 LIMIT \(movedCount + 1)) AS old;
                IF old_count > \(movedCount) THEN RETURN false; END IF;
                UPDATE sealed_push.queues q SET generation = newest WHERE q.ctid = ANY(ARRAY(
                    SELECT o.ctid FROM sealed_push.queues o WHERE o.generation = newest - 1 FOR UPDATE SKIP LOCKED));
                GET DIAGNOSTICS moved_count = ROW_COUNT;
                -- Some are held by whoever enqueues or settles.
                IF moved_count <> old_count THEN RETURN false; END IF;
                UPDATE sealed_push.generations g SET current = g.current + 1 WHERE g.current = newest;
                RETURN FOUND;
            END $$;

            """

        private static let movedCount = 2_000
    }
#endif
