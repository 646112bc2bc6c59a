#if canImport(Darwin)
package import Darwin
#else
package import Glibc
#endif

/// Mutable state shared by several threads and protected by one lock: a pthread mutex on the heap. The lock is not
/// reentrant and is held while the closure runs, so keep closures short and don't call out from them. `@unchecked`: the
/// value can't be reached without the lock. For why this isn't `Synchronization.Mutex`, see
/// Docs/Decisions/0005-one-lock-type.md.
package final class Locked<Value: ~Copyable>: @unchecked Sendable {
    // Not private, so that each caller's closure is inlined: other modules call this for every push.
    @usableFromInline package let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline package var value: Value

    package init(_ value: consuming sending Value) {
        mutex = .allocate(capacity: 1)
        self.value = value
        let status = pthread_mutex_init(mutex, nil)
        precondition(status == 0, "the system couldn't create a mutex")
    }

    @inlinable package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }
}
