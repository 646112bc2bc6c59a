import FuzzSupport
import PushKeyring

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
