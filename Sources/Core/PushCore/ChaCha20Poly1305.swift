internal import Clibsodium

/// ChaCha20-Poly1305 as the IETF has it (RFC 8439): 32-byte key, 12-byte nonce, 16-byte tag behind the ciphertext.
package enum ChaCha20Poly1305 {
    package static let keyByteCount = 32
    package static let nonceByteCount = 12
    package static let tagByteCount = 16

    /// Writes ciphertext and tag into `output`, which has 16 bytes more than `plaintext`. They may start at one place.
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

    /// Writes the plaintext into `output`, which has 16 bytes less than `ciphertext`; false when the tag is wrong.
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
