import CRawSodium

/// libsodium's sealed box itself, for plaintexts that the project would not seal.
public enum RawSealedBox {
    /// - Parameter key: 32 bytes.
    public static func seal(_ plaintext: [UInt8], to key: [UInt8]) -> [UInt8] {
        var box = [UInt8](repeating: 0, count: plaintext.count + crypto_box_sealbytes())
        demand(crypto_box_seal(&box, plaintext, UInt64(plaintext.count), key) == 0, "libsodium did not seal")
        return box
    }
}
