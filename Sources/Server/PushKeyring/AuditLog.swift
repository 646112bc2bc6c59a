internal import Foundation
internal import PushCore
internal import SealedPush

/// The append-only `audit.jsonl`, with one JSON object per line. `keyring.txt` records its length and hash, so that
/// truncation and edits are detected. Lines are appended before each change. If a process is killed at that point, the log
/// has extra lines, which the next change accepts. A log may list a change that wasn't made, but never lacks one that was.
enum AuditLog {
    /// The known end of the log: its length, and a BLAKE2b-256 hash chained over each line in turn.
    struct End: Hashable, Sendable {
        var byteCount: Int
        var hash: [UInt8]

        static let start = End(byteCount: 0, hash: [UInt8](repeating: 0, count: 32))

        mutating func add(_ line: some Collection<UInt8>) {
            byteCount += line.count + 1
            hash = BLAKE2b.hash(hash + line, byteCount: 32)
        }
    }

    /// Appends entries, and moves the end past them. A truncated or edited log must not block key operations. Entries are
    /// still appended, but the log still won't match.
    static func append(_ entries: [AuditEntry], to log: URL, after end: inout End) throws(DurableFiles.Failure) {
        // Removes an unfinished line that a killed process left.
        try DurableFiles.cutUnfinishedLine(of: log, limit: maximumLineByteCount)
        try end.move(along: log)
        let lines = entries.map(\.line)
        try DurableFiles.append(lines.flatMap { $0 + [UInt8(ascii: "\n")] }, to: log)
        for line in lines { end.add(line) }
    }

    /// Whether a log matches its end, apart from lines after it.
    static func isWhole(_ log: URL, upTo end: End) throws(DurableFiles.Failure) -> Bool {
        guard (FileFacts(of: log)?.byteCount ?? 0) >= end.byteCount else { return false }
        var found = End.start
        try found.move(along: log, upTo: end.byteCount)
        return found == end
    }

    fileprivate static let maximumLineByteCount = 1_024
}

extension AuditLog.End {
    /// Adds the lines of a log that follow this end, and begin before `limit` bytes.
    mutating func move(along log: URL, upTo limit: Int = .max) throws(DurableFiles.Failure) {
        let start = byteCount
        guard let facts = FileFacts(of: log), facts.byteCount > start else { return }
        var reader = try LineReader(log, limit: AuditLog.maximumLineByteCount)
        var offset = 0
        while let line = try reader.next() {
            if offset >= start, byteCount < limit { add(line) }
            offset += line.count + 1
        }
    }

    init?(_ file: borrowing TextFile, in paragraph: Int) {
        guard file.names(in: paragraph) == ["log-bytes", "log-hash"],
            let count = file.text("log-bytes", in: paragraph).flatMap({ Int($0) }), (0..<Int.max >> 1).contains(count),
            let hash = file.text("log-hash", in: paragraph).flatMap({ Hex.decode($0) }), hash.count == 32
        else { return nil }
        self.init(byteCount: count, hash: hash)
    }

    func write(to writer: inout TextFileWriter) {
        writer.field("log-bytes", String(byteCount))
        writer.field("log-hash", Hex.encode(hash))
    }
}

/// One line of the audit log: the event, its time, the key, and the command. It contains no secrets.
struct AuditEntry: Hashable, Sendable {
    let time: Timestamp
    let event: Event
    /// Nil if the event concerns the whole keyring.
    let name: KeyName?
    let key: String?
    /// The command that caused it, such as `keys rotate`.
    let command: String

    fileprivate var line: [UInt8] {
        var writer = JSONWriter(reservingByteCount: 192)
        writer.object { object in
            object.string("time", time.iso8601)
            object.string("event", event.rawValue)
            object.string("name", name?.description)
            object.string("key", key)
            object.string("command", command)
        }
        return Array(writer.bytes)
    }

    enum Event: String, Sendable, CaseIterable {
        case generated, imported, rotated, confirmed, retired, revoked, erased, removed
        case challenged, answered
        case exportedSecret = "exported-secret"
        case signed, sealed
        case backedUp = "backed-up"
        case restored, trusted, distrusted
    }
}
