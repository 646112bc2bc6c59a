import PushCrypto

extension Envelope {
    /// Opens the authenticated suite: HPKE, with the nonce of the number that the header names.
    ///
    /// Writes the plaintext into `plaintext`, which has ``plaintextByteCount`` bytes; false when the tag is wrong.
    func open(
        _ header: AuthenticatedHeader, with identity: Identity, from sender: Sender, info: HPKEInfo,
        into plaintext: UnsafeMutableRawBufferPointer
    ) -> Bool {
        let context = HPKEContext(
            receiving: header.enc, with: identity.x25519, from: sender.x25519, info: info)
        return sealedBytes.withUnsafeBytes { ciphertext in
            headerBytes.withUnsafeBytes { aad in
                context.open(ciphertext, additionalData: aad, sequenceNumber: header.sequenceNumber, into: plaintext)
            }
        }
    }
}
