/// Collects bytes that come in any portions into pieces of a wanted length. Not for two threads at once.
///
/// Unchecked: its memory is its own alone, since it can't be copied.
package struct PieceBuffer: ~Copyable, @unchecked Sendable {
    /// How many bytes it holds.
    package private(set) var count = 0
    private let memory: UnsafeMutableRawBufferPointer

    package init(capacity: Int) { memory = .allocate(byteCount: capacity, alignment: 16) }

    /// Takes as many bytes as are still missing of a piece; says how many it took.
    package mutating func fill(from bytes: UnsafeRawBufferPointer, upTo wanted: Int) -> Int {
        precondition(wanted <= memory.count)
        let taken = min(bytes.count, wanted - count)
        guard taken > 0 else { return 0 }
        UnsafeMutableRawBufferPointer(rebasing: memory[count..<count + taken])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(taken)))
        count += taken
        return taken
    }

    /// Lends what there is, and is empty afterwards.
    package mutating func empty<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bytes = UnsafeRawBufferPointer(rebasing: memory.prefix(count))
        count = 0
        return try body(bytes)
    }

    deinit {
        wipe(memory)
        memory.deallocate()
    }
}
