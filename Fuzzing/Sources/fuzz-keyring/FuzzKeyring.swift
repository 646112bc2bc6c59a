import FuzzSupport
import PushKeyring
import SealedPush

/// A keyring one of whose files is anything: every call answers or throws; the other names are as before; a change is made
/// as a whole or not at all; in a sealed keyring no altered file is used; errors hold names and paths only.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzKeyring(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    RepeatableRandom.restart()
    // Before the input, so that the good keyrings are the same for each.
    _ = (GoodKeyring.clear.files, GoodKeyring.sealed.files)
    var input = Input(start, count)
    let file = LaidFile(&input)
    file.lay()
    guard !hasLostSeal() else { return 0 }
    checkListing(file)
    checkUse(file)
    checkChanges(file)
    return 0
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
