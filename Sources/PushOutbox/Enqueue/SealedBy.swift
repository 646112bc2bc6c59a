internal import GRDB
public import SealedPush

/// By whose key a push was sealed that waits in an outbox.
public enum SealedBy: Hashable, Sendable {
    case sender(Sender)
    /// By nobody's: devices show such a push only where the app allows that.
    case anonymous
    /// An earlier version of this library has stored it, and did not note it. None is left after 30 days.
    case unknown
}

extension SealedBy: CustomStringConvertible {
    /// `pushsender1…`, `anonymous` or `unknown`.
    public var description: String {
        switch self {
        case .sender(let sender): sender.description
        case .anonymous: "anonymous"
        case .unknown: "unknown"
        }
    }

    /// Reads ``description``; nil for anything else.
    public init?(parsing text: String) {
        switch text {
        case "anonymous": self = .anonymous
        case "unknown": self = .unknown
        default:
            guard let sender = try? Sender(parsing: text) else { return nil }
            self = .sender(sender)
        }
    }
}

/// Sender keys as rows, so that each push holds a number only. Public keys; there are few, and they stay.
enum SenderTable {
    /// Makes the row where there is none; nil for an unknown one.
    static func id(making sealedBy: SealedBy, in db: Database) throws -> Int64? {
        if let id = try id(of: sealedBy, in: db) { return id }
        guard sealedBy != .unknown else { return nil }
        try db.cachedStatement(sql: "INSERT INTO senders(key) VALUES (?)").execute(arguments: [sealedBy.description])
        return db.lastInsertedRowID
    }

    /// Nil where nothing was ever sealed by it.
    static func id(of sealedBy: SealedBy, in db: Database) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT id FROM senders WHERE key = ?"), arguments: [sealedBy.description])
    }

    /// How many rows of a table each has sealed; reads an index only.
    static func counts(of table: String, in db: Database) throws -> [SealedBy: Int] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT key, count FROM (
                    SELECT sender, COUNT(*) AS count FROM \(table) INDEXED BY \(table)_by_sender GROUP BY sender)
                LEFT JOIN senders ON senders.id = sender
                """)
        return Dictionary(
            try rows.map { row in
                let key: String? = try row.value("key")
                return (key.flatMap(SealedBy.init(parsing:)) ?? .unknown, try row.count("count"))
            },
            uniquingKeysWith: +)
    }
}
