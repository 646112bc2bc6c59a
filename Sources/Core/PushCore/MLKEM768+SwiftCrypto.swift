#if !canImport(Darwin) && canImport(Crypto)
internal import Crypto
internal import Foundation
#endif

extension MLKEM768 {
    #if !canImport(Darwin) && canImport(Crypto)
    static let swiftCrypto: Implementation? = Implementation(
        publicKey: { seed in
            guard let key = try? Crypto.MLKEM768.PrivateKey(seedRepresentation: seed, publicKey: nil) else {
                preconditionFailure("any 64 bytes are a valid seed")
            }
            return Array(key.publicKey.rawRepresentation)
        },
        encapsulate: { key, ciphertext, secret in
            guard let key = try? Crypto.MLKEM768.PublicKey(rawRepresentation: Data(key)),
                let made = try? key.encapsulate()
            else { preconditionFailure("the public key was not validated") }
            ciphertext.copyBytes(from: made.encapsulated)
            made.sharedSecret.withUnsafeBytes { secret.copyMemory(from: $0) }
        },
        decapsulate: { ciphertext, seed, secret in
            guard let key = try? Crypto.MLKEM768.PrivateKey(seedRepresentation: seed, publicKey: nil),
                let shared = try? key.decapsulate(Data(ciphertext))
            else { preconditionFailure("any 64 bytes are a valid seed, and any 1,088 a valid ciphertext") }
            shared.withUnsafeBytes { secret.copyMemory(from: $0) }
        })
    #else
    static let swiftCrypto: Implementation? = nil
    #endif
}
