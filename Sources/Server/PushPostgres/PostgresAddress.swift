#if Postgres
internal import Clibpq
package import PushOutbox

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The address of a database: a URL in the form that all PostgreSQL tools accept, with our own settings added. It
/// contains no password, which comes from the environment (`PGPASSWORD`), a file (`PGPASSFILE`), or a service file. For
/// a server on another machine, the certificate is checked, unless `sslmode` requests something else.
package struct PostgresAddress: Sendable {
    /// The keywords and values for libpq.
    let parameters: [(String, String)]

    /// - Throws: `connection` if the text is not such a URL, doesn't name a CA file for a server elsewhere, or contains
    ///   a password, which would appear in the process list and in the shell's history.
    package init(parsing text: String) throws(OutboxError) {
        guard text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") else {
            throw .connection("the address must begin with postgres://")
        }
        // libpq's error messages repeat parts of the address, which may include a password.
        guard text.last?.isWhitespace == false, let options = PQconninfoParse(text, nil) else {
            throw Self.malformed
        }
        defer { PQconninfoFree(options) }
        var given: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { given[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        guard given["password"] == nil, given["sslpassword"] == nil else {
            throw .connection(
                "other users can see a password in the address; put it in PGPASSWORD or in the file at PGPASSFILE")
        }
        // A slash that isn't percent-encoded makes a password the port, and the text after it the database.
        guard given["port", default: ""].split(separator: ",").allSatisfy({ UInt16($0) != nil }),
            !["host", "dbname"].contains(where: { given[$0]?.contains("@") ?? false })
        else { throw Self.malformed }
        parameters =
            [("dbname", text)] + Self.defaults.filter { given[$0.0] == nil } + (try Self.encryption(given))
            + Self.authentication(given, version: PQlibVersion())
            + [("client_encoding", "UTF8"), ("fallback_application_name", "sealedpush")]
    }

    private static let malformed = OutboxError.connection(
        "the address must have the form postgres://USER@HOST/DATABASE, with options that libpq supports; percent-encode special characters, and omit the password"
    )

    /// The network could impersonate the server and receive the password. Source: PostgreSQL 15, 34.19. `given`
    /// contains the address's own settings.
    private static func encryption(_ given: [String: String]) throws(OutboxError) -> [(String, String)] {
        // A service file may name another host.
        let isLocal =
            value(given, "service", "PGSERVICE") == nil && hosts(given).allSatisfy(Self.isLocal)
        let mode = value(given, "sslmode", "PGSSLMODE")
        guard !isLocal, mode == nil || ["allow", "prefer"].contains(mode) else { return [] }
        if value(given, "sslrootcert", "PGSSLROOTCERT") != nil { return [("sslmode", "verify-full")] }
        // Older versions don't support `system`.
        guard PQlibVersion() >= 160_000 else {
            throw .connection(
                "the address must name a CA file for checking the server's certificate: add ?sslrootcert=/etc/ssl/certs/ca-certificates.crt, or your own CA's file (sslmode=disable would trust the network)"
            )
        }
        return [("sslmode", "verify-full"), ("sslrootcert", "system")]
    }

    /// Another user of the machine could listen on the port while the server is down, and ask for the password in the
    /// clear. Older versions of libpq would tell it. Source: PostgreSQL 16, 34.1.2, require_auth.
    static func authentication(_ given: [String: String], version: CInt) -> [(String, String)] {
        let isOnPort = hosts(given).contains { isLocal($0) && !$0.hasPrefix("/") }
        guard version >= 160_000, isOnPort, value(given, "require_auth", "PGREQUIREAUTH") == nil else { return [] }
        return [("require_auth", "scram-sha-256,none")]
    }

    private static func value(_ given: [String: String], _ keyword: String, _ variable: String) -> String? {
        given[keyword] ?? getenv(variable).map { String(cString: $0) }
    }

    private static func hosts(_ given: [String: String]) -> [Substring] {
        [value(given, "host", "PGHOST"), value(given, "hostaddr", "PGHOSTADDR")]
            .flatMap { ($0 ?? "").split(separator: ",") }
    }

    /// Whether the host is a socket's folder or this machine.
    private static func isLocal(_ host: Substring) -> Bool {
        host.hasPrefix("/") || ["localhost", "::1"].contains(host)
            || host.wholeMatch(of: /127(\.[0-9]{1,3}){3}/) != nil
    }

    /// A dead host is detected within 25 s. If there are several hosts, the writable one is used.
    private static let defaults = [
        ("target_session_attrs", "read-write"), ("keepalives_idle", "10"), ("keepalives_interval", "5"),
        ("keepalives_count", "3"), ("tcp_user_timeout", "25000"),
    ]
}
#endif
