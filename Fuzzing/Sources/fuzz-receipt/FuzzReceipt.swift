import FuzzSupport

/// What devices post: nothing is believed but what was MACed under the device's own key, and that as Specification 16.5
/// says; a receipt is counted once. And what a message says about receipts: what is read is written as the same.
///
/// The input's first byte: any body; fields that are MACed; the same with a bit flipped; an address; a value of content.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzReceipt(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = Input(start, count)
    switch input.byte() % 5 {
    case 0: refuse(input.bytes)
    case 1: receive(&input)
    case 2: flip(&input)
    case 3: checkAddress(String(decoding: input.bytes, as: UTF8.self))
    default: checkRequest(input.bytes)
    }
    return 0
}
