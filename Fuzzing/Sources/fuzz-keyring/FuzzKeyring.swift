import FuzzSupport

/// What a keyring reads from its folder, and from a backup. The input's first byte says which of them.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    RepeatableRandom.restart()
    var input = Input(start, count)
    switch input.byte() % 2 {
    case 0: fuzzKeyring(&input)
    default: fuzzBackup(&input)
    }
    return 0
}
