internal import Clibsodium

/// Random bytes from the system's generator, through libsodium.
///
/// There is no public way to put in other randomness: that is how nonces get repeated.
package enum SecureRandom {
    /// Fills `bytes` with random bytes; never fails (libsodium aborts the process when the system gives none).
    package static func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        Sodium.ready()
        randombytes_buf(start, bytes.count)
    }

    /// `count` random bytes that are not secret, as for an identifier.
    package static func bytes(count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        bytes.withUnsafeMutableBytes { fill($0) }
        return bytes
    }
}
