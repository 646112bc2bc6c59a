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

/// BLAKE2b-256 (RFC 7693) of bytes that arrive in pieces. Not safe for concurrent use. `@unchecked Sendable`: it can't be
/// copied, so it is the sole owner of its memory.
package struct BLAKE2bStream: ~Copyable, @unchecked Sendable {
    package static let byteCount = 32
    private let state: UnsafeMutableRawPointer

    package init() {
        // libsodium needs its state aligned to 64 bytes, which a Swift type can't express, so it's opaque.
        state = .allocate(byteCount: crypto_generichash_statebytes(), alignment: 64)
        crypto_generichash_init(OpaquePointer(state), nil, 0, Self.byteCount)
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        crypto_generichash_update(OpaquePointer(state), bytes.bound, UInt64(bytes.count))
    }

    /// Returns the 32-byte hash of all bytes so far.
    package consuming func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Self.byteCount)
        crypto_generichash_final(OpaquePointer(state), &digest, Self.byteCount)
        return digest
    }

    deinit { state.deallocate() }
}

/// HKDF with SHA-256, RFC 5869, on libsodium's HMAC-SHA-256 (libsodium before 1.0.19 has no HKDF).
package enum HKDF {
    package static let pseudorandomKeyByteCount = 32

    /// RFC 5869 section 2.2: writes the 32-byte pseudorandom key into `output`.
    package static func extract(
        salt: UnsafeRawBufferPointer, inputKeyMaterial parts: UnsafeRawBufferPointer...,
        into output: UnsafeMutableRawBufferPointer
    ) {
        var mac = HMACSHA256(key: salt)
        for part in parts { mac.update(part) }
        mac.finish(into: output)
    }

    /// RFC 5869 section 2.3: fills `output` (at most 8,160 bytes) from a pseudorandom key.
    package static func expand(
        _ pseudorandomKey: UnsafeRawBufferPointer, info parts: UnsafeRawBufferPointer...,
        into output: UnsafeMutableRawBufferPointer
    ) {
        let blockByteCount = pseudorandomKeyByteCount
        precondition((1...255 * blockByteCount).contains(output.count), "HKDF outputs 1 to 8,160 bytes")
        withUnsafeTemporaryAllocation(byteCount: blockByteCount, alignment: 16) { block in
            defer { wipe(block) }
            var written = 0
            var counter: UInt8 = 0
            while written < output.count {
                var mac = HMACSHA256(key: pseudorandomKey)
                if counter > 0 { mac.update(UnsafeRawBufferPointer(block)) }
                for part in parts { mac.update(part) }
                counter += 1
                withUnsafeBytes(of: counter) { mac.update($0) }
                mac.finish(into: block)
                let length = min(blockByteCount, output.count - written)
                let target = UnsafeMutableRawBufferPointer(rebasing: output[written..<written + length])
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: block[..<length]))
                written += length
            }
        }
    }
}

/// HMAC-SHA-256, RFC 2104. Its state is wiped on deallocation.
struct HMACSHA256: ~Copyable {
    static let byteCount = 32
    private let state: UnsafeMutablePointer<crypto_auth_hmacsha256_state>

    init(key: UnsafeRawBufferPointer) {
        Sodium.ready()
        state = .allocate(capacity: 1)
        crypto_auth_hmacsha256_init(state, key.bound, key.count)
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        crypto_auth_hmacsha256_update(state, bytes.bound, UInt64(bytes.count))
    }

    consuming func finish(into output: UnsafeMutableRawBufferPointer) {
        precondition(output.count == Self.byteCount)
        crypto_auth_hmacsha256_final(state, output.bound)
    }

    deinit {
        wipe(UnsafeMutableRawBufferPointer(start: state, count: MemoryLayout<crypto_auth_hmacsha256_state>.size))
        state.deallocate()
    }
}
