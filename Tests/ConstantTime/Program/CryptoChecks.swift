import PushCore
import SealedPush

/// The module below all others, function by function.
enum CryptoChecks {
    static let all = [
        Check("comparing") {
            let secret = Hidden(count: 32)
            let (same, other) = (Hidden(secret.bytes), Hidden(count: 32))
            try require(published(ConstantTime.areEqual(secret.bytes, same.bytes)))
            try require(!published(ConstantTime.areEqual(secret.bytes, other.bytes)))
        },
        Check("deriving: HKDF, keyed BLAKE2b") {
            let secret = Hidden(count: 32)
            let prk = WipedBytes(count: 32) { HKDF.extract(salt: label, inputKeyMaterial: secret.bytes, into: $0) }
            let output = WipedBytes(count: 80) { output in prk.withBytes { HKDF.expand($0, info: label, into: output) }
            }
            _ = output.withBytes {
                BLAKE2b.hash([1, 2, 3], key: UnsafeRawBufferPointer(rebasing: $0[..<32]), byteCount: 32)
            }
        },
        Check("a context of one's own and one received: ephemeral key, secret keys and plaintext hidden") {
            let sender = Scalar(bytes: Hidden(count: 32).bytes)
            let (secret, recipient) = randomScalar()
            let info = HPKEInfo([1, 2, 3])
            let ephemeral = Hidden(count: 32)
            let sending = HPKEContext(
                sendingTo: recipient.publicKey, from: sender, info: info,
                ephemeral: WipedBytes(count: 32) { $0.copyMemory(from: ephemeral.bytes) })
            let plaintext = Hidden(count: 256)
            var sealed = [UInt8](repeating: 0, count: 272)
            sealed.withUnsafeMutableBytes {
                sending.seal(plaintext.bytes, additionalData: label, sequenceNumber: 1, into: $0)
            }
            publish(sealed)
            publish(sending.enc)
            let enc = sending.enc.withUnsafeBytes { X25519PublicKey(checked: $0) }
            let hidden = Scalar(bytes: Hidden(secret).bytes)
            let receiving = HPKEContext(receiving: enc, with: hidden, from: sender.publicKey, info: info)
            var opened = [UInt8](repeating: 0, count: 256)
            let isOpen = opened.withUnsafeMutableBytes { opened in
                sealed.withUnsafeBytes {
                    receiving.open($0, additionalData: label, sequenceNumber: 1, into: opened)
                }
            }
            try require(published(isOpen))
        },
        Check("a sealed box") {
            let (secret, recipient) = randomScalar()
            let plaintext = Hidden(count: 100)
            var box = [UInt8](repeating: 0, count: 148)
            box.withUnsafeMutableBytes { SealedBox.seal(plaintext.bytes, to: recipient.publicKey, into: $0) }
            publish(box)
            let hidden = Scalar(bytes: Hidden(secret).bytes)
            var opened = [UInt8](repeating: 0, count: 100)
            let isOpen = opened.withUnsafeMutableBytes { opened in
                box.withUnsafeBytes { SealedBox.open($0, with: hidden, into: opened) }
            }
            try require(published(isOpen))
        },
        Check("base64url of a key, written and read") {
            for count in [29, 32] {
                let secret = Hidden(count: count)
                var text: [UInt8] = []
                Base64URL.append(secret.array, to: &text)
                guard let read = Base64URL.decode(text) else { throw Unexpected() }
                publish(read)
                publish(secret.bytes)
                try require(read == secret.array)
            }
        },
        Check("storage: sealing, opening, MACs") {
            let key = StorageKey(derivedFrom: Hidden(count: 32).bytes, salt: [7])
            let plaintext = Hidden(count: 64)
            let sealed = key.seal(plaintext.bytes, additionalData: [1])
            publish(sealed)
            guard key.open(sealed, additionalData: [1]) != nil else { throw Unexpected() }
            let mac = key.mac([1, 2, 3])
            try require(published(key.isValid(mac, of: [1, 2, 3])))
            try require(!published(key.isValid(Hidden(count: 32).array, of: [1, 2, 3])))
        },
        Check("signing") {
            let seed = Hidden(count: 32)
            let signature = Ed25519.sign([1, 2, 3], with: seed.bytes)
            publish(signature)
            let publicKey = Ed25519.publicKey(of: seed.bytes)
            publish(publicKey)
            try require(Ed25519.verify(signature, of: [1, 2, 3], by: publicKey))
        },
        Check("a file in chunks") {
            let key = Hidden(count: 32)
            let header = UnsafeMutableRawBufferPointer.allocate(byteCount: 24, alignment: 16)
            defer { header.deallocate() }
            var sealing = SecretStream.Sealing(key: key.bytes, header: header)
            let chunk = Hidden(count: 100)
            var sealed = [UInt8](repeating: 0, count: 117)
            sealed.withUnsafeMutableBytes { sealing.seal(chunk.bytes, isFinal: true, into: $0) }
            publish(UnsafeRawBufferPointer(header))
            publish(sealed)
            var opening = SecretStream.Opening(
                key: key.bytes, header: UnsafeRawBufferPointer(header), maximumChunkByteCount: 100)
            let tag = sealed.withUnsafeBytes { sealed in opening.open(sealed) { _ in } }
            try require(tag != nil)
        },
    ]

    private static func randomScalar() -> (secret: [UInt8], key: Scalar) {
        let secret = SecureRandom.bytes(count: X25519.secretByteCount)
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: secret.count, alignment: 16)
        copy.copyBytes(from: secret)
        return (secret, Scalar(bytes: UnsafeRawBufferPointer(copy)))
    }

    private static var label: UnsafeRawBufferPointer {
        let text: StaticString = "a label"
        return UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }
}

/// A secret of X25519 in memory that is never given back.
private struct Scalar: X25519Secret, @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer

    var publicKey: X25519PublicKey { published(X25519.publicKey(of: bytes)) }

    func withScalar<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(bytes)
    }
}
