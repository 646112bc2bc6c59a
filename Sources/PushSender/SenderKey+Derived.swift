internal import PushCrypto
import SealedPush

extension SenderKey {
    /// 32 bytes for one purpose: HKDF-SHA256(sender secret, no salt, `info`). Nothing about the sender's secret follows from them.
    func derived(_ info: StaticString) -> GuardedSecret {
        let zeros = [UInt8](repeating: 0, count: HKDF.pseudorandomKeyByteCount)
        let extracted = WipedBytes(count: HKDF.pseudorandomKeyByteCount) { output in
            withBytes { secret in
                zeros.withUnsafeBytes { HKDF.extract(salt: $0, inputKeyMaterial: secret, into: output) }
            }
        }
        return GuardedSecret(count: HKDF.pseudorandomKeyByteCount) { output in
            extracted.withBytes { extracted in
                info.withUTF8Buffer { info in
                    HKDF.expand(extracted, info: UnsafeRawBufferPointer(info), into: output)
                }
            }
        }
    }
}
