import Testing

@testable import PushCore

@Suite("ChaCha20-Poly1305") struct ChaCha20Poly1305Tests {
    /// RFC 8439 section 2.8.2.
    private let key: [UInt8] = Array(0x80...0x9f)
    private let nonce = bytes(hex: "070000004041424344454647")
    private let aad = bytes(hex: "50515253c0c1c2c3c4c5c6c7")
    private let plaintext = Array(
        "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it."
            .utf8)
    private let sealed = bytes(
        hex: """
            d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6
            3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36
            92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc
            3ff4def08e4b7a9de576d26586cec64b6116
            1ae10b594f09e26a7e902ecbd0600691
            """)

    @Test("gives RFC 8439's answer in both directions") func rfc8439() {
        #expect(seal(plaintext) == sealed)
        #expect(open(sealed) == plaintext)
    }

    @Test("seals and opens nothing at all") func empty() {
        #expect(seal([]).count == 16)
        #expect(open(seal([])) == [])
    }

    @Test("opens into a buffer of the right length only") func wrongBuffer() {
        for count in [0, plaintext.count - 1, plaintext.count + 1] {
            var isOpen = true
            _ = output(count) { isOpen = open(sealed, into: $0) }
            #expect(!isOpen)
        }
    }

    private func seal(_ plaintext: [UInt8]) -> [UInt8] {
        output(plaintext.count + 16) { output in
            plaintext.withUnsafeBytes { plaintext in
                lend { ChaCha20Poly1305.seal(plaintext, additionalData: $0, key: $1, nonce: $2, into: output) }
            }
        }
    }

    private func open(_ ciphertext: [UInt8]) -> [UInt8]? {
        var isOpen = false
        let plaintext = output(max(0, ciphertext.count - 16)) { isOpen = open(ciphertext, into: $0) }
        return isOpen ? plaintext : nil
    }

    private func open(_ ciphertext: [UInt8], into output: UnsafeMutableRawBufferPointer) -> Bool {
        ciphertext.withUnsafeBytes { ciphertext in
            lend { ChaCha20Poly1305.open(ciphertext, additionalData: $0, key: $1, nonce: $2, into: output) }
        }
    }

    private func lend<Result>(
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Result
    ) -> Result {
        aad.withUnsafeBytes { aad in
            key.withUnsafeBytes { key in nonce.withUnsafeBytes { body(aad, key, $0) } }
        }
    }
}
