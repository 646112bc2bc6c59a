internal import Foundation
internal import PushCrypto
public import SealedPush
internal import _PushBase

/// The append-only file `audit.jsonl`: JSON lines, each of which ends with `chain`, the BLAKE2b-256 of the chain before
/// it and of its own other bytes. `audit-head.txt` keeps the last one, under the keyring's MAC where it is sealed.
///
/// An edited, inserted or missing line breaks the chain, and lines cut from the end don't fit the head. In a keyring
/// that is not sealed, whoever may write the files can rewrite both.
enum AuditLog {
    static let name = "audit.jsonl"

    /// The lines for these entries, the first of them following `head`.
    static func lines(_ entries: [AuditEntry], after head: AuditHead) -> (bytes: [UInt8], head: AuditHead) {
        var head = head
        var bytes: [UInt8] = []
        for entry in entries {
            let start = entry.start
            let chain = Self.chain(head.chain, start)
            bytes += start + Array("\(chainStart)\(Hex.encode(chain))\(chainEnd)\n".utf8)
            head = AuditHead(count: head.count + 1, chain: chain)
        }
        return (bytes, head)
    }

    /// Follows the chain through a whole log, in pieces; nil where it is broken, or the last line has no end.
    static func verify(_ file: URL) throws(DurableFiles.Failure) -> AuditHead? {
        var head = AuditHead.start
        var isWhole = true
        var byteCount = 0
        try DurableFiles.forEachLine(of: file, limit: maximumLineByteCount) { line in
            let tail = chainStart.utf8.count + 64 + chainEnd.utf8.count
            guard isWhole, line.count > tail else {
                isWhole = false
                return
            }
            let start = Array(line.dropLast(tail))
            let chain = chain(head.chain, start)
            isWhole = Array(line.suffix(tail)) == Array("\(chainStart)\(Hex.encode(chain))\(chainEnd)".utf8)
            head = AuditHead(count: head.count + 1, chain: chain)
            byteCount += line.count + 1
        }
        return isWhole && byteCount == FileFacts(of: file, following: true)?.byteCount ? head : nil
    }

    /// Appends staged lines that are not there yet, and takes them away where they were staged.
    static func append(_ staged: URL, to log: URL) throws(DurableFiles.Failure) {
        let bytes: [UInt8]
        do throws(DurableFiles.Failure) {
            bytes = try DurableFiles.read(staged, limit: byteCount(of: staged))
        } catch {
            if error.code == ENOENT { return }
            throw error
        }
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        let last = try DurableFiles.repairedLastLine(of: log, limit: maximumLineByteCount)
        let known = lines.firstIndex { $0.elementsEqual(last) }
        let missing = known.map { lines[($0 + 1)...] } ?? lines[...]
        try DurableFiles.append(missing.flatMap { $0 + [UInt8(ascii: "\n")] }, to: log)
        unlink(staged.path(percentEncoded: false))
    }

    /// Throws where lines can't be appended: a folder or pipe in the log's place, or a log of another user.
    static func requireAppendable(_ log: URL) throws(DurableFiles.Failure) {
        let descriptor = open(log.path(percentEncoded: false), O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return }
            throw DurableFiles.Failure(code: errno)
        }
        defer { close(descriptor) }
        guard DurableFiles.isRegular(descriptor) else { throw DurableFiles.Failure(code: EINVAL) }
    }

    /// Many keys may be changed at once.
    private static func byteCount(of file: URL) throws(DurableFiles.Failure) -> Int {
        var status = stat()
        guard lstat(file.path(percentEncoded: false), &status) == 0 else { throw DurableFiles.Failure(code: errno) }
        guard status.st_size <= maximumStagedByteCount else { throw DurableFiles.Failure(code: EFBIG) }
        return Int(status.st_size)
    }

    private static func chain(_ previous: [UInt8], _ start: [UInt8]) -> [UInt8] {
        BLAKE2b.hash(previous + start, byteCount: 32)
    }

    private static let chainStart = ",\"chain\":\""
    private static let chainEnd = "\"}"
    private static let maximumStagedByteCount: off_t = 64 << 20
    /// More than any line has.
    static let maximumLineByteCount = 1_024
}

/// Where the log ends: how many lines it has, and the last one's chain.
struct AuditHead: Hashable {
    let count: Int
    let chain: [UInt8]

    static let start = AuditHead(count: 0, chain: [UInt8](repeating: 0, count: 32))
    static let path = "audit-head.txt"

    init(count: Int, chain: [UInt8]) {
        self.count = count
        self.chain = chain
    }

    init?(parsing bytes: [UInt8]) {
        guard let file = TextFile(parsing: bytes), file.paragraphCount == 1, file.names(in: 0) == ["count", "chain"],
            let count = file.text("count", in: 0).flatMap({ Int($0) }), (0..<Int.max).contains(count),
            let chain = file.text("chain", in: 0).flatMap({ Hex.decode($0) }), chain.count == 32
        else { return nil }
        self.init(count: count, chain: chain)
    }

    /// Nil also for a head that is not under this key, where there is one.
    init?(parsing bytes: [UInt8], under key: MasterKey?) {
        if let key {
            guard TextFile(parsing: bytes)?.isAuthentic(at: Self.path, under: key.storage) == true else { return nil }
        }
        self.init(parsing: bytes)
    }

    func text(under key: MasterKey?) -> [UInt8] {
        var writer = TextFileWriter(comment: "Where audit.jsonl ends.", capacity: 512)
        writer.field("count", String(count))
        writer.field("chain", Hex.encode(chain))
        return writer.finish(at: Self.path, under: key)
    }
}

extension AuditEntry {
    /// The line up to its chain.
    fileprivate var start: [UInt8] {
        var writer = JSONWriter(reservingByteCount: 192)
        writer.object { object in
            object.string("time", time.iso8601)
            object.string("event", event.rawValue)
            object.string("name", name?.description)
            object.string("key", key)
            object.string("command", command)
        }
        return writer.bytes.dropLast()
    }
}

/// One line of the audit log: what happened to which key, when, by which command. No secrets.
public struct AuditEntry: Hashable, Sendable {
    public let time: Timestamp
    public let event: Event
    /// Nil where it concerns the keyring as a whole.
    public let name: KeyName?
    /// The key's ID.
    public let key: String?
    /// What did it, such as `keys rotate`.
    public let command: String

    public enum Event: String, Sendable, CaseIterable {
        case generated, imported, renamed, rotated, confirmed, retired, revoked, erased, removed
        /// A challenge was made for somebody else's device.
        case challenged
        /// A device answered a challenge.
        case answered
        /// A secret was shown.
        case exportedSecret = "exported-secret"
        /// A record or a sender set was signed.
        case signed
        /// Passphrase, key or neither: the whole keyring was sealed anew.
        case sealed
        case backedUp = "backed-up"
        case restored
        case trusted, distrusted
    }
}
