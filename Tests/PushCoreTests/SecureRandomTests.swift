import Testing

@testable import PushCore

@Suite("Random bytes")
struct SecureRandomTests {
    @Test("differ each time")
    func different() {
        let draws = (0..<1_000).map { _ in SecureRandom.bytes(count: 16) }
        #expect(Set(draws).count == 1_000)
    }

    @Test("fill the whole buffer and nothing beside it")
    func fill() {
        var seen = [Set<UInt8>](repeating: [], count: 34)
        for _ in 0..<20 {
            let buffer = output(34) { SecureRandom.fill(UnsafeMutableRawBufferPointer(rebasing: $0[1..<33])) }
            for (index, byte) in buffer.enumerated() { seen[index].insert(byte) }
        }
        #expect(seen[0] == [0xaa] && seen[33] == [0xaa])
        #expect(seen[1..<33].allSatisfy { $0.count > 5 })
    }

    @Test("may be none")
    func none() {
        #expect(SecureRandom.bytes(count: 0) == [])
        SecureRandom.fill(UnsafeMutableRawBufferPointer(start: nil, count: 0))
    }
}
