internal import Clibsodium

/// A long-lived secret in its own memory. The memory is surrounded by guard pages, locked against swapping if the system
/// allows it, read-only once filled, and wiped on deallocation.
///
/// It can't be copied, printed, or interpolated; its bytes are lent only while a closure runs. Any number of threads may
/// read it at the same time. Each takes about 22 µs and four pages, and a process can hold about 16,000: use ``WipedBytes``
/// for a secret that lives as long as one message.
///
/// `@unchecked Sendable`: it can't be copied, so it is the sole owner of its memory, which is read-only after `init`. Not
/// promised: that the bytes never reach registers, a core dump, or a hibernation file. Source: libsodium, "Secure memory".
package struct GuardedSecret: ~Copyable, @unchecked Sendable {
    package let count: Int
    // Not private, so that each caller's own closure is compiled into ``withBytes(_:)``.
    @usableFromInline package let bytes: UnsafeMutableRawBufferPointer

    /// Creates a secret of `count` bytes, 1 to 65,536, and lets `fill` write it; bytes that `fill` doesn't write are zero.
    /// If `fill` throws, the memory is wiped and released.
    package init<Failure: Error>(
        count: Int, fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        precondition((1...65_536).contains(count), "a guarded secret has 1 to 65,536 bytes")
        Sodium.ready()
        guard let memory = sodium_malloc(count) else {
            preconditionFailure("out of guarded memory; a process can hold about 16,000 long-lived secrets")
        }
        self.count = count
        bytes = UnsafeMutableRawBufferPointer(start: memory, count: count)
        sodium_memzero(memory, count)
        // From here on, the value is fully initialized: a throw runs `deinit`, which wipes and releases.
        try fill(bytes)
        sodium_mprotect_readonly(memory)
    }

    /// Lends the bytes, read-only, while `body` runs. They must not escape.
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

/// Scratch memory for a secret that lives as long as one message: on the heap, initially zero, and wiped on deallocation.
///
/// It can't be copied, printed, or interpolated. Creating one costs about 50 ns, and wiping about 3 ns. Unlike
/// ``GuardedSecret``, it has no guard pages and may be swapped. Not safe for concurrent use while it changes.
/// `@unchecked Sendable`: it can't be copied, so it is the sole owner of its memory.
package struct WipedBytes: ~Copyable, @unchecked Sendable {
    package let count: Int
    private let bytes: UnsafeMutableRawBufferPointer

    /// Creates `count` zero bytes, at least 1.
    package init(count: Int) {
        precondition(count > 0, "scratch memory needs at least one byte")
        self.count = count
        bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
    }

    /// Creates `count` bytes and lets `fill` write them. If it throws, they are wiped and released.
    package init<Failure: Error>(
        count: Int, fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        self.init(count: count)
        try fill(bytes)
    }

    /// Lends the bytes, read-only, while `body` runs. They must not escape.
    package borrowing func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(bytes))
    }

    /// Lends the bytes for writing while `body` runs. They must not escape.
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

extension UnsafeRawBufferPointer {
    /// No bytes, at an address that C functions accept.
    static var empty: UnsafeRawBufferPointer { ("" as StaticString).bytes }

    /// The start as C's `const unsigned char *`, never null.
    var bound: UnsafePointer<UInt8> {
        (baseAddress ?? UnsafeRawPointer(("" as StaticString).utf8Start)).assumingMemoryBound(to: UInt8.self)
    }
}

extension UnsafeMutableRawBufferPointer {
    /// The start as C's `unsigned char *`; null only if there are no bytes.
    var bound: UnsafeMutablePointer<UInt8>! { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

extension StaticString {
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: utf8Start, count: utf8CodeUnitCount) }
}
