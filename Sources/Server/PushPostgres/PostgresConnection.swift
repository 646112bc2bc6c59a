#if Postgres
internal import Clibpq
package import PushOutbox
internal import Dispatch
internal import PushCore

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A connection to a server, over libpq's asynchronous calls, so that every wait has a limit. `Sendable` is unchecked:
/// every member except ``run(_:)`` and ``interrupt()`` is used only on its queue.
package final class PostgresConnection: @unchecked Sendable {
    private let handle: OpaquePointer
    private let queue = DispatchQueue(label: "outbox.postgres")
    /// The names of prepared statements, by their text.
    private var statements: [String: String] = [:]
    /// A byte in this pipe ends ``waitForNotification(for:)``.
    private let interruption: (read: CInt, write: CInt)

    /// Connects, and blocks until done. Throws `unreachable` if trying again may help, or `connection` if it won't.
    private init(_ address: PostgresAddress) throws(OutboxError) {
        let keywords = address.parameters.map { Array($0.0.utf8) + [0] } + [nil]
        let values = address.parameters.map { Array($0.1.utf8) + [0] } + [nil]
        let handle = Self.withPointers(keywords) { keywords in
            Self.withPointers(values) { PQconnectStartParams(keywords, $0, 1) }
        }
        guard let handle else { throw .unreachable("libpq is out of memory") }
        self.handle = handle
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else {
            PQfinish(handle)
            throw .unreachable("no file descriptors are left")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        interruption = (ends[0], ends[1])
        try connect()
    }

    deinit {
        PQfinish(handle)
        close(interruption.read)
        close(interruption.write)
    }

    /// Opens a connection without blocking the caller's thread.
    static func open(_ address: PostgresAddress) async throws(OutboxError) -> PostgresConnection {
        try await blocking(on: .global()) { () throws(OutboxError) in
            let connection = try PostgresConnection(address)
            // The rest must not be cut off by the role's own limit.
            try connection.script("SET statement_timeout = '60s'")
            try connection.script(session)
            return connection
        }
    }

    /// Sets whatever a role's or database's own settings could change. Names are looked up in `pg_catalog` before
    /// temporary objects. A dead client's locks are released after a minute. A commit is on the disk before it's
    /// confirmed, and on the synchronous standby, if there is one.
    private static let session = """
        SET search_path = pg_catalog, pg_temp; SET jit = off; SET standard_conforming_strings = on;
        SET lock_timeout = '30s'; SET idle_in_transaction_session_timeout = '60s'; SET idle_session_timeout = 0;
        SELECT set_config('synchronous_commit', 'on', false)
        WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply');
        -- Since PostgreSQL 17.
        SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout'
        """

    /// Runs a body that may block, on the connection's own thread, after earlier ones.
    func run<Answer: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws(OutboxError) -> Answer
    ) async throws(OutboxError) -> Answer {
        try await Self.blocking(on: queue) { () throws(OutboxError) in try body(self) }
    }

    private static func blocking<Answer: Sendable>(
        on queue: DispatchQueue, _ body: @escaping @Sendable () throws(OutboxError) -> Answer
    ) async throws(OutboxError) -> Answer {
        let result: Result<Answer, OutboxError> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }

    /// False once the server or the network has ended the connection.
    var isUsable: Bool { PQstatus(handle) == CONNECTION_OK }

    /// Whether the connection is outside a transaction.
    var isIdle: Bool { PQtransactionStatus(handle) == PQTRANS_IDLE }

    // MARK: Statements

    /// Runs one statement, prepared on first use.
    @discardableResult
    func rows(_ sql: String, _ values: [PostgresValue] = []) throws(OutboxError) -> PostgresRows {
        let name = try prepared(sql, values)
        let encoded = values.map(\.encoded)
        let lengths = encoded.map { CInt($0?.count ?? 0) }
        let formats = encoded.map { _ in CInt(1) }
        let isSent = Self.withPointers(encoded) {
            PQsendQueryPrepared(handle, name, CInt(values.count), $0, lengths, formats, 1)
        }
        guard isSent == 1 else { throw failure() }
        return try answer()
    }

    /// Runs a statement that always returns a row.
    func row(_ sql: String, _ values: [PostgresValue] = []) throws(OutboxError) -> PostgresRows.Row {
        guard let row = try rows(sql, values).first else { throw .damaged }
        return row
    }

    /// Returns the number of rows of a table under each name, or another sum.
    func counts(
        by name: String, in table: String, where condition: String = "true", _ values: [PostgresValue] = [],
        sum: String = "count(*)"
    ) throws(OutboxError) -> [String: Int] {
        let sql = "SELECT \(name) AS name, \(sum) AS count FROM sealed_push.\(table) WHERE \(condition) GROUP BY 1"
        var counts: [String: Int] = [:]
        for row in try rows(sql, values) { counts[try row.text("name"), default: 0] += try row.count("count") }
        return counts
    }

    /// Runs statements without parameters, and returns the last one's result in text format.
    @discardableResult package func script(_ sql: String) throws(OutboxError) -> [[String?]] {
        guard PQsendQuery(handle, sql) == 1 else { throw failure() }
        return try answer().cells.map { $0.map { cell in cell.map { String(decoding: $0, as: UTF8.self) } } }
    }

    private func prepared(_ sql: String, _ values: [PostgresValue]) throws(OutboxError) -> String {
        if let name = statements[sql] { return name }
        let name = "s\(statements.count)"
        guard PQsendPrepare(handle, name, sql, CInt(values.count), values.map(\.oid)) == 1 else { throw failure() }
        _ = try answer()
        statements[sql] = name
        return name
    }

    /// Waits for all of a statement's results, whatever they are, because only then is the connection free again.
    private func answer() throws(OutboxError) -> PostgresRows {
        var rows: PostgresRows?
        var problem: OutboxError?
        while PQflush(handle) == 1 { try wait(for: Int16(POLLIN | POLLOUT)) }
        while true {
            while PQisBusy(handle) == 1 {
                try wait(for: Int16(POLLIN))
                guard PQconsumeInput(handle) == 1 else { throw failure() }
            }
            guard let result = PQgetResult(handle) else { break }
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK: rows = Self.rows(of: result)
            default: problem = problem ?? OutboxError(result)
            }
        }
        if let problem { throw problem }
        return rows ?? PostgresRows(names: [:], types: [], cells: [], changedCount: 0)
    }

    private static func rows(of result: OpaquePointer) -> PostgresRows {
        let columns = 0..<PQnfields(result)
        var names: [String: Int] = [:]
        for column in columns { names[String(cString: PQfname(result, column))] = Int(column) }
        let cells = (0..<PQntuples(result)).map { row in
            columns.map { column -> [UInt8]? in
                guard PQgetisnull(result, row, column) == 0, let value = PQgetvalue(result, row, column) else {
                    return nil
                }
                return Array(UnsafeRawBufferPointer(start: value, count: Int(PQgetlength(result, row, column))))
            }
        }
        return PostgresRows(
            names: names, types: columns.map { PQftype(result, $0) }, cells: cells,
            changedCount: Int(String(cString: PQcmdTuples(result))) ?? 0)
    }

    // MARK: Waiting

    /// Waits for a notification on a channel, the end of the duration, or ``interrupt()``.
    func waitForNotification(for duration: Duration) throws(OutboxError) {
        let end = ContinuousClock.now + duration
        while true {
            guard PQconsumeInput(handle) == 1 else { throw failure() }
            if let notification = PQnotifies(handle) {
                PQfreemem(notification)
                while let another = PQnotifies(handle) { PQfreemem(another) }
                return
            }
            let left = end - ContinuousClock.now
            guard left > .zero else { return }
            var watched = [
                pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0),
                pollfd(fd: interruption.read, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&watched, 2, CInt(clamping: left.milliseconds + 1))
            guard watched[1].revents == 0 else {
                var byte: UInt8 = 0
                _ = read(interruption.read, &byte, 1)
                return
            }
        }
    }

    /// Ends a wait for a notification, this one or the next. Can be called from any thread.
    func interrupt() {
        var byte: UInt8 = 0
        _ = write(interruption.write, &byte, 1)
    }

    private func connect() throws(OutboxError) {
        let end = ContinuousClock.now + Self.connectLimit
        var events = Int16(POLLOUT)
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        guard PQstatus(handle) != CONNECTION_BAD else { throw connectFailure() }
        while true {
            try wait(for: events, until: end)
            switch PQconnectPoll(handle) {
            case PGRES_POLLING_READING: events = Int16(POLLIN)
            case PGRES_POLLING_WRITING: events = Int16(POLLOUT)
            case PGRES_POLLING_OK:
                guard PQsetnonblocking(handle, 1) == 0 else { throw failure() }
                PQsetNoticeProcessor(handle, { _, _ in }, nil)
                return
            default: throw connectFailure()
            }
        }
    }

    /// Permanent failures, such as a wrong password or a missing database, are reported at once. They are recognized by
    /// the SQLSTATE, which precedes the server's message at this verbosity, in any language. Without one, libpq itself
    /// has failed, with a reason for each host. That is transient, unless a name or a certificate is wrong.
    private func connectFailure() -> OutboxError {
        let words = words()
        let code = words.split(separator: " ").first { word in
            word.utf8.count == 6 && word.hasSuffix(":") && word.utf8.contains(where: \.isDigit)
                && word.utf8.dropLast().allSatisfy { $0.isDigit || (0x41...0x5a).contains($0) }
        }
        // Source: PostgreSQL 15, appendix A: connections not permitted, and names that don't exist or can't be parsed.
        let lasting = ["08P01", "0A", "22", "28", "3D", "42"].contains { code?.hasPrefix($0) ?? false }
        let reasons = words.split(separator: "; ").filter { !$0.hasPrefix("\t") }
        return lasting || PQconnectionNeedsPassword(handle) == 1
            || code == nil && !reasons.isEmpty && reasons.allSatisfy(Self.isLasting)
            ? .connection(words) : .unreachable(words)
    }

    /// Checks libpq's own messages, which aren't localized because the program never sets a locale.
    private static func isLasting(_ reason: Substring) -> Bool {
        ["invalid ", "could not parse "].contains { reason.hasPrefix($0) }
            || reason.hasPrefix("could not translate host name") && !reason.contains("Temporary failure")
            || ["does not support SSL", "certificate", "authentication method requirement"].contains {
                reason.contains($0)
            }
    }

    /// The server process announced at connection time. A pooler makes up a number.
    var announcedSession: [[String?]] { [[String(PQbackendPID(handle))]] }

    /// The server process that runs the statement.
    func session() throws(OutboxError) -> [[String?]] { try script("SELECT pg_backend_pid()") }

    private func wait(for events: Int16, until end: ContinuousClock.Instant? = nil) throws(OutboxError) {
        let limit = end.map { max($0 - ContinuousClock.now, .zero) } ?? Self.answerLimit
        var watched = pollfd(fd: PQsocket(handle), events: events, revents: 0)
        guard watched.fd >= 0 else { throw failure() }
        while true {
            let count = poll(&watched, 1, CInt(clamping: limit.milliseconds))
            if count > 0 { return }
            if count == 0 { throw .unreachable("no answer within \(limit.components.seconds) s") }
            guard errno == EINTR else { throw .unreachable(String(cString: strerror(errno))) }
        }
    }

    // MARK: Failures

    private func failure() -> OutboxError { .unreachable(words()) }

    private func words() -> String { OutboxError.oneLine(PQerrorMessage(handle)) }

    private static let connectLimit = Duration.seconds(10)
    /// The server applies a shorter limit to statements.
    private static let answerLimit = Duration.seconds(90)

    private static func withPointers<Answer>(
        _ values: [[UInt8]?], _ body: ([UnsafePointer<CChar>?]) -> Answer
    ) -> Answer {
        // One buffer for all values. Even an empty value needs an address, since a null pointer means NULL.
        var buffer: [CChar] = []
        buffer.reserveCapacity(values.reduce(0) { $0 + ($1?.count ?? 0) } + 1)
        var offsets: [Int?] = []
        for value in values {
            offsets.append(value == nil ? nil : buffer.count)
            if let value { buffer.append(contentsOf: value.lazy.map { CChar(bitPattern: $0) }) }
        }
        buffer.append(0)
        return buffer.withUnsafeBufferPointer { bytes in
            body(offsets.map { offset in offset.flatMap { bytes.baseAddress?.advanced(by: $0) } })
        }
    }
}

