import Crypto
import TestSupport
import Testing

@testable import PushCore

@Suite("The hashes")
struct HashesTests {
    @Test("SHA-256 has FIPS 180-4's answers for abc and for nothing")
    func sha256() {
        #expect(
            sha256(Array("abc".utf8))
                == bytes(hex: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
        #expect(sha256([]) == bytes(hex: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
    }

    @Test("SHA-256 agrees with swift-crypto at every length up to 300 bytes")
    func sha256OfEveryLength() {
        var random = SeededGenerator()
        for count in 0...300 {
            let message = random.bytes(count)
            #expect(sha256(message) == Array(Crypto.SHA256.hash(data: message)))
        }
    }

    private func sha256(_ message: [UInt8]) -> [UInt8] { message.withUnsafeBytes { PushCore.SHA256.hash($0) } }

    @Test("BLAKE2b has RFC 7693's answer for abc")
    func blake2b() {
        let expected = """
            ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1
            7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923
            """
        #expect(BLAKE2b.hash(Array("abc".utf8), byteCount: 64) == bytes(hex: expected))
    }

    @Test("keyed BLAKE2b has the answers of the algorithm's own blake2b-kat.txt")
    func keyedBLAKE2b() {
        let key: [UInt8] = Array(0..<64)
        let empty = """
            10ebb67700b1868efb4417987acf4690ae9d972fb7a590c2f02871799aaa4786
            b5e996e8f0f4eb981fc214b005f42d2ff4233499391653df7aefcbc13fc51568
            """
        let oneByte = """
            961f6dd1e4dd30f63901690c512e78e4b45e4742ed197c3c5e45c549fd25f2e4
            187b0bc9fe30492b16b0d0bc4ef9b0f34c7003fac09a5ef1532e69430234cebd
            """
        #expect(keyed([], key, 64) == bytes(hex: empty))
        #expect(keyed([0], key, 64) == bytes(hex: oneByte))
    }

    @Test("BLAKE2b's length is a parameter, not a cut")
    func length() {
        let message = Array("abc".utf8)
        for count in 16..<64 {
            #expect(BLAKE2b.hash(message, byteCount: count) != Array(BLAKE2b.hash(message, byteCount: 64)[..<count]))
        }
        #expect(
            BLAKE2b.hash(message, byteCount: 32)
                == bytes(hex: "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"))
    }

    @Test("BLAKE2b stops a program that asks for too short a hash or gives too short a key")
    func wrongCalls() async {
        await #expect(processExitsWith: .failure) {
            dieQuietly()
            _ = BLAKE2b.hash([], byteCount: 15)
        }
        await #expect(processExitsWith: .failure) {
            dieQuietly()
            _ = BLAKE2b.hash([], key: .empty, byteCount: 32)
        }
    }

    private func keyed(_ message: [UInt8], _ key: [UInt8], _ count: Int) -> [UInt8] {
        key.withUnsafeBytes { BLAKE2b.hash(message, key: $0, byteCount: count) }
    }
}
