package import PushCore

/// Expands a 32-byte seed into keys by HKDF-SHA256 without a salt, each under its own label. A label ends with a zero byte,
/// and each text after it begins with its length, so no two uses share an `info`. A key reveals nothing about the seed or
/// any other key. Source: RFC 5869; Specification 3.7.
enum Seed {
    static let byteCount = 32

    /// Fills `output` with at most 8,160 bytes; about 2 µs.
    static func expand(
        _ seed: UnsafeRawBufferPointer, _ label: StaticString, for texts: [String] = [],
        into output: UnsafeMutableRawBufferPointer
    ) {
        var info: [UInt8] = []
        label.withUTF8Buffer { info += $0 }
        info.append(0)
        for text in texts {
            info.append(bigEndian: UInt64(text.utf8.count))
            info += text.utf8
        }
        let extracted = WipedBytes(count: HKDF.pseudorandomKeyByteCount) {
            HKDF.extract(
                salt: UnsafeRawBufferPointer(start: nil, count: 0), inputKeyMaterial: seed, into: $0)
        }
        extracted.withBytes { extracted in
            info.withUnsafeBytes { HKDF.expand(extracted, info: $0, into: output) }
        }
    }

    /// For the seed of the ML-KEM half of a device's hybrid key: d ‖ z, 64 bytes.
    static let mlkemLabel: StaticString = "sealedpush/v1 device ml-kem"
    /// For the X25519 scalar of a device's hybrid key.
    static let deviceScalarLabel: StaticString = "sealedpush/v1 device scalar"
    /// For a sender's X25519 scalar. It isn't bound to a topic, so a sender has one public key for all its apps.
    static let senderScalarLabel: StaticString = "sealedpush/v1 sender scalar"
}

extension SenderPrivateKey {
    /// Returns 32 bytes for one purpose, bound to the texts: the topic and, if it belongs to a single service, the service.
    package func derived(_ label: StaticString, for texts: String...) -> GuardedSecret {
        GuardedSecret(count: HKDF.pseudorandomKeyByteCount) { output in
            withBytes { Seed.expand($0, label, for: texts, into: output) }
        }
    }
}
