internal import SealedPush

extension Examination {
    /// One name's file.
    mutating func examine(_ name: KeyName, at path: String, isOwn: Bool) {
        let facts = FileFacts(of: files.file(path))
        examineKind(path, facts, is: .file)
        examineMode(path, facts, isPrivate: isOwn)
        let read: [UInt8]?
        do throws(KeyringError) { read = try files.read(path) } catch {
            if facts?.kind == .file || facts?.kind == .link { note(error, path) }
            return
        }
        guard var bytes = read else {
            if facts?.kind == .link { note(.file(files.file(path), message: "the link leads nowhere"), path) }
            return
        }
        defer { wipeSecret(&bytes) }
        if isSealed || !isOwn, SecretText.isIn(bytes) {
            add(.straySecret(path: path, isUnknown: false))
        }
        if !isSealed, TextFile.isOfSealedKeyring(bytes) { sealedFiles.append(path) }
        do throws(KeyringError) {
            let file = try keyring.parse(bytes, at: path, under: seal.key)
            try checkPlace(of: file, at: path, isOwn: isOwn)
            if let entry = KeyringEntry(name: name, file) { entries.append(entry) }
        } catch {
            note(error, path)
        }
    }

    /// Whether all secrets of a private file are in it, and none in a public one.
    private func checkPlace(of file: KeyFile, at path: String, isOwn: Bool) throws(KeyringError) {
        let isWhole =
            isOwn
            ? file.keys.allSatisfy { $0.secret != nil || $0.life.state == .erased }
            : !file.isOwn && file.enrolmentSecret == nil
        guard isWhole else { throw .damaged(files.file(path)) }
        if isOwn, file.enrolment != nil, file.enrolmentSecret == nil { throw .damaged(files.file(path)) }
    }

    /// What two names have in common that they should not.
    mutating func examineNames() {
        for (name, subfolders) in folders.sorted(by: { $0.key.description < $1.key.description })
        where subfolders.count > 1 {
            add(.doubleName(name))
        }
        var names: [AnyPublicKey: [KeyName]] = [:]
        for entry in entries {
            for key in entry.keys where names[key.key]?.contains(entry.name) != true {
                names[key.key, default: []].append(entry.name)
            }
        }
        for (key, names) in names.sorted(by: { $0.key.description < $1.key.description }) where names.count > 1 {
            add(.doubleKey(key.keyID, names: names))
        }
    }

    /// The life of one name's keys.
    mutating func examine(_ entry: KeyringEntry) {
        let active = entry.keys.filter { $0.life.state == .active }
        if let ahead = entry.keys.first(where: { isAhead($0.life.created) }) {
            add(.aheadOfClock(entry.name, ahead.key.keyID, created: ahead.life.created))
        }
        if active.isEmpty { add(.noneInUse(entry.name, isOwn: entry.isOwn)) }
        examineConfirmation(entry, active)
        if entry.isOwn {
            examineErasure(entry)
            examineAge(entry, active)
        }
        if let record = entry.record { examineEnd(of: record, entry) }
    }

    private mutating func examineConfirmation(_ entry: KeyringEntry, _ active: [KeyringEntry.Key]) {
        let isConfirmed = active.contains { $0.life.confirmed != nil }
        if !entry.isOwn, entry.kind == .device, !active.isEmpty, !isConfirmed {
            return add(entry.record == nil ? .unverified(entry.name) : .neverAnswered(entry.name))
        }
        guard let waiting = active.first(where: { $0.life.confirmed == nil }),
            now.seconds(since: waiting.life.created) > RotationRules.confirmationWarning
        else { return }
        add(.unconfirmed(entry.name, waiting.key.keyID, created: waiting.life.created, isOwn: entry.isOwn))
    }

    private mutating func examineErasure(_ entry: KeyringEntry) {
        for key in entry.keys {
            guard let due = key.life.erasureDue, now >= due else { continue }
            add(.erasureDue(entry.name, key.key.keyID, since: due))
        }
    }

    private mutating func examineAge(_ entry: KeyringEntry, _ active: [KeyringEntry.Key]) {
        guard entry.kind != .authority, let newest = active.first else { return }
        let age = now.seconds(since: newest.life.created)
        // One that waits to take its place is spoken of above.
        guard age > Self.oldAge, newest.life.confirmed != nil else { return }
        add(.old(entry.name, newest.key.keyID, age: age))
    }

    private mutating func examineEnd(of record: DeviceRecord, _ entry: KeyringEntry) {
        if now > record.expires {
            add(.recordExpired(entry.name, record.expires, isOwn: entry.isOwn))
        } else if record.isRenewalDue(at: now) {
            add(.recordExpires(entry.name, record.expires, isOwn: entry.isOwn))
        }
    }

    /// Authorities that share a keyring with what they vouch for.
    mutating func examineAuthorities() {
        func own(_ kind: AnyPublicKey.Kind) -> [KeyringEntry] {
            entries.filter { $0.kind == kind && $0.keys.contains(where: \.hasSecret) }
        }
        guard !own(.sender).isEmpty else { return }
        for authority in own(.authority) { add(.authorityOnline(authority.name)) }
    }

    /// Far enough to be no slip of a clock.
    private func isAhead(_ moment: Timestamp) -> Bool {
        moment.seconds(since: now) > TimeRules.maximumLead(isAnonymous: false)
    }

    /// Seconds: 90 days.
    private static let oldAge: Int64 = 90 * 86_400
}
