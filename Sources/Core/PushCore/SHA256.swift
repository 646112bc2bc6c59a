internal import Clibsodium

/// SHA-256, FIPS 180-4.
package enum SHA256 {
    package static let byteCount = 32

    package static func hash(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: byteCount)
        crypto_hash_sha256(&digest, bytes.bound, UInt64(bytes.count))
        return digest
    }
}
