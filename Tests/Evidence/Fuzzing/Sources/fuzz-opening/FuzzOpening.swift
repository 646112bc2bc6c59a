import FuzzSupport

/// The parts of a push that a phone reads. The input's first byte selects the reader for the rest.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    RepeatableRandom.restart()
    var input = Input(start, count)
    switch input.byte() % 6 {
    case 0: fuzzOpening(&input)
    case 1: fuzzEnvelope(&input)
    case 2: fuzzContent(&input)
    case 3: fuzzTemplate(&input)
    case 4: fuzzChart(&input)
    default: fuzzAttachment(&input)
    }
    return 0
}
