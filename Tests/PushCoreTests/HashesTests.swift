import Crypto
import TestSupport
import Testing

@testable import PushCore

@Suite("The hashes") struct HashesTests {
    @Test("SHA-256 agrees with swift-crypto at every length up to 300 bytes") func sha256OfEveryLength() {
        var random = SeededGenerator()
        for count in 0...300 {
            let message = random.bytes(count)
            #expect(message.withUnsafeBytes { PushCore.SHA256.hash($0) } == Array(Crypto.SHA256.hash(data: message)))
        }
    }

    @Test("BLAKE2b has RFC 7693's result for abc") func blake2b() {
        let expected = """
            ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1
            7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923
            """
        #expect(BLAKE2b.hash(Array("abc".utf8), byteCount: 64) == bytes(hex: expected))
    }

    @Test("Keyed BLAKE2b has the results in the algorithm's own blake2b-kat.txt") func keyedBLAKE2b() {
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

    @Test("BLAKE2b's length is a parameter, not a truncation") func length() {
        let message = Array("abc".utf8)
        for count in 16..<64 {
            #expect(BLAKE2b.hash(message, byteCount: count) != Array(BLAKE2b.hash(message, byteCount: 64)[..<count]))
        }
        #expect(
            BLAKE2b.hash(message, byteCount: 32)
                == bytes(hex: "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"))
    }

    @Test("BLAKE2b stops a program that requests a hash, or passes a key, that is too short") func wrongCalls() async {
        await #expect(processExitsWith: .failure) {
            dieQuietly()
            _ = BLAKE2b.hash([], byteCount: 15)
        }
        await #expect(processExitsWith: .failure) {
            dieQuietly()
            _ = BLAKE2b.hash([], key: .empty, byteCount: 32)
        }
    }

    @Test("HKDF stops a program that requests no bytes, or more than 8,160") func wrongLengths() async {
        await #expect(processExitsWith: .failure) {
            dieQuietly()
            _ = output(0) { PushCore.HKDF.expand(.empty, info: .empty, into: $0) }
        }
        await #expect(processExitsWith: .failure) {
            dieQuietly()
            _ = output(8_161) { PushCore.HKDF.expand(.empty, info: .empty, into: $0) }
        }
    }

    private func keyed(_ message: [UInt8], _ key: [UInt8], _ count: Int) -> [UInt8] {
        key.withUnsafeBytes { BLAKE2b.hash(message, key: $0, byteCount: count) }
    }
}

@Suite("The comparison in constant time") struct ConstantTimeTests {
    @Test("Equal bytes compare as equal, at every length up to 100") func equal() {
        var random = SeededGenerator()
        for count in 0...100 {
            let bytes = random.bytes(count)
            #expect(ConstantTime.areEqual(bytes, Array(bytes)))
        }
    }

    @Test("A difference in any single bit is found") func everyBit() {
        var random = SeededGenerator()
        let bytes = random.bytes(40)
        for bit in 0..<bytes.count * 8 {
            var other = bytes
            other[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!ConstantTime.areEqual(bytes, other))
        }
    }

    @Test("Different lengths compare as different, even if one value begins with the other") func lengths() {
        #expect(!ConstantTime.areEqual([], [0]))
        #expect(!ConstantTime.areEqual([1, 2], [1, 2, 0]))
        #expect(!ConstantTime.areEqual([1, 2, 3], [1, 2]))
    }

    @Test("Buffers without an address are accepted") func noAddress() {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        #expect(ConstantTime.areEqual(nothing, nothing))
        [1, 2].withUnsafeBytes { #expect(!ConstantTime.areEqual(nothing, $0)) }
    }
}

@Suite("Random bytes") struct SecureRandomTests {
    @Test("Random bytes differ each time") func different() {
        let draws = (0..<1_000).map { _ in SecureRandom.bytes(count: 16) }
        #expect(Set(draws).count == 1_000)
    }

    @Test("Random bytes fill the whole buffer, and only the buffer") func fill() {
        var seen = [Set<UInt8>](repeating: [], count: 34)
        for _ in 0..<20 {
            let buffer = output(34) { SecureRandom.fill(UnsafeMutableRawBufferPointer(rebasing: $0[1..<33])) }
            for (index, byte) in buffer.enumerated() { seen[index].insert(byte) }
        }
        #expect(seen[0] == [0xaa] && seen[33] == [0xaa])
        #expect(seen[1..<33].allSatisfy { $0.count > 5 })
    }

    @Test("Zero random bytes are allowed") func none() {
        #expect(SecureRandom.bytes(count: 0) == [])
        SecureRandom.fill(UnsafeMutableRawBufferPointer(start: nil, count: 0))
    }
}

@Suite("libsodium") struct SodiumTests {
    @Test("This machine's libsodium has no problem") func ready() { #expect(Sodium.problem == nil) }

    @Test(
        "libsodium is accepted starting with 1.0.18",
        arguments: [(9, 9, false), (10, 2, false), (10, 3, true), (10, 4, true), (23, 0, true), (26, 1, true)])
    func version(major: Int32, minor: Int32, isRecent: Bool) {
        #expect(Sodium.isRecent(major, minor) == isRecent)
    }
}

/// Specification 4.1 and 4.3.
@Suite("Padding") struct PaddingTests {
    @Test("Padding can be removed, for every content length from 1 to 600 bytes") func everyLength() {
        var random = SeededGenerator()
        for count in 1...600 {
            let content = random.bytes(count)
            for filler in [1, 2, Int.random(in: 1...300, using: &random)] {
                let padded = pad(content, to: count + filler)
                #expect(padded[..<count].elementsEqual(content))
                #expect(padded[count] == 0x80)
                #expect(padded[(count + 1)...].allSatisfy { $0 == 0 })
                #expect(contentByteCount(padded) == count)
            }
        }
    }

    @Test("Padding can be removed from content that itself ends like padding") func deceptive() {
        for content in [[0x80], [0x80, 0], [0, 0], [0], [1, 0x80, 0, 0]] as [[UInt8]] {
            #expect(contentByteCount(pad(content, to: 16)) == content.count)
        }
    }

    @Test("Padding without content is rejected, at every length up to 600 bytes") func empty() {
        for count in 1...600 { #expect(contentByteCount(pad([], to: count)) == nil) }
    }

    @Test("Padding of zeros only is rejected, and so is an empty buffer") func zeros() {
        for count in 0...600 { #expect(contentByteCount([UInt8](repeating: 0, count: count)) == nil) }
    }

    @Test("Padding that begins with any other byte than 0x80 is rejected") func otherMarks() {
        for mark in 1...255 as ClosedRange<UInt8> where mark != 0x80 {
            #expect(contentByteCount([7, mark]) == nil)
            #expect(contentByteCount([7, 0x80, mark, 0, 0]) == nil)
        }
    }

    @Test("Padding needs room for one byte: a full buffer stops the program") func noRoom() async {
        await #expect(processExitsWith: .failure) {
            dieQuietly()
            _ = output(4) { Padding.pad($0, contentByteCount: 4) }
        }
    }

    private func pad(_ content: [UInt8], to count: Int) -> [UInt8] {
        output(count) { buffer in
            buffer.copyBytes(from: content)
            Padding.pad(buffer, contentByteCount: content.count)
        }
    }

    private func contentByteCount(_ padded: [UInt8]) -> Int? {
        padded.withUnsafeBytes { Padding.contentByteCount(of: $0) }
    }
}
