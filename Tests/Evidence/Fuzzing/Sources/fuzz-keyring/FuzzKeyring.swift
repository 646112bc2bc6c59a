import FuzzSupport
import PushKeyring

/// A keyring with any file, and a backup with any bytes. Every call returns or throws, and nothing from an altered sealed
/// keyring is used.
///
/// The input's first byte selects whether the keyring is sealed (bit 0), and whether the rest is alterations of the good
/// file (bit 1) or the file's exact bytes.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    RepeatableRandom.restart()
    var input = Input(start, count)
    let choice = input.byte()
    let good = choice & 1 == 0 ? GoodKeyring.clear : .sealed
    let file = good.files["keyring.txt"] ?? []
    let bytes = choice & 2 == 0 ? input.bytes : altered(file, &input)
    var files = good.files
    files["keyring.txt"] = bytes
    GoodKeyring.folder.lay(files)
    checkUse(good, isAltered: bytes != file)
    checkRestoring(bytes, good)
    return 0
}

private func altered(_ bytes: [UInt8], _ input: inout Input) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<6 where !input.rest.isEmpty {
        bytes = input.bool() ? Alteration.ofBytes(bytes, &input) : Alteration.ofLines(bytes, bytes, &input)
    }
    return bytes
}

private func checkUse(_ good: GoodKeyring, isAltered: Bool) {
    let isRefused = good.key != nil && isAltered
    let locked = Keyring(folder: GoodKeyring.url)
    _ = answer { () throws(KeyringError) in try locked.entries() }
    let entries = answer { () throws(KeyringError) in try good.keyring.entries().keys }
    demand(!isRefused || entries == nil, "an altered keyring is listed although it is unlocked")
    for name in good.entries.keys {
        let sender = answer { () throws(KeyringError) in try good.keyring.senderKey(named: name) }
        let device = answer { () throws(KeyringError) in try good.keyring.deviceKeys(named: name) }
        let recipient = answer { () throws(KeyringError) in try good.keyring.recipient(named: name, at: GoodKeyring.now)
        }
        demand(!isRefused || sender == nil && device == nil && recipient == nil, "an altered keyring is used")
    }
    let list = answer { () throws(KeyringError) in try good.keyring.trustList() }
    demand(!isRefused || list == nil, "an altered trust list is used")
    demand(isAltered || list?.words == good.trusted, "the trust list has changed")
    _ = answer { () throws(KeyringError) in try good.keyring.examine(at: GoodKeyring.now) }
    let made = answer { () throws(KeyringError) in try good.keyring.generateSender(named: "other", at: GoodKeyring.now)
    }
    demand(!isRefused || made == nil, "an altered keyring is changed")
    guard made != nil else { return }
    // The changed keyring is intact.
    demand(answer { () throws(KeyringError) in try good.keyring.senderKey(named: "other") } != nil, "a key is lost")
}

/// Uses the same bytes as a backup.
private func checkRestoring(_ bytes: [UInt8], _ good: GoodKeyring) {
    guard let key = GoodKeyring.sealed.key else { return }
    GoodKeyring.folder.lay([:])
    let keyring = Keyring(folder: GoodKeyring.url, unlocking: .given(.key(key)))
    let names = answer { () throws(KeyringError) in try keyring.restore(bytes, with: .key(key), at: GoodKeyring.now) }
    let isGood = bytes == GoodKeyring.sealed.files["keyring.txt"]
    demand((names != nil) == isGood, "bytes were restored that aren't a backup")
}

/// Returns the result of a call, or nil if it throws; checks that the error reveals no secret.
private func answer<Answer>(_ call: () throws(KeyringError) -> Answer) -> Answer? {
    do throws(KeyringError) { return try call() } catch {
        let words = error.description
        demand(!words.isEmpty && !words.contains("SECRET-KEY-1"), "an error contains a secret, or has no text")
        return nil
    }
}
