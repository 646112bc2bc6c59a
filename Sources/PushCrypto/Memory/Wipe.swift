internal import Clibsodium

/// Overwrites memory in a way that the compiler may not remove.
///
/// Source: libsodium, "Secure memory", `sodium_memzero`.
package func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    sodium_memzero(start, bytes.count)
}

/// Overwrites an array's own storage; where the array shares its storage, only this copy is wiped.
package func wipe(_ bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { wipe($0) }
}
