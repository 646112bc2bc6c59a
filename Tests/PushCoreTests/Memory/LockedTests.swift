import Testing

@testable import PushCore

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite("Locked state")
struct LockedTests {
    @Test("counts right while eight threads want it")
    func contention() {
        let counter = Locked(0)
        onThreads(8) { _ in
            for _ in 0..<1_000 {
                counter.withLock { count in
                    let before = count
                    // Between reading and writing, so that others would get in if they could.
                    sched_yield()
                    count = before + 1
                }
            }
        }
        #expect(counter.withLock { $0 } == 8_000)
    }

    @Test("is free again after an error")
    func errors() {
        struct Failure: Error {}
        let value = Locked(1)
        #expect(throws: Failure.self) {
            try value.withLock { value throws(Failure) in
                value = 2
                throw Failure()
            }
        }
        #expect(value.withLock { $0 } == 2)
    }

    @Test("may hold what can't be copied")
    func noncopyable() {
        let scratch = Locked(WipedBytes(count: 4))
        scratch.withLock { $0.withMutableBytes { $0[2] = 9 } }
        #expect(scratch.withLock { $0.array } == [0, 0, 9, 0])
    }
}
