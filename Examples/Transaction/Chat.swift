#if Postgres
import Clibpq
import Foundation
import PushOutbox
import PushPostgres
import PushSender

/// Stores a chat message and enqueues its pushes in one transaction; `sealedpush work` sends them.
///
/// Usage: `transaction-example READER ID TEXT`, with `DATABASE_URL` and `SENDER_SECRET` in the environment, and
/// `OUTBOX_KEY_FILE` if the outbox has a key.
@main
struct Chat {
    static func main() async throws {
        let environment = ProcessInfo.processInfo.environment
        // `CommandLine.arguments` replaces bytes that aren't UTF-8, which could make two readers' names equal.
        let arguments = (1..<max(1, Int(CommandLine.argc))).compactMap { index in
            CommandLine.unsafeArgv[index].flatMap { String(validatingCString: $0) }
        }
        guard CommandLine.argc == 4, arguments.count == 3, let user = UserName(parsing: arguments[0]) else {
            exit(64)
        }
        let (reader, id, text) = (arguments[0], arguments[1], arguments[2])
        let address = environment["DATABASE_URL"] ?? ""
        let key = try environment["OUTBOX_KEY_FILE"].map { file in
            try OutboxKey(parsing: Array(Data(contentsOf: URL(filePath: file))))
        }
        let sealer = Sealer(
            sender: try SenderPrivateKey(parsing: environment["SENDER_SECRET"] ?? ""), topic: "com.example.app",
            safeDefault: "You have a new message!")
        // A server opens both once and keeps them open.
        let outbox = try await Outbox(postgres: address, key: key)
        let database = try Database(address)

        let devices = try await outbox.devices(of: user).sorted { "\($0.name)" < "\($1.name)" }
        try database.run("BEGIN")
        try database.run(
            "INSERT INTO message(id, reader, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", [id, reader, text])
        for device in devices {
            guard case .enrolled(let phone) = device.keys, let recipient = try? phone.recipient(at: .now()) else {
                print("\(device.name): no proven key")
                continue
            }
            let payload = try sealer.seal(Content(title: "Nina", body: text), to: recipient)
            let arguments = EnqueueArguments(
                payload, from: sealer, for: device.name, key: "message \(id) to \(device.name)", outboxKey: key)
            let answer = try database.run(EnqueueArguments.statement, arguments.parameters)
            print("\(device.name): \(answer ?? "")")
        }
        try database.run("COMMIT")
    }
}

/// A connection to the application's database. Any other PostgreSQL client works, too.
final class Database {
    private let connection: OpaquePointer?

    struct Failure: Error {
        let message: String
    }

    init(_ address: String) throws {
        connection = PQconnectdb(address)
        guard PQstatus(connection) == CONNECTION_OK else { throw failure() }
    }

    deinit { PQfinish(connection) }

    /// Returns the first column of the first row.
    @discardableResult
    func run(_ statement: String, _ parameters: [String?] = []) throws -> String? {
        let texts = parameters.map { text in text.flatMap { strdup($0) } }
        defer { for text in texts { free(text) } }
        let result = PQexecParams(
            connection, statement, Int32(texts.count), nil, texts.map { UnsafePointer($0) }, nil, nil, 0)
        defer { PQclear(result) }
        guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else { throw failure() }
        return PQntuples(result) > 0 ? PQgetvalue(result, 0, 0).map { String(cString: $0) } : nil
    }

    private func failure() -> Failure { Failure(message: String(cString: PQerrorMessage(connection))) }
}
#else
@main
struct Chat {
    static func main() { print("Build it with the `Postgres` trait.") }
}
#endif