extension OutboxError {
    /// Source: PostgreSQL 15, appendix A.
    fileprivate init(_ result: OpaquePointer) {
        let words = Self.oneLine(PQresultErrorField(result, 77) ?? PQresultErrorMessage(result))
        guard let field = PQresultErrorField(result, 67) else {
            self = .unreachable(words)
            return
        }
        let code = String(cString: field)
        switch code {
        // The server is stopping, starting, out of connections, or now the standby. Or it has ended the session.
        case "57P01", "57P02", "57P03", "57P04", "57P05", "53300", "25006", "25P03", "25P04":
            self = .unreachable(words)
        case "53100": self = .diskFull
        case "42501": self = .notPermitted(words)
        case "55P03", "57014": self = .busy
        case let code where code.hasPrefix("08"): self = .unreachable(words)
        case let code where code.hasPrefix("XX0"): self = .damaged
        default: self = .server(code: code, words)
        }
    }

    fileprivate static func oneLine(_ text: UnsafePointer<CChar>?) -> String {
        guard let text else { return "" }
        return String(cString: text).split(separator: "\n").joined(separator: "; ")
    }

    /// Whether the connection, or the server behind it, can't be used now.
    var isAbsence: Bool { if case .unreachable = self { true } else { false } }

    /// Whether another transaction got in the way or the server was too slow, so that a retry should succeed.
    var isCollision: Bool {
        switch self {
        case .busy: true
        case .server(let code, _): code == "40001" || code == "40P01"
        default: false
        }
    }
}
#endif
