import Foundation
import FuzzSupport
import SealedPush

@testable import PushCrypto
@testable import PushKeyring

/// Backups: nothing is taken from one that was not made under the key, or was altered since. Of one that was, whatever is in
/// it, all is taken or nothing; what is taken is whole, and can be backed up and restored again.
///
/// The input's first byte: any bytes; alterations of a good backup; contents that are sealed as they are; alterations of
/// good contents (of one file's bytes, or of all), sealed.
func fuzzBackup(_ input: inout Input) {
    _ = GoodBackup.shared.contents
    let choice = input.byte()
    switch choice % 8 {
    case 0: checkRefusal(of: input.bytes)
    case 1: checkRefusal(of: altered(GoodBackup.shared.bytes, &input))
    case 2: checkRestoring(GoodBackup.sealed(input.bytes))
    case 3: checkRestoring(GoodBackup.sealed(altered(GoodBackup.shared.contents, &input)))
    default: checkRestoring(GoodBackup.sealed(oneAltered(&input)))
    }
}

private func altered(_ bytes: [UInt8], _ input: inout Input) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<6 where !input.rest.isEmpty {
        bytes = input.bool() ? Alteration.ofBytes(bytes, &input) : Alteration.ofLines(bytes, bytes, &input)
    }
    return bytes
}

private func oneAltered(_ input: inout Input) -> [UInt8] {
    var files = GoodBackup.shared.files
    let index = Int(input.byte()) % files.count
    let other = Int(input.byte()) % files.count
    let choice = input.byte()
    if choice & 1 != 0 { files[index] = BackupContents.File(path: input.text(), bytes: files[index].bytes) }
    if choice & 2 != 0 { files[index] = BackupContents.File(path: files[other].path, bytes: files[index].bytes) }
    if choice & 4 != 0 { files.append(files[other]) }
    files[index].bytes = altered(files[index].bytes, &input)
    return GoodBackup.encoded(files)
}

private func checkRefusal(of bytes: [UInt8]) {
    guard bytes != GoodBackup.shared.bytes else { return }
    let restoring = Restoring(bytes)
    demand(restoring.error == .backup, "a backup that nobody made is \(restoring)")
    demand(restoring.changed.isEmpty, "a backup that is refused has changed \(restoring.changed)")
}

private func checkRestoring(_ bytes: [UInt8]) {
    let restoring = Restoring(bytes)
    guard let names = restoring.names else {
        demand(restoring.changed.isEmpty, "a backup that is refused has changed \(restoring.changed)")
        return
    }
    let entries = restoring.entries()
    demand(entries.map(\.name) == names, "\(names) came, and \(entries.map(\.name)) are there")
    guard !names.isEmpty, let again = restoring.backup() else { return }
    let second = Restoring(again)
    // What has no key in use stays behind.
    demand(second.names.map { Set($0).isSubset(of: names) } ?? false, "what was restored is no backup: \(second)")
}

/// A backup that is as it should be, and what is in it.
struct GoodBackup {
    let bytes: [UInt8]
    let contents: [UInt8]
    let files: [BackupContents.File]

    static let now = moment(1_760_100_000)
    static let key = KeyringKey()
    static let folder = RawFolder(target: "sealed-push-fuzz-backup")
    static let keyring = Keyring(folder: URL(filePath: folder.path, directoryHint: .isDirectory))
    static let shared = GoodBackup()

    private init() {
        Self.folder.lay([:])
        do {
            try Self.fill(Self.keyring)
            bytes = try Self.keyring.backup(under: .key(Self.key), at: Self.now)
            var files: [BackupContents.File] = []
            let opening = try Self.seal(in: bytes).key(from: .key(Self.key))
            guard let opened = BackupFile(parsing: bytes)?.open(under: opening) else { throw KeyringError.backup }
            contents = opened.withBytes { Array($0) }
            try contents.withUnsafeBytes { contents in
                try BackupContents.forEachFile(of: contents) { (path, bytes) throws(KeyringError) in
                    files.append(BackupContents.File(path: path, bytes: bytes))
                }
            }
            self.files = files
        } catch { fatalError("no good backup: \(error)") }
    }

    static func encoded(_ files: [BackupContents.File]) -> [UInt8] {
        BackupContents.encode(files).withBytes { Array($0) }
    }

    /// A backup of any contents, under the same key and seal.
    static func sealed(_ contents: [UInt8]) -> [UInt8] {
        do {
            let seal = try seal(in: shared.bytes)
            let key = try seal.key(from: .key(key))
            return contents.withUnsafeBytes { BackupFile.text(of: $0, seal: seal, under: key) }
        } catch { fatalError("no backup: \(error)") }
    }

    private static func seal(in bytes: [UInt8]) throws(KeyringError) -> KeyringSeal {
        guard let file = BackupFile(parsing: bytes) else { throw .backup }
        return file.seal
    }

    private static func fill(_ keyring: Keyring) throws {
        let topic: Topic = "com.example.app"
        let start = moment(1_760_000_000)
        try keyring.generateDevice(named: "phone", topic: topic, at: start)
        try keyring.rotate("phone", at: now)
        try keyring.generateDevice(named: "watch", at: start)
        let sender = try keyring.generateSender(named: "newsroom", at: start)
        let authority = try keyring.generateAuthority(named: "root", at: start)
        try keyring.trust(.sender(sender), for: topic, at: start)
        try keyring.trust(.authority(authority), for: topic, at: start)
        try keyring.add(.device(Identity().recipient), named: "pal", at: start)
    }

    private static func moment(_ seconds: Int64) -> Timestamp {
        guard let moment = Timestamp(secondsSince1970: seconds) else { fatalError("no time: \(seconds)") }
        return moment
    }
}

/// A backup that is restored where no keyring was.
struct Restoring: CustomStringConvertible {
    private(set) var names: [KeyName]?
    private(set) var error: KeyringError?
    /// The files that are there now.
    let changed: [String]
    private let keyring: Keyring

    init(_ bytes: [UInt8]) {
        GoodBackup.folder.lay([:])
        keyring = Keyring(
            folder: GoodBackup.keyring.folder, unlocking: .given(.key(GoodBackup.key)))
        do throws(KeyringError) {
            names = try keyring.restore(bytes, with: .key(GoodBackup.key), at: GoodBackup.now)
        } catch { self.error = error }
        // The folders are made before it is known what goes there.
        changed = GoodBackup.folder.files().keys.filter { file in
            file != "lock" && !file.hasSuffix("/") && !file.hasSuffix(".gitignore")
        }
    }

    /// All that are there, as the key opens them; sorted.
    func entries() -> [KeyringEntry] {
        do throws(KeyringError) {
            _ = try keyring.trustList()
            let (entries, errors) = try keyring.entries()
            demand(errors.isEmpty, "what came is damaged: \(errors)")
            for entry in entries {
                _ = try keyring.authenticEntry(named: entry.name)
                if entry.kind == .device, entry.isOwn { _ = try keyring.deviceKeys(named: entry.name) }
            }
            return entries.sorted { $0.name.description < $1.name.description }
        } catch { fatalError("what came can't be read: \(error)") }
    }

    /// Nil where there is nothing that a backup would hold.
    func backup() -> [UInt8]? { try? keyring.backup(under: .key(GoodBackup.key), at: GoodBackup.now) }

    var description: String { names.map { "\($0)" } ?? error.map { "\($0)" } ?? "nothing" }
}
