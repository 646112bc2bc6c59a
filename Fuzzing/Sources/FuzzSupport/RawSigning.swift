import CRawSodium

/// libsodium's Ed25519 and SHA-256 themselves, for records that the project would not sign.
public enum RawSigning {
    /// - Parameter seed: 32 bytes.
    public static func publicKey(_ seed: [UInt8]) -> [UInt8] { keyPair(seed).publicKey }

    public static func sign(_ message: [UInt8], with seed: [UInt8]) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: 64)
        let status = crypto_sign_detached(&signature, nil, message, UInt64(message.count), keyPair(seed).secretKey)
        demand(status == 0, "libsodium did not sign")
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
        demand(crypto_sign_seed_keypair(&publicKey, &secretKey, seed) == 0, "libsodium made no key")
        return (publicKey, secretKey)
    }
}
