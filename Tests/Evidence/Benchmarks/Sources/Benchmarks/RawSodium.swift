import CRawSodium
import Crypto
import Foundation

/// The yardstick: libsodium called as from C, with preallocated buffers; and ML-KEM from swift-crypto.
final class RawSodium {
    private var publicKey = [UInt8](repeating: 0, count: 32)
    private var secretKey = [UInt8](repeating: 0, count: 32)
    private var point = [UInt8](repeating: 0, count: 32)
    private let message = [UInt8](repeating: 7, count: 256)
    private let plaintext = [UInt8](repeating: 7, count: 512)
    private var box = [UInt8](repeating: 0, count: 256 + 48)
    private var opened = [UInt8](repeating: 0, count: 256)
    private var ciphertext = [UInt8](repeating: 0, count: 512 + 16)
    private let header = [UInt8](repeating: 1, count: 45)
    private let nonce = [UInt8](repeating: 2, count: 12)
    private var tag = [UInt8](repeating: 0, count: 32)
    private var noise = [UInt8](repeating: 0, count: 16)
    private let kemSeed = [UInt8](repeating: 3, count: 64)
    private let kemKey: MLKEM768.PublicKey
    private let kemCiphertext: Data

    init() throws {
        kemKey = try MLKEM768.PrivateKey(seedRepresentation: kemSeed, publicKey: nil).publicKey
        kemCiphertext = try kemKey.encapsulate().encapsulated
        precondition(sodium_init() >= 0)
        crypto_box_keypair(&publicKey, &secretKey)
        sealBox()
    }

    func sealBox() { crypto_box_seal(&box, message, 256, publicKey) }

    func openBox() { precondition(crypto_box_seal_open(&opened, box, 304, publicKey, secretKey) == 0) }

    func multiplyBase() { crypto_scalarmult_base(&point, secretKey) }

    func multiply() { precondition(crypto_scalarmult(&point, secretKey, publicKey) == 0) }

    func authenticate() {
        var state = crypto_auth_hmacsha256_state()
        crypto_auth_hmacsha256_init(&state, secretKey, 32)
        crypto_auth_hmacsha256_update(&state, message, 96)
        crypto_auth_hmacsha256_final(&state, &tag)
    }

    func encrypt() {
        crypto_aead_chacha20poly1305_ietf_encrypt(&ciphertext, nil, plaintext, 512, header, 45, nil, nonce, secretKey)
    }

    func hash() { crypto_generichash(&noise, 16, message, 80, secretKey, 32) }

    func encapsulate() { precondition((try? kemKey.encapsulate()) != nil) }

    /// Derives the key from its seed each time, since a phone keeps only the seed.
    func decapsulate() {
        let key = try? MLKEM768.PrivateKey(seedRepresentation: kemSeed, publicKey: nil)
        precondition((try? key?.decapsulate(kemCiphertext)) != nil)
    }

    func random() { randombytes_buf(&noise, 16) }
}
