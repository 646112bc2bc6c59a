import FuzzSupport
import PushKeyring
import SealedPush

/// A keyring one of whose files is anything: every call answers or throws; the other names are as before; a change is made
/// as a whole or not at all; in a sealed keyring no altered file is used; errors hold names and paths only.
func fuzzKeyring(_ input: inout Input) {
    // Before the input, so that the good keyrings are the same for each.
    _ = (GoodKeyring.clear.files, GoodKeyring.sealed.files)
    let file = LaidFile(&input)
    file.lay()
    guard !hasLostSeal() else { return }
    checkListing(file)
    checkUse(file)
    checkChanges(file)
}

/// Whether a file of a sealed keyring lies in one that is not: then nothing in it is read at all.
private func hasLostSeal() -> Bool {
    let keyring = Keyring(folder: GoodKeyring.url)
    do throws(KeyringError) {
        _ = try keyring.sealKind()
        return false
    } catch {
        guard case .sealMissing = error else { return false }
        demand(answer { () throws(KeyringError) in try keyring.entries().keys } == nil, "it is listed all the same")
        let trustList = answer { () throws(KeyringError) in try keyring.trustList() }
        demand(trustList == nil, "its trust list is used all the same")
        return true
    }
}

/// Listing needs no secret and never fails as a whole.
private func checkListing(_ file: LaidFile) {
    let locked = Keyring(folder: GoodKeyring.url)
    guard let (entries, errors) = answer({ () throws(KeyringError) in try locked.entries() }) else {
        fatalError("a file makes the whole listing fail")
    }
    demand(errors.count <= 1, "\(errors.count) names are damaged by one file")
    errors.forEach(checkError)
    for (name, good) in file.good.entries where name != file.name {
        demand(entries.contains(good), "\(name) is another in the list")
    }
    _ = file.name.map { name in answer { () throws(KeyringError) in try locked.entry(named: name) } }
}

private func checkUse(_ file: LaidFile) {
    let keyring = file.good.keyring
    let isClosed = file.place == "keyring.txt" && file.isAltered
    // Two others, for speed: which ones differs with the input.
    for name in file.others.prefix(2) {
        guard let good = file.good.entries[name] else { continue }
        let use = Use(of: name, in: keyring)
        demand(isClosed ? use.isRefused : use.isGood(for: good), "\(name) is used otherwise than before")
    }
    let list = answer { () throws(KeyringError) in try keyring.trustList() }
    if isClosed { demand(list == nil, "the trust list of a keyring whose seal is altered is used") }
    if file.place == "trust.txt" {
        demand(!file.isSealed || !file.isAltered || file.isRemoval || list == nil, "an altered trust list is used")
    } else if !isClosed {
        demand(list?.words == file.good.trusted, "the trust list is another")
    }
    guard let name = file.name else { return }
    let use = Use(of: name, in: keyring)
    demand(!file.mustBeRefused || use.isRefused, "an altered file is used")
    let entry = answer { () throws(KeyringError) in try keyring.entry(named: name) }
    demand(!file.mustBeRefused || entry == nil, "an altered file is shown though it is unlocked")
}

extension LaidFile {
    /// Whether the file must not be used: it is another than the keyring has written.
    var mustBeRefused: Bool { isSealed && isAltered && !(place.hasPrefix("public/") && name == "phone") }
}

/// The one file of a good keyring that an input puts another in place of, and what it puts there.
///
/// The input's first byte: which file (bits 0 to 4), whether the rest is alterations of the good one (bit 5; of another
/// one, bit 6) or the file's very bytes, and whether the keyring is sealed (bit 7).
struct LaidFile {
    let path: String
    let bytes: [UInt8]
    let isSealed: Bool

    var good: GoodKeyring { isSealed ? .sealed : .clear }
    /// Where it stands once a change that was cut off is finished.
    var place: String { isStaged ? String(path.dropFirst(Self.staging.count)) : path }
    var isStaged: Bool { path.hasPrefix(Self.staging) }
    /// The name that the file is about; nil for one about the whole keyring.
    var name: KeyName? {
        guard let slash = place.firstIndex(of: "/") else { return nil }
        return KeyName(parsing: String(place[place.index(after: slash)...].dropLast(4)))
    }
    /// The names that it is not about, in an order of its own for each length.
    var others: [KeyName] {
        let names = good.entries.keys.filter { $0 != name }.sorted { $0.description < $1.description }
        let first = bytes.count % names.count
        return Array(names[first...] + names[..<first])
    }
    /// Whether nothing can be changed: the seal is another, or there is none though the end of the log says there was.
    var stopsChanges: Bool {
        if place == "keyring.txt" { return isAltered }
        return !isSealed && place == "audit-head.txt"
            && bytes.split(separator: 0x0a).contains { $0.starts(with: "mac: ".utf8) }
    }
    /// Whether it takes a file away.
    var isRemoval: Bool { isStaged && bytes.isEmpty }
    /// Whether the keyring is another than the good one.
    var isAltered: Bool {
        if isStaged, place == "audit.jsonl" { return !bytes.isEmpty }
        if isStaged, bytes.isEmpty { return good.files[place] != nil }
        return good.files[place] != bytes
    }

    init(_ input: inout Input) {
        let choice = input.byte()
        path = Self.paths[Int(choice & 31) % Self.paths.count]
        isSealed = choice & 0x80 != 0
        let files = (isSealed ? GoodKeyring.sealed : .clear).files
        guard choice & 0x20 != 0 else {
            bytes = input.bytes
            return
        }
        let staged = path.hasPrefix(Self.staging) ? String(path.dropFirst(Self.staging.count)) : path
        let sources = files.keys.sorted()
        let other = choice & 0x40 == 0 ? "private/phone.txt" : sources[Int(input.byte()) % sources.count]
        var bytes = (choice & 0x40 == 0 ? files[staged] : nil) ?? files[other] ?? []
        for _ in 0..<6 where !input.rest.isEmpty {
            bytes =
                input.bool()
                ? Alteration.ofBytes(bytes, &input) : Alteration.ofLines(bytes, files[other] ?? [], &input)
        }
        self.bytes = bytes
    }

    func lay() {
        var files = good.files
        files[path] = bytes
        GoodKeyring.folder.lay(files)
    }

    static let paths = [
        "private/phone.txt", "changing/private/root.txt", "private/newsroom.txt", "private/root.txt",
        "public/friend.txt", "public/pal.txt", "trust.txt", "keyring.txt", "audit-head.txt", "audit.jsonl",
        "changing/private/phone.txt",
        "changing/private/newsroom.txt", "changing/public/friend.txt", "changing/trust.txt", "changing/keyring.txt",
        "changing/audit-head.txt", "changing/audit.jsonl", "private/pal.txt", "public/phone.txt",
        "changing/private/other.txt",
    ]
    private static let staging = "changing/"
}
