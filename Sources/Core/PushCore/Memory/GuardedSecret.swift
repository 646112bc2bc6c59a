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
