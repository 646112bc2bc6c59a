import TestSupport
import Testing

@testable import PushCore

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

@Suite("A guarded secret") struct GuardedSecretTests {
    @Test("A guarded secret lends what was filled in, or zeros", arguments: [1, 31, 32, 4_096, 4_097, 65_536])
    func lends(count: Int) {
        let secret = GuardedSecret(count: count) { $0[count / 2] = 7 }
        #expect(secret.count == count)
        secret.withBytes { bytes in
            #expect(bytes.count == count)
            #expect(bytes.enumerated().allSatisfy { $0.element == ($0.offset == count / 2 ? 7 : 0) })
        }
    }

    #if os(Linux)
    @Test("A guarded secret is read-only: writing to it crashes") func readOnly() async {
        await #expect(processExitsWith: .signal(SIGSEGV)) {
            dieQuietly()
            let secret = GuardedSecret(count: 32) { SecureRandom.fill($0) }
            secret.withBytes { UnsafeMutableRawBufferPointer(mutating: $0)[0] = 1 }
        }
    }

    @Test("A guarded secret has a guard page after its last byte: reading on crashes") func guardPage() async {
        await #expect(processExitsWith: .signal(SIGSEGV)) {
            dieQuietly()
            let secret = GuardedSecret(count: 32) { SecureRandom.fill($0) }
            let next = secret.withBytes { $0.baseAddress! + $0.count }
            exit(Int32(next.load(as: UInt8.self)) & 0)
        }
    }

    @Test("A guarded secret can't be read once it is deallocated") func gone() async {
        await #expect(processExitsWith: .signal(SIGSEGV)) {
            dieQuietly()
            var start: UnsafeRawPointer?
            do {
                let secret = GuardedSecret(count: 32) { SecureRandom.fill($0) }
                start = secret.withBytes { $0.baseAddress }
            }
            exit(Int32(start!.load(as: UInt8.self)) & 0)
        }
    }
    #endif

    @Test("A guarded secret of no bytes, or of more than 65,536, stops the program") func wrongCount() async {
        await #expect(processExitsWith: .failure) {
            dieQuietly()
            _ = GuardedSecret(count: 0) { _ in }
        }
        await #expect(processExitsWith: .failure) {
            dieQuietly()
            _ = GuardedSecret(count: 65_537) { _ in }
        }
    }
}

@Suite("Locked state") struct LockedTests {
    @Test("Locked state counts correctly while eight threads compete for it") func contention() {
        let counter = Locked(0)
        onThreads(8) { _ in
            for _ in 0..<1_000 {
                counter.withLock { count in
                    let before = count
                    // Between reading and writing, to give other threads a chance to interfere.
                    sched_yield()
                    count = before + 1
                }
            }
        }
        #expect(counter.withLock { $0 } == 8_000)
    }

    @Test("Locked state is unlocked after an error") func errors() {
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

    @Test("Locked state may be noncopyable") func noncopyable() {
        let scratch = Locked(WipedBytes(count: 4))
        scratch.withLock { $0.withMutableBytes { $0[2] = 9 } }
        #expect(scratch.withLock { $0.array } == [0, 0, 9, 0])
    }
}

@Suite("Wiped bytes") struct WipedBytesTests {
    @Test("Wiped bytes are zero at first, even in memory that was used before", arguments: [1, 32, 1_000, 10_000])
    func zero(count: Int) {
        do {
            let used = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
            defer { used.deallocate() }
            used.initializeMemory(as: UInt8.self, repeating: 0xaa)
        }
        let scratch = WipedBytes(count: count)
        #expect(scratch.count == count)
        #expect(scratch.array == [UInt8](repeating: 0, count: count))
    }

    @Test("Wiped bytes lend what was written, and can be written again") func write() {
        var scratch = WipedBytes(count: 3) { $0[0] = 1 }
        scratch.withMutableBytes { $0[2] = 3 }
        #expect(scratch.array == [1, 0, 3])
    }

    @Test("Wiped bytes of length zero stop the program") func wrongCount() async {
        await #expect(processExitsWith: .failure) {
            dieQuietly()
            _ = WipedBytes(count: 0)
        }
    }
}
