import FuzzSupport
import PushKeyring
import SealedPush

/// Changes of a keyring one of whose files is anything.
func checkChanges(_ file: LaidFile) {
    let keyring = file.good.keyring
    let now = GoodKeyring.now
    let isClosed = file.place == "keyring.txt" && file.isAltered
    // Finishes what was staged, and changes nothing else.
    demand(answer { () throws(KeyringError) in try keyring.rotate("nobody", at: now) } == nil, "nobody is rotated")
    if !isClosed {
        demand(!GoodKeyring.folder.files().keys.contains { $0.hasPrefix("changing") }, "a change is left unfinished")
    }

    let change = Change(in: file)
    let watch = change.make("watch") { () throws(KeyringError) in try keyring.rotate("watch", at: now) }
    demand(watch != nil || file.stopsChanges, "a file of another name stops a rotation")
    demand(watch == nil || !isClosed, "an altered seal does not stop a rotation")
    if !isClosed { checkHead(file) }
    if let watch { demand(change.entry("watch")?.keys[0].key == watch, "a rotation is not there") }
    let fresh = change.make("fresh") { () throws(KeyringError) in try keyring.generateSender(named: "fresh", at: now) }
    demand((fresh == nil) == (watch == nil), "a file stops a new key, but not a rotation")

    if let name = file.name, !isClosed { changeAltered(name, change) }
    changeMore(file, change)
    let entries = change.entries
    for (name, good) in file.good.entries where name != file.name && name != "watch" && !change.changed.contains(name) {
        demand(entries.contains(good), "\(name) is another after changes of others")
    }
}

private func changeAltered(_ name: KeyName, _ change: Change) {
    let keyring = change.file.good.keyring
    let now = GoodKeyring.now
    let confirmed = change.make(name) { () throws(KeyringError) in try keyring.confirm(name, at: now) }
    if let confirmed {
        let key = change.entry(name)?.keys.first { $0.key == confirmed }
        demand(key?.life.confirmed == now, "a confirmation is not there")
    }
    let rotated = change.make(name) { () throws(KeyringError) in try keyring.rotate(name, at: now) }
    if let rotated { demand(change.entry(name)?.keys[0].key == rotated, "a rotation is not there") }
    let revoked = change.make(name) { () throws(KeyringError) in try keyring.revoke(name, at: now) }
    if let revoked {
        let states = change.entry(name)?.keys.filter { revoked.contains($0.key) }.map(\.life.state) ?? []
        demand(states.contains(.revoked), "a revocation is not there")
    }
    if change.file.mustBeRefused {
        demand(confirmed == nil && rotated == nil && revoked == nil, "an altered file is changed")
    }
}

/// One more change, another for each length of the file.
private func changeMore(_ file: LaidFile, _ change: Change) {
    let keyring = file.good.keyring
    let now = GoodKeyring.now
    let name = file.name ?? "newsroom"
    switch file.bytes.count % 8 {
    case 0:
        _ = change.make(name) { () throws(KeyringError) in
            try keyring.signSenderSet(
                of: [SenderKey().sender], topic: GoodKeyring.topic, by: name, lifetime: 1, at: now)
        }
    case 1: _ = change.make(name) { () throws(KeyringError) in try keyring.challenge(name, from: "newsroom", at: now) }
    case 2:
        let erased = change.make(name) { () throws(KeyringError) in try keyring.erase(name, at: now) }
        if let erased, let entry = change.entry(name) {
            demand(entry.keys.contains { $0.key == erased && $0.life.state == .erased }, "an erasure is not there")
        }
    case 3:
        _ = change.make(name) { () throws(KeyringError) in
            try keyring.enrol(name, topic: GoodKeyring.topic, at: now)
        }
    case 4:
        let sender = TrustList.Trusted.sender(SenderKey().sender)
        let isAdded = change.make(nil) { () throws(KeyringError) in
            try keyring.trust(sender, for: GoodKeyring.topic, at: now)
        }
        let list = answer { () throws(KeyringError) in try keyring.trustList() }
        demand(isAdded == nil || list?.entries.last?.trusted == sender, "a sender is not in the trust list")
    case 5:
        let later = now.advanced(bySeconds: 86_400 * 50)
        _ = change.make(nil, of: .all) { () throws(KeyringError) in
            try keyring.performDueSteps(rotatingOlderThan: 86_400, at: later)
        }
    case 6:
        let isRenamed: Void? = change.make(name) { () throws(KeyringError) in
            try keyring.rename(name, to: "renamed", at: now)
        }
        // Of two files of one name the public one comes to light when the own one goes.
        let isHiding = file.path == "private/pal.txt" || file.path == "public/phone.txt"
        demand(isRenamed == nil || isHiding || change.entry(name) == nil, "a name is still there after it was renamed")
    default: sealAnew(file, change)
    }
}

