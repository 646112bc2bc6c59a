import TestSupport
import Testing

@testable import PushCore

/// Cases designed to break libraries, by experts in breaking them. Source: each file's header.
@Suite("Wycheproof's cases") struct WycheproofTests {
    /// A case: its values by name.
    private struct Case {
        let values: [String: String]

        func bytes(_ name: String) throws -> [UInt8] { PushCoreTests.bytes(hex: try #require(values[name], "\(name)")) }

        var number: String { values["sequence"] ?? "?" }
        var isValid: Bool { values["result"] == "valid" }
    }

    private func cases(_ name: String, count: Int) throws -> [Case] {
        let cases = try VectorFile(named: "wycheproof-\(name).txt").sequences.map(Case.init)
        try #require(cases.count == count)
        return cases
    }

    @Test("X25519: every result is right, and only keys of low order or with another encoding are rejected")
    func x25519() throws {
        var refusedCount = 0
        for example in try cases("x25519", count: 518) {
            let (point, shared) = (try example.bytes("public"), try example.bytes("shared"))
            let isUnsafe = shared.allSatisfy { $0 == 0 } || !isCanonical(point)
            guard let key = try? X25519PublicKey(point) else {
                #expect(isUnsafe && !example.isValid, "case \(example.number)")
                refusedCount += 1
                continue
            }
            #expect(!isUnsafe, "case \(example.number)")
            #expect(X25519PrivateKey(try example.bytes("private")).agree(key) == shared, "case \(example.number)")
        }
        #expect(refusedCount > 30)
    }

    @Test("Ed25519: no invalid signature is accepted, and no valid one is rejected") func ed25519() throws {
        for example in try cases("ed25519", count: 151) {
            let key = try? Ed25519PublicKey(example.bytes("pk"))
            let isTaken = try key?.verify(example.bytes("sig"), of: example.bytes("msg")) ?? false
            #expect(isTaken == example.isValid, "case \(example.number)")
        }
    }

    @Test("ChaCha20-Poly1305: sealing yields the same bytes, and nothing else opens") func chaCha20Poly1305() throws {
        var wrongNonceCount = 0
        for example in try cases("chacha20-poly1305", count: 325) {
            let (key, nonce) = (try example.bytes("key"), try example.bytes("iv"))
            let (aad, message) = (try example.bytes("aad"), try example.bytes("msg"))
            let sealed = try example.bytes("ct") + example.bytes("tag")
            guard nonce.count == ChaCha20Poly1305.nonceByteCount else {
                // The type of a context's nonce allows only one length.
                #expect(!example.isValid, "case \(example.number)")
                wrongNonceCount += 1
                continue
            }
            let opened = open(sealed, aad: aad, key: key, nonce: nonce)
            #expect(opened == (example.isValid ? message : nil), "case \(example.number)")
            guard example.isValid else { continue }
            #expect(seal(message, aad: aad, key: key, nonce: nonce) == sealed, "case \(example.number)")
        }
        #expect(wrongNonceCount < 15)
    }

    @Test("HKDF with SHA-256: every output is right") func hkdf() throws {
        for example in try cases("hkdf-sha256", count: 86) {
            let count = try #require(example.values["size"].flatMap { Int($0) })
            // More than RFC 5869 allows: the program stops, which HashesTests tests.
            guard count <= 255 * 32 else {
                #expect(!example.isValid, "case \(example.number)")
                continue
            }
            let (salt, info) = (try example.bytes("salt"), try example.bytes("info"))
            let material = try example.bytes("ikm")
            let key = output(32) { key in
                salt.withUnsafeBytes { salt in
                    material.withUnsafeBytes { HKDF.extract(salt: salt, inputKeyMaterial: $0, into: key) }
                }
            }
            let result = output(count) { result in
                key.withUnsafeBytes { key in info.withUnsafeBytes { HKDF.expand(key, info: $0, into: result) } }
            }
            #expect(try result == example.bytes("okm"), "case \(example.number)")
        }
    }

    @Test("HMAC with SHA-256: every valid tag is right, and every altered one is wrong") func hmac() throws {
        for example in try cases("hmac-sha256", count: 174) {
            let (key, message) = (try example.bytes("key"), try example.bytes("msg"))
            let wanted = try example.bytes("tag")
            let tag = output(32) { tag in
                key.withUnsafeBytes { key in
                    var mac = HMACSHA256(key: key)
                    message.withUnsafeBytes { mac.update($0) }
                    mac.finish(into: tag)
                }
            }
            #expect((Array(tag.prefix(wanted.count)) == wanted) == example.isValid, "case \(example.number)")
        }
    }

    /// Below 2^255 − 19, read as little endian: compared byte by byte from the top, as a person would.
    private func isCanonical(_ bytes: [UInt8]) -> Bool {
        let prime = [0xed] + [UInt8](repeating: 0xff, count: 30) + [0x7f]
        for (byte, limit) in zip(bytes.reversed(), prime.reversed()) where byte != limit { return byte < limit }
        return false
    }

    private func seal(_ message: [UInt8], aad: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8] {
        output(message.count + 16) { output in
            message.withUnsafeBytes { message in
                lending(aad, key, nonce) {
                    ChaCha20Poly1305.seal(message, additionalData: $0, key: $1, nonce: $2, into: output)
                }
            }
        }
    }

    private func open(_ sealed: [UInt8], aad: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8]? {
        var isOpen = false
        let message = output(max(0, sealed.count - 16)) { output in
            sealed.withUnsafeBytes { sealed in
                lending(aad, key, nonce) {
                    isOpen = ChaCha20Poly1305.open(sealed, additionalData: $0, key: $1, nonce: $2, into: output)
                }
            }
        }
        return isOpen ? message : nil
    }

    private func lending(
        _ first: [UInt8], _ second: [UInt8], _ third: [UInt8],
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void
    ) {
        first.withUnsafeBytes { first in
            second.withUnsafeBytes { second in third.withUnsafeBytes { body(first, second, $0) } }
        }
    }
}
