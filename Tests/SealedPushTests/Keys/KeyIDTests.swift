import Crypto
import Testing

@testable import PushCore
@testable import SealedPush

/// Specification 3.2.
@Suite("A key ID")
struct KeyIDTests {
    @Test("is the first four bytes of SHA-256, as swift-crypto has it")
    func knownAnswer() {
        for _ in 0..<20 {
            let identity = DevicePrivateKey()
            let digest = Array(Crypto.SHA256.hash(data: identity.recipient.bytes))
            #expect(identity.recipient.keyID.bytes == Array(digest[..<4]))
            #expect(identity.recipient.keyID.description == Hex.encode(digest[..<4]))
            #expect(SenderPublicKey(identity.recipient.bytes, .x25519)!.keyID == identity.recipient.keyID)
        }
    }

    @Test("keeps its leading zeros")
    func zeros() {
        #expect(KeyID([0, 0, 0, 1][...]).description == "00000001")
        #expect(KeyID([0, 0, 0, 1][...]).bytes == [0, 0, 0, 1])
    }

    @Test("is no proof: two keys may share one")
    func twins() throws {
        let (first, second) = (try DevicePrivateKey(secret: Twins.first), try DevicePrivateKey(secret: Twins.second))
        #expect(first.recipient != second.recipient)
        #expect(first.recipient.keyID == second.recipient.keyID)
        #expect(first.recipient.keyID.description == Twins.keyID)
    }
}
