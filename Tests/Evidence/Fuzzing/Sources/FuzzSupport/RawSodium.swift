import CRawSodium

/// libsodium's own BLAKE2b.
public enum RawHash {
    /// - Parameter key: empty for none.
    public static func blake2b(_ bytes: [UInt8], key: [UInt8] = [], byteCount: Int) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: byteCount)
        demand(
            crypto_generichash(&hash, byteCount, bytes, UInt64(bytes.count), key, key.count) == 0,
            "libsodium didn't hash")
        return hash
    }
}

/// libsodium's own sealed box, for plaintexts that the project wouldn't seal.
public enum RawSealedBox {
    /// - Parameter key: 32 bytes.
    public static func seal(_ plaintext: [UInt8], to key: [UInt8]) -> [UInt8] {
        var box = [UInt8](repeating: 0, count: plaintext.count + crypto_box_sealbytes())
        demand(crypto_box_seal(&box, plaintext, UInt64(plaintext.count), key) == 0, "libsodium didn't seal")
        return box
    }
}

/// libsodium's own Ed25519 and SHA-256, for records that the project wouldn't sign.
public enum RawSigning {
    /// - Parameter seed: 32 bytes.
    public static func publicKey(_ seed: [UInt8]) -> [UInt8] { keyPair(seed).publicKey }

    public static func sign(_ message: [UInt8], with seed: [UInt8]) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: 64)
        let status = crypto_sign_detached(&signature, nil, message, UInt64(message.count), keyPair(seed).secretKey)
        demand(status == 0, "libsodium didn't sign")
        return signature
    }

    public static func isSignature(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
        crypto_sign_verify_detached(signature, message, UInt64(message.count), publicKey) == 0
    }

    public static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: 32)
        crypto_hash_sha256(&hash, bytes, UInt64(bytes.count))
        return hash
    }

    private static func keyPair(_ seed: [UInt8]) -> (publicKey: [UInt8], secretKey: [UInt8]) {
        var publicKey = [UInt8](repeating: 0, count: 32)
        var secretKey = [UInt8](repeating: 0, count: 64)
        demand(crypto_sign_seed_keypair(&publicKey, &secretKey, seed) == 0, "libsodium didn't create a key")
        return (publicKey, secretKey)
    }
}

/// libsodium's own secretstream, for files that the project wouldn't write.
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
            demand(status == 0, "libsodium didn't seal")
            stream += sealed
        }
        return stream
    }
}
