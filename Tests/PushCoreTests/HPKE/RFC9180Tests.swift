import TestSupport
import Testing

@testable import PushCore

/// RFC 9180, appendix A.2.3.
@Suite("RFC 9180's vectors for mode_auth")
struct RFC9180Tests {
    private let vectors: VectorFile
    private let info: HPKEInfo

    init() throws {
        vectors = try VectorFile(named: "rfc9180-a2-auth.txt")
        info = HPKEInfo(vectors.bytes("info"))
    }

    private func sending() throws -> HPKEContext {
        HPKEContext(
            sendingTo: try X25519PublicKey(vectors.bytes("pkRm")), from: X25519PrivateKey(vectors.bytes("skSm")),
            info: info, ephemeral: WipedBytes(vectors.bytes("skEm")))
    }

    private func receiving() throws -> HPKEContext {
        HPKEContext(
            receiving: try X25519PublicKey(vectors.bytes("enc")),
            with: X25519PrivateKey(vectors.bytes("skRm")), from: try X25519PublicKey(vectors.bytes("pkSm")),
            info: info)
    }

    @Test("the secret keys have the public keys that the RFC gives", arguments: ["E", "R", "S"])
    func keyPairs(name: String) throws {
        #expect(X25519PrivateKey(vectors.bytes("sk\(name)m")).publicKey.bytes == vectors.bytes("pk\(name)m"))
    }

    @Test("both sides come to the RFC's shared secret")
    func sharedSecret() throws {
        let enc = try X25519PublicKey(vectors.bytes("enc"))
        let sent = AuthenticatedKEM.encapsulate(
            to: try X25519PublicKey(vectors.bytes("pkRm")), from: X25519PrivateKey(vectors.bytes("skSm")),
            ephemeral: WipedBytes(vectors.bytes("skEm")), enc: enc)
        let received = AuthenticatedKEM.decapsulate(
            enc, with: X25519PrivateKey(vectors.bytes("skRm")), from: try X25519PublicKey(vectors.bytes("pkSm")))
        #expect(sent.array == vectors.bytes("shared_secret"))
        #expect(received.array == vectors.bytes("shared_secret"))
    }

    @Test("the key schedule has the RFC's inner values, exporter secret included")
    func keySchedule() throws {
        #expect(info.keyScheduleContext == vectors.bytes("key_schedule_context"))
        let secret = HPKEContext.secret(WipedBytes(vectors.bytes("shared_secret")))
        #expect(secret.array == vectors.bytes("secret"))
        let exporterSecret = secret.withBytes { secret in
            info.keyScheduleContext.withUnsafeBytes { context in
                output(32) { HPKE.labeledExpand(HPKE.suiteID, secret, label: "exp", context, into: $0) }
            }
        }
        #expect(exporterSecret == vectors.bytes("exporter_secret"))
    }

    @Test("both sides hold the RFC's enc, key and base nonce")
    func keyAndBaseNonce() throws {
        func check(_ context: borrowing HPKEContext) {
            #expect(context.enc == vectors.bytes("enc"))
            let (key, nonce) = context.withKeyAndNonce(0) { (Array($0), Array($1)) }
            #expect(key == vectors.bytes("key"))
            #expect(nonce == vectors.bytes("base_nonce"))
        }
        check(try sending())
        check(try receiving())
    }

    @Test("every message that the RFC gives is sealed and opened")
    func messages() throws {
        #expect(vectors.sequences.map { $0["sequence"] } == ["0", "1", "2", "4", "255", "256"])
        let sender = try sending()
        let receiver = try receiving()
        for vector in vectors.sequences {
            let number = try #require(vector["sequence"].flatMap(UInt32.init))
            let (plaintext, aad) = (bytes(hex: vector["pt"]!), bytes(hex: vector["aad"]!))
            let ciphertext = bytes(hex: vector["ct"]!)
            #expect(sender.withKeyAndNonce(number) { Array($1) } == bytes(hex: vector["nonce"]!))
            #expect(sender.seal(plaintext, aad: aad, number) == ciphertext)
            #expect(receiver.open(ciphertext, aad: aad, number) == plaintext)
            #expect(receiver.open(ciphertext, aad: aad, number + 1) == nil)
        }
    }
}
