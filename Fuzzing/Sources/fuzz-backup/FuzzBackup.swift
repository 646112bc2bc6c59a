import FuzzSupport

@testable import PushKeyring

/// Backups: nothing is taken from one that was not made under the key, or was altered since. Of one that was, whatever is in
/// it, all is taken or nothing; what is taken is whole, and can be backed up and restored again.
///
/// The input's first byte: any bytes; alterations of a good backup; contents that are sealed as they are; alterations of
/// good contents (of one file's bytes, or of all), sealed.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzBackup(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    RepeatableRandom.restart()
    _ = GoodBackup.shared.contents
    var input = Input(start, count)
    let choice = input.byte()
    switch choice % 8 {
    case 0: checkRefusal(of: input.bytes)
    case 1: checkRefusal(of: altered(GoodBackup.shared.bytes, &input))
    case 2: checkRestoring(GoodBackup.sealed(input.bytes))
    case 3: checkRestoring(GoodBackup.sealed(altered(GoodBackup.shared.contents, &input)))
    default: checkRestoring(GoodBackup.sealed(oneAltered(&input)))
    }
    return 0
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
