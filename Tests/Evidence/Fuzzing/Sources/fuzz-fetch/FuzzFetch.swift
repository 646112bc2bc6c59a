import FuzzSupport

/// A web server's answers to a phone, and phones' posts to a server. The input's first byte selects one of them.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = Input(start, count)
    switch input.byte() % 2 {
    case 0: fuzzFetch(&input)
    default: fuzzReceipt(&input)
    }
    return 0
}
