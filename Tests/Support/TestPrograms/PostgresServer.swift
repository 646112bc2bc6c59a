package import Foundation
import PushCore
import PushOutbox
import PushPostgres
import PushSimulator
package import TestSupport

/// A real server for the tests of one process, in its own folder and on a Unix socket; it ends with them.
///
/// It doesn't sync, because tests don't cut the machine's power. Otherwise, it behaves as installed.
package final class PostgresServer: Sendable {
    package let folder: TemporaryFolder
    private let state = Locked(State())
    /// The server runs while the pipe's write end is open.
    private let life = Pipe()

    private struct State: Sendable {
        var free: [String] = []
        var count = 0
    }

    /// Limits the databases at once; further tests wait. Creating one takes a lock and writes 7 MB.
    private let gate = Gate(width: 12)

    /// The folder with the newest version's programs from Debian's package, or nil if it isn't installed.
    package static let programs: URL? = {
        let folder = URL(filePath: "/usr/lib/postgresql")
        let versions = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        return versions.map { $0.appending(path: "bin") }
            .filter { FileManager.default.isExecutableFile(atPath: $0.appending(path: "initdb").path) }
            .max { $0.path.compare($1.path, options: .numeric) == .orderedAscending }
    }()

    /// The server that the tests share; started at its first use.
    package static let shared = Task { try await PostgresServer() }

    /// PostgreSQL refuses to run as root, so root starts it as the user of Debian's package.
    private static let script = """
        set -e
        cd "$1"
        as=
        if [ "$(id -u)" -eq 0 ]; then as="setpriv --reuid=postgres --regid=postgres --clear-groups"; chown postgres: .; fi
        $as "$2/initdb" -D data -U postgres -A trust -E UTF8 --locale=C --no-sync >initdb.log 2>&1
        start() {
            $as "$2/postgres" -D data -k "$1" -c listen_addresses= -c fsync=off -c full_page_writes=off \\
                -c max_connections=200 -c shared_buffers=64MB >>log 2>&1 &
            server=$!
        }
        end() {
            kill -QUIT $server 2>/dev/null || true
            wait $server || true
        }
        start "$@"
        while read -r word; do
            case $word in
            end) end ;;
            start) start "$@" ;;
            esac
        done
        end
        cd /
        rm -rf "$1"
        """

    package init() async throws {
        guard let programs = Self.programs else { throw Missing() }
        folder = try TemporaryFolder()
        let (path, life) = (folder.path, life)
        // A thread of its own waits for this process: a test that waits for any child would find one that has ended
        // again and again.
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            Thread.detachNewThread {
                do {
                    let server = try Program(at: "/bin/sh").start(
                        ["-c", Self.script, "postgres-server", path, programs.path], input: life.fileHandleForReading)
                    continuation.resume()
                    server.wait()
                } catch { continuation.resume(throwing: error) }
            }
        }
        try life.fileHandleForReading.close()
    }

    /// Stops the server at once (`pg_ctl stop -m immediate`), like a power failure that leaves the disk intact.
    package func end() throws { try life.fileHandleForWriting.write(contentsOf: Data("end\n".utf8)) }

    /// Restarts the server.
    package func start() throws { try life.fileHandleForWriting.write(contentsOf: Data("start\n".utf8)) }

    struct Missing: Error, CustomStringConvertible {
        let description = "PostgreSQL is not installed; Scripts/test installs it (Debian's package postgresql)"
    }

    /// The address of a database.
    package func address(of database: String) -> String { "postgres://postgres@/\(database)?host=\(folder.path)" }

    /// Returns a database with the empty tables of an outbox.
    package func database() async throws -> Database {
        let (name, isNew) = await take()
        if isNew {
            // The server may still be starting.
            let pool = PostgresPool(try PostgresAddress(parsing: address(of: "postgres")), patience: .seconds(300))
            _ = try await pool.connected { connection throws(OutboxError) in
                // Databases are created one at a time, so don't limit the wait.
                try connection.script("SET lock_timeout = 0; SET statement_timeout = 0")
                return try connection.script("CREATE DATABASE \(name)")
            }
        } else {
            let pool = PostgresPool(try PostgresAddress(parsing: address(of: name)), patience: .seconds(300))
            try await pool.connected { connection throws(OutboxError) in
                try connection.script("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
                try connection.script(Self.emptying)
            }
        }
        return try Database(name: name, server: self)
    }

    /// Returns a free or new database's name; waits until one is free if there are too many.
    private func take() async -> (name: String, isNew: Bool) {
        await gate.enter()
        return state.withLock { state in
            if let free = state.free.popLast() { return (free, false) }
            state.count += 1
            return ("test\(state.count)", true)
        }
    }

    private func leave(_ name: String) {
        state.withLock { $0.free.append(name) }
        gate.leave()
    }

    /// Truncating gives a table and its indexes new files, which is slow if there are only a few rows.
    private static let emptying = """
        DO $$
        DECLARE
            found regclass;
        BEGIN
            FOR found IN SELECT format('sealed_push.%I', tablename)::regclass FROM pg_tables
                WHERE schemaname = 'sealed_push' AND tablename NOT IN ('meta', 'generations', 'claims')
            LOOP
                IF pg_relation_size(found) > 1000000 THEN
                    EXECUTE format('TRUNCATE %s CASCADE', found);
                ELSE
                    EXECUTE format('DELETE FROM %s', found);
                END IF;
            END LOOP;
            PERFORM setval(c.oid::regclass, 1, false) FROM pg_class c
            WHERE c.relkind = 'S' AND c.relnamespace = to_regnamespace('sealed_push');
        END $$
        """

    /// A database that is free for another test once this object is deallocated.
    package final class Database: Sendable {
        package let name: String
        package let server: PostgresServer
        private let pool: PostgresPool

        init(name: String, server: PostgresServer) throws {
            self.name = name
            self.server = server
            pool = PostgresPool(try PostgresAddress(parsing: server.address(of: name)), patience: .seconds(300))
        }

        package var address: String { server.address(of: name) }

        /// Runs statements as an operator or an attacker would type them, with table names that need no schema.
        @discardableResult package func run(_ script: String) async throws -> [[String?]] {
            try await pool.connected { connection throws(OutboxError) in
                try connection.script("RESET ROLE; SET search_path = sealed_push, pg_catalog; \(script)")
            }
        }

        /// Runs a statement without the checks of the devices' tables, as the schema's owner can.
        package func runUnchecked(_ statement: String) async throws {
            try await run(
                """
                DO $do$
                DECLARE found record;
                BEGIN
                    CREATE TEMP TABLE checks ON COMMIT DROP AS
                        SELECT conrelid::regclass AS place, conname AS name,
                            regexp_replace(pg_get_constraintdef(oid), ' NOT VALID$', '') AS rule
                        FROM pg_constraint WHERE conname IN ('is_device', 'is_enrollment');
                    FOR found IN SELECT * FROM checks LOOP
                        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', found.place, found.name);
                    END LOOP;
                    EXECUTE $sql$\(statement)$sql$;
                    FOR found IN SELECT * FROM checks LOOP
                        EXECUTE format(
                            'ALTER TABLE %s ADD CONSTRAINT %I %s NOT VALID', found.place, found.name, found.rule);
                    END LOOP;
                END $do$
                """)
        }

        deinit { server.leave(name) }
    }
}
