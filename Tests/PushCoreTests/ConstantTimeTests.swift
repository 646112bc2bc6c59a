import TestSupport
import Testing

@testable import PushCore

@Suite("The comparison in constant time")
struct ConstantTimeTests {
    @Test("finds equal bytes equal, at every length up to 100")
    func equal() {
        var random = SeededGenerator()
        for count in 0...100 {
            let bytes = random.bytes(count)
            #expect(ConstantTime.areEqual(bytes, Array(bytes)))
        }
    }

    @Test("finds a difference in any single bit")
    func everyBit() {
        var random = SeededGenerator()
        let bytes = random.bytes(40)
        for bit in 0..<bytes.count * 8 {
            var other = bytes
            other[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!ConstantTime.areEqual(bytes, other))
        }
    }

    @Test("finds different lengths different, also where one begins with the other")
    func lengths() {
        #expect(!ConstantTime.areEqual([], [0]))
        #expect(!ConstantTime.areEqual([1, 2], [1, 2, 0]))
        #expect(!ConstantTime.areEqual([1, 2, 3], [1, 2]))
    }

    @Test("takes buffers without an address")
    func noAddress() {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        #expect(ConstantTime.areEqual(nothing, nothing))
        [1, 2].withUnsafeBytes { #expect(!ConstantTime.areEqual(nothing, $0)) }
    }
}
