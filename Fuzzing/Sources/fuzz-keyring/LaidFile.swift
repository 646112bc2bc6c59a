import FuzzSupport
import PushKeyring

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
