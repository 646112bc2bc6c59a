internal import Clibsodium

/// A long-lived secret in memory of its own: guard pages around it, locked against swapping where the system allows
/// it, read-only once it is filled, wiped when the last owner lets go.
///
/// It can't be copied, printed or interpolated; its bytes are lent for as long as a closure runs. Any number of
/// threads may read it at once. One costs about 22 µs and four pages, and a process can hold about 16,000: use
/// ``WipedBytes`` for a secret that lives as long as one message.
///
/// Unchecked: its memory is its own alone, since it can't be copied, and is only read once it is made.
///
/// Not promised: that the bytes never reach registers, a core dump or a hibernation file.
///
/// Source: libsodium, "Secure memory".
package struct GuardedSecret: ~Copyable, @unchecked Sendable {
    /// The number of bytes.
    package let count: Int
    // Not private, so that each caller's own closure is compiled into ``withBytes(_:)``.
    @usableFromInline package let bytes: UnsafeMutableRawBufferPointer

    /// Makes a secret of `count` bytes and lets `fill` write it; what `fill` leaves alone is zero.
    ///
    /// - Parameter count: 1 to 65,536 bytes.
    /// - Throws: what `fill` throws; the memory is then wiped and released.
    package init<Failure: Error>(
        count: Int, fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        precondition((1...65_536).contains(count), "a guarded secret has 1 to 65,536 bytes")
        Sodium.ready()
        guard let memory = sodium_malloc(count) else {
            preconditionFailure("no guarded memory is left: a process can hold about 16,000 long-lived secrets")
        }
        self.count = count
        bytes = UnsafeMutableRawBufferPointer(start: memory, count: count)
        sodium_memzero(memory, count)
        // From here on the value is whole: a throw runs `deinit`, which wipes and releases.
        try fill(bytes)
        sodium_mprotect_readonly(memory)
    }

    /// Lends the bytes, read-only, for as long as `body` runs. They must not escape.
    @inlinable package func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(bytes))
    }

    deinit {
        // sodium_free wipes before it releases.
        sodium_free(bytes.baseAddress)
    }
}

/// Scratch memory for a secret that lives as long as one message: on the heap, zero at first, wiped when it goes.
///
/// It can't be copied, printed or interpolated. Making one costs about 50 ns, wiping about 3 ns. Unlike
/// ``GuardedSecret`` it has no guard pages and may be swapped. Not for use from two threads at once while it changes.
///
/// Unchecked: its memory is its own alone, since it can't be copied.
package struct WipedBytes: ~Copyable, @unchecked Sendable {
    /// The number of bytes.
    package let count: Int
    private let bytes: UnsafeMutableRawBufferPointer

    /// Makes `count` bytes, all zero.
    ///
    /// - Parameter count: 1 byte at least.
    package init(count: Int) {
        precondition(count > 0, "scratch memory has at least one byte")
        self.count = count
        bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
    }

    /// Makes `count` bytes and lets `fill` write them; when it throws they are wiped and released.
    package init<Failure: Error>(
        count: Int, fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        self.init(count: count)
        try fill(bytes)
    }

    /// Lends the bytes, read-only, for as long as `body` runs. They must not escape.
    package borrowing func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(bytes))
    }

    /// Lends the bytes for writing, for as long as `body` runs. They must not escape.
    package mutating func withMutableBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(bytes)
    }

    deinit {
        sodium_memzero(bytes.baseAddress!, count)
        bytes.deallocate()
    }
}

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

extension UnsafeRawBufferPointer {
    /// No bytes, at an address that C functions accept.
    static var empty: UnsafeRawBufferPointer { ("" as StaticString).bytes }

    /// The start as C's `const unsigned char *`, never null.
    var bound: UnsafePointer<UInt8> {
        (baseAddress ?? UnsafeRawPointer(("" as StaticString).utf8Start)).assumingMemoryBound(to: UInt8.self)
    }
}

extension UnsafeMutableRawBufferPointer {
    /// The start as C's `unsigned char *`; null only where there are no bytes.
    var bound: UnsafeMutablePointer<UInt8>! { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

extension StaticString {
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: utf8Start, count: utf8CodeUnitCount) }
}
