/// Collects bytes that arrive in portions of any size into pieces of a given length. Not safe for concurrent use.
/// `@unchecked Sendable`: it can't be copied, so it is the sole owner of its memory.
package struct PieceBuffer: ~Copyable, @unchecked Sendable {
    package private(set) var count = 0
    private let memory: UnsafeMutableRawBufferPointer

    package init(capacity: Int) { memory = .allocate(byteCount: capacity, alignment: 16) }

    /// Copies at most the bytes that a piece still lacks, and returns how many it copied.
    package mutating func fill(from bytes: UnsafeRawBufferPointer, upTo wanted: Int) -> Int {
        precondition(wanted <= memory.count)
        let taken = min(bytes.count, wanted - count)
        guard taken > 0 else { return 0 }
        UnsafeMutableRawBufferPointer(rebasing: memory[count..<count + taken])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(taken)))
        count += taken
        return taken
    }

    /// Empties the buffer and lends its contents to `body`.
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
