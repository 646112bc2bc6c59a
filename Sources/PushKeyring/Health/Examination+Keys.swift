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
            add(
                .straySecret, .file(path), "\(path) holds a secret key in the clear",
                "take it out, and revoke the key if others may have read it")
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
            add(
                .doubleName, .name(name), "\(name) has a file in private and one in public; the public one is not used",
                "delete the one that is wrong, or give it another name")
        }
        var names: [PublicKey: [KeyName]] = [:]
        for entry in entries {
            for key in entry.keys where names[key.key]?.contains(entry.name) != true {
                names[key.key, default: []].append(entry.name)
            }
        }
        for (key, names) in names.sorted(by: { $0.key.description < $1.key.description }) where names.count > 1 {
            let list = names.map(\.description).sorted().joined(separator: ", ")
            add(
                .doubleKey, .name(names[0]), "the key \(key.keyID) has \(names.count) names: \(list)",
                "keep one of them; a copy does not rotate with it")
        }
    }

    /// The life of one name's keys.
    mutating func examine(_ entry: KeyringEntry) {
        let name = Finding.Subject.name(entry.name)
        let active = entry.keys.filter { $0.life.state == .active }
        if let ahead = entry.keys.first(where: { isAhead($0.life.created) }) {
            add(
                .aheadOfClock, name,
                "its key \(ahead.key.keyID) was made on \(TimeWords.day(ahead.life.created)), by its file",
                "compare this machine's clock with another one")
        }
        if active.isEmpty {
            add(
                .noneInUse, name, "none of its keys is in use",
                entry.isOwn ? "rotate it, or leave it as it is" : "import a new one")
        }
        examineConfirmation(entry, active)
        if entry.isOwn {
            examineErasure(entry)
            examineAge(entry, active)
        }
        if let record = entry.record { examineEnd(of: record, entry) }
    }

    private mutating func examineConfirmation(_ entry: KeyringEntry, _ active: [KeyringEntry.Key]) {
        let name = Finding.Subject.name(entry.name)
        let isConfirmed = active.contains { $0.life.confirmed != nil }
        if !entry.isOwn, entry.kind == .device, !active.isEmpty, !isConfirmed {
            if entry.record == nil {
                add(
                    .unverified, name, "nobody vouches for its key: it came without a signed record",
                    "import the device's record, or compare fingerprints and seal with --unverified")
            } else {
                add(
                    .neverAnswered, name, "its enrolment is pinned, and it has never proven that it holds its key",
                    "`sealedpush keys confirm \(entry.name)` asks it; until then nothing is sealed to it")
            }
            return
        }
        guard let waiting = active.first(where: { $0.life.confirmed == nil }),
            now.seconds(since: waiting.life.created) > RotationRules.confirmationWarning
        else { return }
        add(
            .unconfirmed, name,
            "its new key \(waiting.key.keyID) has not been confirmed since \(TimeWords.day(waiting.life.created))",
            entry.isOwn
                ? "see that the other end gets to know it, then `sealedpush keys confirm \(entry.name)`"
                : "`sealedpush keys confirm \(entry.name)` asks the device for it")
    }

    private mutating func examineErasure(_ entry: KeyringEntry) {
        for key in entry.keys {
            guard let due = key.life.erasureDue, now >= due else { continue }
            add(
                .erasureDue, .name(entry.name),
                "its retired key \(key.key.keyID) should have been erased on \(TimeWords.day(due))",
                "`sealedpush keys rotate` erases what is due; let it run daily")
        }
    }

    private mutating func examineAge(_ entry: KeyringEntry, _ active: [KeyringEntry.Key]) {
        guard entry.kind != .authority, let newest = active.first,
            now.seconds(since: newest.life.created) > Self.oldAge
        else { return }
        // One that waits to take its place is spoken of above.
        guard newest.life.confirmed != nil else { return }
        add(
            .old, .name(entry.name),
            "its key \(newest.key.keyID) is \(TimeWords.span(now.seconds(since: newest.life.created))) old",
            "`sealedpush keys rotate \(entry.name)`")
    }

    private mutating func examineEnd(of record: DeviceRecord, _ entry: KeyringEntry) {
        let advice =
            entry.isOwn
            ? "`sealedpush keys rotate` signs a new one: send it to the server" : "ask the device's owner for a new one"
        if now > record.expires {
            add(
                .recordExpired, .name(entry.name), "its record expired on \(TimeWords.day(record.expires))", advice)
        } else if record.isRenewalDue(at: now) {
            add(
                .recordExpires, .name(entry.name), "its record expires on \(TimeWords.day(record.expires))", advice)
        }
    }

    /// Authorities that share a keyring with what they vouch for.
    mutating func examineAuthorities() {
        func own(_ kind: PublicKey.Kind) -> [KeyringEntry] {
            entries.filter { $0.kind == kind && $0.keys.contains(where: \.hasSecret) }
        }
        guard !own(.sender).isEmpty else { return }
        for authority in own(.authority) {
            add(
                .authorityOnline, .name(authority.name),
                "an authority's secret lies beside a sender's: who steals the one has the other",
                "keep it offline, in a keyring of its own")
        }
    }

    /// Far enough to be no slip of a clock.
    private func isAhead(_ moment: Timestamp) -> Bool {
        moment.seconds(since: now) > TimeRules.maximumLead(isAnonymous: false)
    }

    /// Seconds: 90 days.
    private static let oldAge: Int64 = 90 * 86_400
}
