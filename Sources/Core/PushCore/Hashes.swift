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

/// BLAKE2b, RFC 7693, with an optional key.
package enum BLAKE2b {
    /// The hash of `parts`, one after the other, in `byteCount` (16 to 64) bytes.
    package static func hash(_ parts: [UInt8], byteCount: Int) -> [UInt8] {
        precondition((16...64).contains(byteCount), "BLAKE2b gives 16 to 64 bytes")
        var digest = [UInt8](repeating: 0, count: byteCount)
        crypto_generichash(&digest, byteCount, parts, UInt64(parts.count), nil, 0)
        return digest
    }

    /// The keyed hash of `message`; the key has 16 to 64 bytes.
    package static func hash(_ message: [UInt8], key: UnsafeRawBufferPointer, byteCount: Int) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: byteCount)
        digest.withUnsafeMutableBytes { digest in
            message.withUnsafeBytes { hash($0, key: key, into: digest) }
        }
        return digest
    }

    /// The same, into 16 to 64 bytes.
    package static func hash(
        _ message: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, into digest: UnsafeMutableRawBufferPointer
    ) {
        precondition((16...64).contains(digest.count) && (16...64).contains(key.count))
        crypto_generichash(digest.bound, digest.count, message.bound, UInt64(message.count), key.bound, key.count)
    }
}
