/// Mutable state that several threads share, behind one lock: a pthread mutex on the heap.
///
/// The lock is not reentrant and is held for as long as the closure runs, so keep closures short and let them call
/// nobody. Unchecked: nothing reaches the value without the lock. Why not `Synchronization.Mutex`:
/// Docs/Decisions/0005-one-lock-type.md.
package final class Locked<Value: ~Copyable>: @unchecked Sendable {
    // Not private, so that each caller's own closure is compiled into it: other modules call this for every push.
    @usableFromInline package let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline package var value: Value

    package init(_ value: consuming sending Value) {
        mutex = .allocate(capacity: 1)
        self.value = value
        let status = pthread_mutex_init(mutex, nil)
        precondition(status == 0, "the system could not make a mutex")
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
