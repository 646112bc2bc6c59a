import Foundation
import PushCore
import TestSupport
import Testing

@testable import SealedPush

@Suite("An encrypted file") struct SealedFileTests {
    /// Encrypts in memory. Returns the stored bytes and the description of them in the content.
    static func seal(_ plaintext: [UInt8], key: AttachmentKey? = AttachmentKey()) throws -> (
        stored: [UInt8], file: RemoteFile
    ) {
        var sealing = FileSealing(key: key)
        var stored: [UInt8] = []
        var rest = plaintext[...]
        repeat {
            let chunk = Array(rest.prefix(SealedFileLayout.chunkByteCount))
            rest = rest.dropFirst(chunk.count)
            let scratch = WipedBytes(count: max(1, chunk.count)) { $0.copyBytes(from: chunk) }
            try scratch.withBytes { (bytes) throws(AttachmentError) in
                try sealing.take(UnsafeRawBufferPointer(rebasing: bytes.prefix(chunk.count)), isLast: rest.isEmpty) {
                    stored.append(contentsOf: $0)
                }
            }
        } while !rest.isEmpty
        let byteCount = sealing.byteCount
        #expect(byteCount == stored.count)
        let file = RemoteFile(
            url: URL(string: "https://example.com/f")!, byteCount: byteCount, hash: sealing.finish(), key: key)
        return (stored, file)
    }

    /// Opens bytes that arrive in portions of these lengths, repeatedly.
    static func open(_ file: RemoteFile, _ stored: [UInt8], portions: [Int] = [1 << 20]) throws(AttachmentError)
        -> [UInt8]
    {
        var opening = RemoteFileOpening(file)
        var plaintext: [UInt8] = []
        var rest = stored[...]
        var turn = 0
        while !rest.isEmpty {
            let portion = Array(rest.prefix(portions[turn % portions.count]))
            turn += 1
            rest = rest.dropFirst(portion.count)
            let scratch = WipedBytes(count: max(1, portion.count)) { $0.copyBytes(from: portion) }
            try scratch.withBytes { (bytes) throws(AttachmentError) in
                try opening.take(UnsafeRawBufferPointer(rebasing: bytes.prefix(portion.count))) {
                    plaintext.append(contentsOf: $0)
                }
            }
        }
        try opening.finish()
        return plaintext
    }

