import FuzzSupport

/// What a web server answers when a file is fetched, and where it may send a phone: an answer gives the file or an error, soon
/// and in little memory, and no bytes but those that were announced; an address that is allowed has for libcurl the host that
/// was looked at, and that is a public one.
///
/// The input's first byte: an address; an answer; an answer's head, with the file behind it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzFetch(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = Input(start, count)
    let choice = input.byte()
    switch choice % 4 {
    case 0, 1: checkAddress(String(decoding: input.bytes, as: UTF8.self))
    case 2: checkFetching(answer: input.bytes)
    default: checkFetching(answer: input.bytes + RemoteFiles.sealed)
    }
    return 0
}
