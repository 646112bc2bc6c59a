internal import Clibsodium

/// Random bytes from the system's generator, through libsodium. There is no public way to supply other randomness, which is
/// how nonces get repeated.
package enum SecureRandom {
    /// Fills `bytes` with random bytes. Never fails: libsodium aborts the process if the system provides none.
    package static func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        Sodium.ready()
        randombytes_buf(start, bytes.count)
    }

    /// Returns two sets of 16 random bytes that aren't secret, in one system call, which costs more than the bytes.
    package static func pair() -> (Bytes16, Bytes16) {
        withUnsafeTemporaryAllocation(byteCount: 2 * Bytes16.byteCount, alignment: 8) { bytes in
            fill(bytes)
            let (first, second) = (bytes[..<Bytes16.byteCount], bytes[Bytes16.byteCount...])
            return (Bytes16(UnsafeRawBufferPointer(rebasing: first)), Bytes16(UnsafeRawBufferPointer(rebasing: second)))
        }
    }

    /// Returns `count` random bytes that aren't secret, for an identifier, for example.
    package static func bytes(count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        bytes.withUnsafeMutableBytes { fill($0) }
        return bytes
    }
}