    static func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    @Test("A file opens at every length around the chunks' ends, in portions of any size, sealed and plain")
    func lengths() throws {
        for count in [0, 1, 15, 16, 17, 65_535, 65_536, 65_537, 131_071, 131_072, 131_073, 200_000] {
            let plaintext = Self.bytes(count)
            let (stored, file) = try Self.seal(plaintext)
            #expect(SealedFileLayout(plaintextByteCount: count).sealedByteCount == stored.count)
            #expect(file.contentByteCount == count)
            for portions in [[1 << 20], [65_553], [24, 65_553], [4_096], [7, 40_000, 1], [65_552, 2]] {
                #expect(try Self.open(file, stored, portions: portions) == plaintext)
            }
            if count < 100 { #expect(try Self.open(file, stored, portions: [1]) == plaintext) }
            guard count > 0 else { continue }
            let (plain, plainFile) = try Self.seal(plaintext, key: nil)
            #expect(plain == plaintext)
            #expect(try Self.open(plainFile, plain, portions: [1_000]) == plaintext)
        }
    }

    @Test("A file with any bit flipped is rejected, by the hash or, if the hash matches, by the key")
    func bits() throws {
        let plaintext = Self.bytes(100)
        let (stored, file) = try Self.seal(plaintext)
        for bit in 0..<(stored.count * 8) {
            var altered = stored
            altered[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: AttachmentError.altered) { try Self.open(file, altered) }
            var hashed = file
            hashed.hash = altered.withUnsafeBytes { BLAKE2b.hash(Array($0), byteCount: 32) }
            #expect(throws: AttachmentError.altered) { try Self.open(hashed, altered) }
        }
    }

    @Test("A file of any other length is rejected") func cut() throws {
        let (stored, file) = try Self.seal(Self.bytes(200))
        for count in 0..<stored.count {
            #expect(throws: AttachmentError.cut) { try Self.open(file, Array(stored[..<count])) }
            // Even if the content itself specifies that length, and the hash matches.
            var shorter = file
            shorter.byteCount = count
            shorter.hash = BLAKE2b.hash(Array(stored[..<count]), byteCount: 32)
            if count > 0 { #expect(throws: AttachmentError.self) { try Self.open(shorter, Array(stored[..<count])) } }
        }
        #expect(throws: AttachmentError.tooLarge) { try Self.open(file, stored + [0]) }
    }

    @Test("Chunks that are reordered, repeated, or lack the last one are rejected even if the hash matches")
    func chunks() throws {
        let (stored, file) = try Self.seal(Self.bytes(3 * 65_536 - 10))
        let header = Array(stored[..<24])
        let pieces = stride(from: 24, to: stored.count, by: 65_553).map {
            Array(stored[$0..<min(stored.count, $0 + 65_553)])
        }
        #expect(pieces.count == 3)
        for order in [[1, 0, 2], [0, 0, 2], [0, 1, 1], [0, 1], [0], [0, 2], [2], [0, 1, 2, 2]] {
            let bytes = header + order.flatMap { pieces[$0] }
            var other = file
            other.byteCount = bytes.count
            other.hash = BLAKE2b.hash(bytes, byteCount: 32)
            #expect(throws: AttachmentError.altered, "\(order)") { try Self.open(other, bytes) }
        }
    }

    @Test("An empty final chunk after a full one is rejected, although the key, the hash, and the length match")
    func emptyEnd() throws {
        let key = AttachmentKey()
        let count = SealedFileLayout.chunkByteCount
        var stored = [UInt8](
            repeating: 0, count: SealedFileLayout.headerByteCount + count + 2 * SecretStream.overheadByteCount)
        let chunk = [UInt8](repeating: 7, count: count)
        stored.withUnsafeMutableBytes { stored in
            let headerEnd = SealedFileLayout.headerByteCount
            let header = UnsafeMutableRawBufferPointer(rebasing: stored[..<headerEnd])
            let first = UnsafeMutableRawBufferPointer(
                rebasing: stored[headerEnd..<stored.count - SecretStream.overheadByteCount])
            let last = UnsafeMutableRawBufferPointer(rebasing: stored.suffix(SecretStream.overheadByteCount))
            var sealing = key.withBytes { SecretStream.Sealing(key: $0, header: header) }
            chunk.withUnsafeBytes { sealing.seal($0, isFinal: false, into: first) }
            sealing.seal(UnsafeRawBufferPointer(start: nil, count: 0), isFinal: true, into: last)
        }
        let url = try #require(URL(string: "https://example.com/f"))
        let file = RemoteFile(url: url, byteCount: stored.count, hash: BLAKE2b.hash(stored, byteCount: 32), key: key)
        #expect(throws: AttachmentError.altered) { _ = try Self.open(file, stored) }
    }

    @Test("Another key opens nothing, and keys are never printed") func keys() throws {
        let (stored, file) = try Self.seal(Self.bytes(100))
        var other = file
        other.key = AttachmentKey()
        #expect(other.key != file.key)
        #expect(throws: AttachmentError.altered) { try Self.open(other, stored) }
        let text = try #require(file.key?.text)
        #expect(AttachmentKey(text: text) == file.key)
        #expect(!"\(file)".contains(text) && !String(reflecting: file).contains(text))
        var dumped = ""
        dump(file, to: &dumped)
        #expect(!dumped.contains(text))
    }

    @Test("A file's length is accepted only if content of some length has it") func layout() {
        var seen: Set<Int> = []
        for count in 0...200_000 {
            let sealed = SealedFileLayout(plaintextByteCount: count).sealedByteCount
            seen.insert(sealed)
            guard SealedFileLayout(sealedByteCount: sealed)?.plaintextByteCount == count else {
                Issue.record("length \(count)")
                return
            }
        }
        let wrong = (0...200_000).filter { !seen.contains($0) && SealedFileLayout(sealedByteCount: $0) != nil }
        #expect(wrong == [])
    }
}
