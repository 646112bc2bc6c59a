import TestSupport
import Testing

@testable import PushCore

/// Specification 4.1 and 4.3.
@Suite("Padding")
struct PaddingTests {
    @Test("comes off again, for every content length from 1 to 600 bytes")
    func everyLength() {
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

    @Test("comes off content that itself ends like padding")
    func deceptive() {
        for content in [[0x80], [0x80, 0], [0, 0], [0], [1, 0x80, 0, 0]] as [[UInt8]] {
            #expect(contentByteCount(pad(content, to: 16)) == content.count)
        }
    }

    @Test("around no content is refused, at every length up to 600 bytes")
    func empty() {
        for count in 1...600 { #expect(contentByteCount(pad([], to: count)) == nil) }
    }

    @Test("of zeros only is refused, and so is nothing at all")
    func zeros() {
        for count in 0...600 { #expect(contentByteCount([UInt8](repeating: 0, count: count)) == nil) }
    }

    @Test("that does not begin with 0x80 is refused, for every other byte")
    func otherMarks() {
        for mark in 1...255 as ClosedRange<UInt8> where mark != 0x80 {
            #expect(contentByteCount([7, mark]) == nil)
            #expect(contentByteCount([7, 0x80, mark, 0, 0]) == nil)
        }
    }

    @Test("needs room for one byte: a full buffer stops the program")
    func noRoom() async {
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