private func sealAnew(_ file: LaidFile, _ change: Change) {
    let key = KeyringKey()
    let isSealed: Void? = change.make(nil, of: .all) { () throws(KeyringError) in
        try file.good.keyring.seal(with: .key(key), at: GoodKeyring.now)
    }
    guard isSealed != nil else { return }
    let isAboutKeys = file.name != nil || file.place == "trust.txt"
    demand(!(file.mustBeRefused && isAboutKeys && !file.isRemoval), "an altered file is sealed anew")
    let keyring = Keyring(folder: GoodKeyring.url, unlocking: .given(.key(key)))
    demand(answer { () throws(KeyringError) in try keyring.trustList() } != nil, "the trust list was not sealed")
    for entry in change.entries {
        let again = answer { () throws(KeyringError) in try keyring.entry(named: entry.name) }
        demand(again == entry, "\(entry.name) differs once it is sealed")
        if entry.kind == .device, entry.isOwn {
            let keys = answer { () throws(KeyringError) in try keyring.deviceKeys(named: entry.name) }
            demand(keys != nil, "\(entry.name) does not open once it is sealed")
        }
    }
}

/// An audit head that somebody has altered is not gone on from: it would be the keyring's own from then on.
private func checkHead(_ file: LaidFile) {
    guard file.isSealed, file.place == "audit-head.txt", file.isAltered, !file.bytes.isEmpty || !file.isStaged else {
        return
    }
    let head = String(decoding: GoodKeyring.folder.files()["audit-head.txt"] ?? [], as: UTF8.self)
    demand(head.contains("\ncount: 1\n"), "an altered audit head is gone on from")
}

/// Makes changes, and looks each time at what has become of the files: all of it is there, or nothing has changed.
final class Change {
    let file: LaidFile
    /// What may differ from the good keyring by now.
    private(set) var changed: Set<KeyName> = []

    enum Reach {
        case name
        case all
    }

    init(in file: LaidFile) { self.file = file }

    /// - Parameter name: whose files may change; nil for the trust list's.
    func make<Answer>(
        _ name: KeyName?, of reach: Reach = .name, _ call: () throws(KeyringError) -> Answer
    ) -> Answer? {
        let before = files
        let made = answer(call)
        let after = files
        let differing = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
        guard made != nil else {
            demand(differing.isEmpty, "a change that failed has changed \(differing.sorted())")
            return nil
        }
        demand(!after.keys.contains { $0.hasPrefix("changing") }, "a change is left unfinished")
        switch (reach, name) {
        case (.all, _): changed.formUnion(entries.map(\.name))
        case (.name, let name?):
            changed.insert(name)
            let own = ["private/\(name).txt", "public/\(name).txt", "private/renamed.txt", "public/renamed.txt"]
            demand(differing.isSubset(of: own + log), "a change of \(name) has changed \(differing.sorted())")
        case (.name, nil):
            demand(differing.isSubset(of: ["trust.txt"] + log), "a change of trust has changed \(differing.sorted())")
        }
        return made
    }

    func entry(_ name: KeyName) -> KeyringEntry? {
        answer { () throws(KeyringError) in try Keyring(folder: GoodKeyring.url).entry(named: name) }
    }

    var entries: [KeyringEntry] {
        answer { () throws(KeyringError) in try Keyring(folder: GoodKeyring.url).entries().keys } ?? []
    }

    private var files: [String: [UInt8]] {
        GoodKeyring.folder.files().filter { $0.key != "lock" && !$0.key.hasSuffix(".gitignore") }
    }
    private let log = ["audit.jsonl", "audit-head.txt"]
}
