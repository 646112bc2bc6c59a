internal import Clibsodium

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
        crypto_generichash_update(
            OpaquePointer(state), bytes.bound, UInt64(bytes.count))
    }

    /// The hash of all there was, in 32 bytes.
    package consuming func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Self.byteCount)
        crypto_generichash_final(
            OpaquePointer(state), &digest, Self.byteCount)
        return digest
    }

    deinit { state.deallocate() }
}
