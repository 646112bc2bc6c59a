#if Postgres
    internal import Clibpq
    package import PushOutbox

    /// Where a database is and how it is reached: a URL as every tool of PostgreSQL's takes, with what is ours added.
    package struct PostgresAddress: Sendable, CustomStringConvertible {
        /// Without a password: it comes from the environment (`PGPASSWORD`), a file (`PGPASSFILE`), or a service file.
        package let description: String
        let parameters: [(String, String)]

        /// - Throws: `connection` for what is no such URL, and for one with a password in it: it would stand in the list of
        ///   processes and in the shell's history.
        package init(parsing text: String) throws(OutboxError) {
            guard text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") else {
                throw .connection("an address begins with postgres://")
            }
            // Its words on what is wrong repeat parts of the address, and one of them may be a password.
            guard let options = PQconninfoParse(text, nil) else {
                throw .connection("an address is postgres://USER@HOST/DATABASE, with options that libpq knows")
            }
            defer { PQconninfoFree(options) }
            var given: Set<String> = []
            var option = options
            while let keyword = option.pointee.keyword {
                if option.pointee.val != nil { given.insert(String(cString: keyword)) }
                option += 1
            }
            guard given.isDisjoint(with: ["password", "sslpassword"]) else {
                throw .connection(
                    "a password in an address can be read by others: leave it out, and put it into PGPASSWORD, or into a file that PGPASSFILE names"
                )
            }
            description = text
            parameters =
                [("dbname", text)] + Self.defaults.filter { !given.contains($0.0) }
                + [("client_encoding", "UTF8"), ("fallback_application_name", "sealedpush")]
        }

        /// A dead host is noticed within 25 s. Of several hosts, the one that can be written to.
        private static let defaults = [
            ("target_session_attrs", "read-write"), ("keepalives_idle", "10"), ("keepalives_interval", "5"),
            ("keepalives_count", "3"), ("tcp_user_timeout", "25000"),
        ]
    }
#endif
