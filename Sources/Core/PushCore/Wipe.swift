/// Overwrites memory in a way that the compiler may not remove.
///
/// Source: explicit_bzero(3); on Apple's systems memset_s(3), C11 K.3.7.4.1.
package func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    #if canImport(Darwin)
        _ = memset_s(start, bytes.count, 0, bytes.count)
    #else
        explicit_bzero(start, bytes.count)
    #endif
}

/// Overwrites an array's own storage; where the array shares its storage, only this copy is wiped.
package func wipe(_ bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { wipe($0) }
}
