internal import Clibsodium

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
