internal import Clibsodium

/// libsodium's secretstream (XChaCha20-Poly1305): a sequence of chunks in which any alteration, reordering, dropping, or
/// truncation is detected. Source: libsodium, "Encrypted streams and file encryption".
///
/// `Sealing` and `Opening` are `@unchecked Sendable`: neither can be copied, so each is the sole owner of its memory.
package enum SecretStream {
    package static let keyByteCount = 32
    package static let headerByteCount = 24
    /// The number of bytes that sealing adds to a chunk.
    package static let overheadByteCount = 17

    fileprivate typealias State = UnsafeMutablePointer<crypto_secretstream_xchacha20poly1305_state>

    private static func newState() -> State {
        Sodium.ready()
        return .allocate(capacity: 1)
    }

    private static func release(_ state: State) {
        sodium_memzero(state, crypto_secretstream_xchacha20poly1305_statebytes())
        state.deallocate()
    }

    /// Seals chunks in order. Its key material is wiped on deallocation. Not safe for concurrent use.
    package struct Sealing: ~Copyable, @unchecked Sendable {
        private let state: State

        /// Starts a stream with a 32-byte key, used only for it. Writes the stream's first 24 bytes into `header`.
        package init(key: UnsafeRawBufferPointer, header: UnsafeMutableRawBufferPointer) {
            precondition(key.count == keyByteCount && header.count == headerByteCount)
            state = newState()
            crypto_secretstream_xchacha20poly1305_init_push(state, header.bound, key.bound)
        }

        /// Writes the sealed chunk, 17 bytes longer than `chunk`, into `output`. No chunk may follow the final one.
        package mutating func seal(
            _ chunk: UnsafeRawBufferPointer, isFinal: Bool, into output: UnsafeMutableRawBufferPointer
        ) {
            precondition(output.count == chunk.count + overheadByteCount)
            let tag =
                isFinal
                ? crypto_secretstream_xchacha20poly1305_tag_final()
                : crypto_secretstream_xchacha20poly1305_tag_message()
            let status = crypto_secretstream_xchacha20poly1305_push(
                state, output.bound, nil, chunk.bound, UInt64(chunk.count), nil, 0, tag)
            precondition(status == 0)
        }

        deinit { release(state) }
    }

    /// Opens chunks in order. Wipes its keys and the last opened chunk on deallocation. Not safe for concurrent use.
    package struct Opening: ~Copyable, @unchecked Sendable {
        private let state: State
        private let output: UnsafeMutableRawBufferPointer

        package enum Tag: Sendable {
            case message
            case final
        }

        /// Opens a stream with its 32-byte key. `header` is the first 24 bytes; if it's wrong, the first chunk doesn't
        /// open. Keeps up to `maximumChunkByteCount` bytes, the longest opened chunk, in memory.
        package init(key: UnsafeRawBufferPointer, header: UnsafeRawBufferPointer, maximumChunkByteCount: Int) {
            precondition(key.count == keyByteCount && header.count == headerByteCount && maximumChunkByteCount > 0)
            state = newState()
            output = .allocate(byteCount: maximumChunkByteCount, alignment: 16)
            crypto_secretstream_xchacha20poly1305_init_pull(state, header.bound, key.bound)
        }

        /// Opens a chunk and lends it to `body`. Returns nil if it's too long, out of order, or has the wrong tag.
        package mutating func open<Failure: Error>(
            _ sealed: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
        ) throws(Failure) -> Tag? {
            let count = sealed.count - overheadByteCount
            guard (0...output.count).contains(count) else { return nil }
            var tag: UInt8 = 0
            let status = crypto_secretstream_xchacha20poly1305_pull(
                state, output.bound, nil, &tag, sealed.bound, UInt64(sealed.count), nil, 0)
            let isFinal = tag == crypto_secretstream_xchacha20poly1305_tag_final()
            guard status == 0, isFinal || tag == crypto_secretstream_xchacha20poly1305_tag_message() else { return nil }
            try body(UnsafeRawBufferPointer(rebasing: output.prefix(count)))
            return isFinal ? .final : .message
        }

        deinit {
            release(state)
            sodium_memzero(output.baseAddress!, output.count)
            output.deallocate()
        }
    }
}
