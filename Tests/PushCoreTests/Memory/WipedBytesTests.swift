import TestSupport
import Testing

@testable import PushCore

@Suite("Wiped bytes")
struct WipedBytesTests {
    struct Failure: Error {}

    @Test("are zero at first, also in memory that was used before", arguments: [1, 32, 1_000, 10_000])
    func zero(count: Int) {
        do {
            let used = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
            defer { used.deallocate() }
            used.initializeMemory(as: UInt8.self, repeating: 0xaa)
        }
        let scratch = WipedBytes(count: count)
        #expect(scratch.count == count)
        #expect(scratch.array == [UInt8](repeating: 0, count: count))
    }

    @Test("lend what was written, and take what is written later")
    func write() {
        var scratch = WipedBytes(count: 3) { $0[0] = 1 }
        scratch.withMutableBytes { $0[2] = 3 }
        #expect(scratch.array == [1, 0, 3])
    }

    @Test("pass on what filling or reading them throws")
    func errors() {
        #expect(throws: Failure.self) {
            _ = try WipedBytes(count: 8) { _ throws(Failure) in throw Failure() }
        }
        #expect(throws: Failure.self) {
            let scratch = WipedBytes(count: 8)
            try scratch.withBytes { _ throws(Failure) in throw Failure() }
        }
    }

    @Test("of no length stop the program")
    func wrongCount() async {
        await #expect(processExitsWith: .failure) {
            dieQuietly()
            _ = WipedBytes(count: 0)
        }
    }
}
