internal import Clibsodium

/// BLAKE2b, RFC 7693, with an optional key.
package enum BLAKE2b {
    /// Returns the hash of `parts`, `byteCount` (16 to 64) bytes long.
    package static func hash(_ parts: [UInt8], byteCount: Int) -> [UInt8] {
        precondition((16...64).contains(byteCount), "a BLAKE2b hash is 16 to 64 bytes long")
        var digest = [UInt8](repeating: 0, count: byteCount)
        crypto_generichash(&digest, byteCount, parts, UInt64(parts.count), nil, 0)
        return digest
    }

    /// Returns the keyed hash of `message`; the key is 16 to 64 bytes long.
    package static func hash(_ message: [UInt8], key: UnsafeRawBufferPointer, byteCount: Int) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: byteCount)
        digest.withUnsafeMutableBytes { digest in message.withUnsafeBytes { hash($0, key: key, into: digest) } }
        return digest
    }

    /// Writes the keyed hash of `message` into `digest`, which is 16 to 64 bytes long.
    package static func hash(
        _ message: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, into digest: UnsafeMutableRawBufferPointer
    ) {
        precondition((16...64).contains(digest.count) && (16...64).contains(key.count))
        crypto_generichash(digest.bound, digest.count, message.bound, UInt64(message.count), key.bound, key.count)
    }
}
