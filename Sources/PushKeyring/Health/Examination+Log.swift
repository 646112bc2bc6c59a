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
            return add(
                .logMissing, .file(AuditLog.name), "there are keys, and no audit log of how they came here",
                "if nobody moved it away, compare the keys with a backup")
        }
        let head = readHead()
        guard isThere else {
            guard head?.count != 0 else { return }
            return add(.logCut, .file(AuditLog.name), "the audit log is gone", Self.logAdvice)
        }
        let end: AuditHead?
        do throws(DurableFiles.Failure) { end = try AuditLog.verify(files.file(AuditLog.name)) } catch {
            return note(.file(files.file(AuditLog.name), message: error.message), AuditLog.name)
        }
        guard let end else {
            return add(
                .logBroken, .file(AuditLog.name), "a line of the audit log was changed, put in, cut or taken out",
                Self.logAdvice)
        }
        guard let head else { return }
        guard end == head else { return noteWrongEnd(end, head) }
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
            add(
                .logMismatch, .file(AuditHead.path), "audit-head.txt is gone, which says where the audit log ends",
                Self.logAdvice)
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

    private mutating func noteWrongEnd(_ end: AuditHead, _ head: AuditHead) {
        if end.count < head.count {
            add(
                .logCut, .file(AuditLog.name),
                "the audit log has \(end.count) lines where it should have \(head.count)", Self.logAdvice)
        } else {
            add(
                .logMismatch, .file(AuditLog.name), "the audit log is another one than audit-head.txt speaks of",
                Self.logAdvice)
        }
    }

    private mutating func examineHistory() {
        guard let history = try? AuditHistory(of: files.file(AuditLog.name)) else { return }
        let names = Set(folders.keys.map(\.description))
        for name in history.expectedNames.subtracting(names).sorted() {
            guard let name = KeyName(parsing: name) else { continue }
            add(
                .missing, .name(name), "the audit log speaks of \(name), and its file is gone",
                "restore it from a backup; if somebody deleted it on purpose, leave it")
        }
        if history.expectsTrustList, FileFacts(of: files.file(TrustList.path)) == nil {
            add(
                .missing, .file(TrustList.path), "the audit log speaks of a trust list, and trust.txt is gone",
                "restore it from a backup, or trust anew")
        }
        for entry in entries where !history.knows(entry) {
            add(
                .notInLog, .name(entry.name), "a key of it came here by something else than the keyring",
                "if you did not put its file there, delete it, and find out who did")
        }
    }

    private static let logAdvice =
        "find out what happened; to begin a new log, move audit.jsonl and audit-head.txt to another place"
}
