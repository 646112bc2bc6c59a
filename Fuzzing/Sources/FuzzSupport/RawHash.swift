import CRawSodium

/// libsodium's BLAKE2b itself.
public enum RawHash {
    /// - Parameter key: empty for none.
    public static func blake2b(_ bytes: [UInt8], key: [UInt8] = [], byteCount: Int) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: byteCount)
        demand(
            crypto_generichash(&hash, byteCount, bytes, UInt64(bytes.count), key, key.count) == 0,
            "libsodium made no hash")
        return hash
    }
}
