package import PushCrypto

extension Envelope {
    /// Seals padded plaintext under one number of a context. **The caller never uses a number twice.**
    package static func sealing(
        _ plaintext: [UInt8], to recipient: Recipient, from sender: Sender, in context: borrowing HPKEContext,
        sequenceNumber: UInt32
    ) -> Envelope {
        let suite = Suite.authenticated
        let header = AuthenticatedHeader(
            recipientKeyID: recipient.keyID, senderKeyID: sender.keyID, sequenceNumber: sequenceNumber,
            enc: context.enc.withUnsafeBytes { X25519PublicKey(checked: $0) })
        var bytes = [UInt8](repeating: 0, count: plaintext.count + suite.overheadByteCount)
        bytes.withUnsafeMutableBytes { bytes in
            header.write(into: bytes)
            let (head, rest) = split(bytes, at: suite.headerByteCount)
            plaintext.withUnsafeBytes {
                context.seal($0, additionalData: head, sequenceNumber: sequenceNumber, into: rest)
            }
        }
        return Envelope(header: .authenticated(header), bytes: bytes)
    }

    /// Seals padded plaintext in a sealed box, which proves nothing about its sender.
    package static func sealingAnonymously(_ plaintext: [UInt8], to recipient: Recipient) -> Envelope {
        let suite = Suite.anonymous
        var bytes = [UInt8](repeating: 0, count: plaintext.count + suite.overheadByteCount)
        bytes.withUnsafeMutableBytes { bytes in
            bytes[0] = suite.rawValue
            UnsafeMutableRawBufferPointer(rebasing: bytes[1..<5]).copyBytes(from: recipient.keyID.bytes)
            let (_, rest) = split(bytes, at: suite.headerByteCount)
            plaintext.withUnsafeBytes { SealedBox.seal($0, to: recipient.x25519, into: rest) }
        }
        return Envelope(header: .anonymous(recipientKeyID: recipient.keyID), bytes: bytes)
    }

    private static func split(
        _ bytes: UnsafeMutableRawBufferPointer, at count: Int
    ) -> (UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) {
        (UnsafeRawBufferPointer(rebasing: bytes[..<count]), UnsafeMutableRawBufferPointer(rebasing: bytes[count...]))
    }
}

extension Envelope.AuthenticatedHeader {
    /// Specification 3.1, the 45 bytes.
    fileprivate func write(into bytes: UnsafeMutableRawBufferPointer) {
        bytes[0] = Envelope.Suite.authenticated.rawValue
        UnsafeMutableRawBufferPointer(rebasing: bytes[1..<5]).copyBytes(from: recipientKeyID.bytes)
        UnsafeMutableRawBufferPointer(rebasing: bytes[5..<9]).copyBytes(from: senderKeyID.bytes)
        enc.withBytes { UnsafeMutableRawBufferPointer(rebasing: bytes[9..<41]).copyMemory(from: $0) }
        bytes.storeBytes(of: sequenceNumber.bigEndian, toByteOffset: 41, as: UInt32.self)
    }
}
