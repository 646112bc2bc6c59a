import Crypto
import TestSupport
import Testing

@testable import PushCore

@Suite("An X25519 secret key")
struct X25519SecretKeyTests {
    @Test("gives RFC 7748's answers, section 6.1")
    func rfc7748() throws {
        let alice = X25519PrivateKey(bytes(hex: "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"))
        let bob = X25519PrivateKey(bytes(hex: "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"))
        #expect(
            alice.publicKey.bytes
                == bytes(hex: "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"))
        #expect(
            bob.publicKey.bytes
                == bytes(hex: "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"))
        let shared = bytes(hex: "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
        #expect(alice.agree(bob.publicKey) == shared)
        #expect(bob.agree(alice.publicKey) == shared)
    }

    @Test("agrees with swift-crypto's, for random keys")
    func swiftCrypto() throws {
        for _ in 0..<20 {
            let (theirs, peer) = (Curve25519.KeyAgreement.PrivateKey(), Curve25519.KeyAgreement.PrivateKey())
            let ours = X25519PrivateKey(Array(theirs.rawRepresentation))
            #expect(ours.publicKey.bytes == Array(theirs.publicKey.rawRepresentation))
            let agreed = try theirs.sharedSecretFromKeyAgreement(with: peer.publicKey).withUnsafeBytes { Array($0) }
            #expect(ours.agree(try X25519PublicKey(peer.publicKey.rawRepresentation)) == agreed)
        }
    }
}
