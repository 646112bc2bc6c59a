internal import Clibsodium

/// IETF ChaCha20-Poly1305 (RFC 8439): a 32-byte key, a 12-byte nonce, and a 16-byte tag after the ciphertext.
package enum ChaCha20Poly1305 {
    package static let keyByteCount = 32
    package static let nonceByteCount = 12
    package static let tagByteCount = 16

    /// Writes ciphertext and tag into `output`, which is 16 bytes longer than `plaintext` and may share its address.
    static func seal(
        _ plaintext: UnsafeRawBufferPointer, additionalData: UnsafeRawBufferPointer,
        key: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) {
        precondition(key.count == keyByteCount && nonce.count == nonceByteCount)
        precondition(output.count == plaintext.count + tagByteCount)
        let status = crypto_aead_chacha20poly1305_ietf_encrypt(
            output.bound, nil, plaintext.bound, UInt64(plaintext.count), additionalData.bound,
            UInt64(additionalData.count), nil, nonce.bound, key.bound)
        precondition(status == 0)
    }

    /// Writes the plaintext into `output`, which is 16 bytes shorter than `ciphertext`. Returns false if the tag is wrong.
    static func open(
        _ ciphertext: UnsafeRawBufferPointer, additionalData: UnsafeRawBufferPointer,
        key: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        precondition(key.count == keyByteCount && nonce.count == nonceByteCount)
        guard ciphertext.count >= tagByteCount, output.count == ciphertext.count - tagByteCount else { return false }
        return crypto_aead_chacha20poly1305_ietf_decrypt(
            output.bound, nil, nil, ciphertext.bound, UInt64(ciphertext.count), additionalData.bound,
            UInt64(additionalData.count), nonce.bound, key.bound) == 0
    }
}
