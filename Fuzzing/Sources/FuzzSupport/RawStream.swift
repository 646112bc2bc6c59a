import CRawSodium

/// libsodium's secretstream itself, for files that the project would not write.
public enum RawStream {
    /// - Parameters:
    ///   - chunks: each with its tag: 0 for a message, 1 for push, 2 for rekey, 3 for the last.
    ///   - key: 32 bytes.
    public static func seal(_ chunks: [(bytes: [UInt8], tag: UInt8)], with key: [UInt8]) -> [UInt8] {
        var state = crypto_secretstream_xchacha20poly1305_state()
        var stream = [UInt8](repeating: 0, count: crypto_secretstream_xchacha20poly1305_headerbytes())
        crypto_secretstream_xchacha20poly1305_init_push(&state, &stream, key)
        for (bytes, tag) in chunks {
            var sealed = [UInt8](repeating: 0, count: bytes.count + crypto_secretstream_xchacha20poly1305_abytes())
            let status = crypto_secretstream_xchacha20poly1305_push(
                &state, &sealed, nil, bytes, UInt64(bytes.count), nil, 0, tag)
            demand(status == 0, "libsodium did not seal")
            stream += sealed
        }
        return stream
    }
}
