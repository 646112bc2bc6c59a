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
