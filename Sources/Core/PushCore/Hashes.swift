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
        digest.withUnsafeMutableBytes { digest in message.withUnsafeBytes { hash($0, key: key, into: digest) } }
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

/// BLAKE2b-256 (RFC 7693) of bytes that come piece by piece. Not for two threads at once.
///
/// Unchecked: its memory is its own alone, since it can't be copied.
package struct BLAKE2bStream: ~Copyable, @unchecked Sendable {
    package static let byteCount = 32
    private let state: UnsafeMutableRawPointer

    package init() {
        // libsodium wants its state at a multiple of 64 bytes, which Swift can't say in a type: hence opaque.
        state = .allocate(byteCount: crypto_generichash_statebytes(), alignment: 64)
        crypto_generichash_init(OpaquePointer(state), nil, 0, Self.byteCount)
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        crypto_generichash_update(OpaquePointer(state), bytes.bound, UInt64(bytes.count))
    }

    /// The hash of all there was, in 32 bytes.
    package consuming func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Self.byteCount)
        crypto_generichash_final(OpaquePointer(state), &digest, Self.byteCount)
        return digest
    }

    deinit { state.deallocate() }
}
