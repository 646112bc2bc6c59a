internal import Foundation
internal import SealedPush
internal import _PushBase

extension Examination {
    /// The audit log's chain and its end, and whether the files are those that it speaks of.
    mutating func examineLog() {
        // Its lines are put in place one after the other: only the whole can be judged.
        guard !isUnfinished else { return }
        let isThere = FileFacts(of: files.file(AuditLog.name)) != nil
        guard isThere || FileFacts(of: files.file(AuditHead.path)) != nil else {
            guard !folders.isEmpty else { return }
            return add(.logMissing)
        }
        let head = readHead()
        guard isThere else {
            guard head?.count != 0 else { return }
            return add(.logGone)
        }
        let end: AuditHead?
        do throws(DurableFiles.Failure) { end = try AuditLog.verify(files.file(AuditLog.name)) } catch {
            return note(.file(files.file(AuditLog.name), message: error.message), AuditLog.name)
        }
        guard let end else { return add(.logBroken) }
        guard let head else { return }
        guard end == head else {
            return add(
                end.count < head.count
                    ? .logCut(lineCount: end.count, expected: head.count) : .logReplaced)
        }
        examineHistory()
    }

    /// Nil where it can't be read, which is then noted.
    private mutating func readHead() -> AuditHead? {
        let read: [UInt8]?
        do throws(KeyringError) { read = try files.read(AuditHead.path) } catch {
            note(error, AuditHead.path)
            return nil
        }
        guard let bytes = read else {
            add(.logHeadGone)
            return nil
        }
        guard let head = AuditHead(parsing: bytes), let text = TextFile(parsing: bytes) else {
            note(.damaged(files.file(AuditHead.path)), AuditHead.path)
            return nil
        }
        if let key = seal.key, !text.isAuthentic(at: AuditHead.path, under: key.storage) {
            note(.altered(files.file(AuditHead.path)), AuditHead.path)
            return nil
        }
        if !isSealed, text.hasMAC { sealedFiles.append(AuditHead.path) }
        return head
    }

    private mutating func examineHistory() {
        guard let history = try? AuditHistory(of: files.file(AuditLog.name)) else { return }
        let names = Set(folders.keys.map(\.description))
        for name in history.expectedNames.subtracting(names).sorted() {
            guard let name = KeyName(parsing: name) else { continue }
            add(.missing(name))
        }
        if history.expectsTrustList, FileFacts(of: files.file(TrustList.path)) == nil {
            add(.missingTrustList)
        }
        for entry in entries where !history.knows(entry) { add(.notInLog(entry.name)) }
    }
}

/// Which names and keys there should be, as an audit log tells that was verified.
///
/// It judges mildly: where the log leaves a doubt, nothing is expected.
struct AuditHistory {
    /// The names that came and did not go.
    var expectedNames: Set<String> { Set(keys.keys).subtracting(doubtful) }
    /// Whether somebody is trusted.
    var expectsTrustList: Bool { !trusted.isEmpty }

    /// The IDs of the keys of each name.
    private var keys: [String: Set<String>] = [:]
    private var doubtful: Set<String> = []
    private var trusted: Set<String> = []
    private var beginning: Timestamp?

    /// Reads a log of any length in constant memory for each name.
    init(of log: URL) throws(DurableFiles.Failure) {
        var history = AuditHistory()
        try DurableFiles.forEachLine(of: log, limit: AuditLog.maximumLineByteCount) { line in
            guard let members = JSONReader.object(Array(line), maximumByteCount: AuditLog.maximumLineByteCount),
                case .string(let event)? = members["event"], let event = AuditEntry.Event(rawValue: event),
                case .string(let time)? = members["time"]
            else { return }
            if history.beginning == nil { history.beginning = Timestamp(iso8601: time) }
            guard case .string(let key)? = members["key"] else { return }
            var name: String?
            if case .string(let text)? = members["name"] { name = text }
            history.take(event, name, key)
        }
        self = history
    }

    private init() {}

    /// Whether a name's keys came by the keyring, or before its log began.
    func knows(_ entry: KeyringEntry) -> Bool {
        guard let beginning, entry.created >= beginning else { return true }
        let known = keys[entry.name.description] ?? []
        let ids = entry.keys.map { $0.key.keyID.description }
        // Of a device's record, the log names the first key only.
        return entry.isOwn ? known.isSuperset(of: ids) : !known.isDisjoint(with: ids)
    }

    private mutating func take(_ event: AuditEntry.Event, _ name: String?, _ key: String) {
        switch (event, name) {
        case (.generated, let name?), (.imported, let name?), (.restored, let name?), (.rotated, let name?):
            keys[name, default: []].insert(key)
            doubtful.remove(name)
        case (.renamed, let name?): rename(to: name, key)
        case (.removed, let name?): keys[name] = nil
        case (.trusted, _): trusted.insert(key)
        case (.distrusted, _): trusted.remove(key)
        default: break
        }
    }

    /// The log says the new name and a key, not the old name.
    private mutating func rename(to name: String, _ key: String) {
        let former = keys.filter { $0.key != name && $0.value.contains(key) }
        for (old, ids) in former {
            keys[name, default: []].formUnion(ids)
            if former.count == 1 { keys[old] = nil } else { doubtful.insert(old) }
        }
        keys[name, default: []].insert(key)
    }
}
