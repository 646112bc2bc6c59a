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
