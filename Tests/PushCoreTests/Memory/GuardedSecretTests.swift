import TestSupport
import Testing

@testable import PushCore

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite("A guarded secret")
struct GuardedSecretTests {
    struct Failure: Error {}

    @Test("lends what was filled in, and zeros where nothing was", arguments: [1, 31, 32, 4_096, 4_097, 65_536])
    func lends(count: Int) {
        let secret = GuardedSecret(count: count) { $0[count / 2] = 7 }
        #expect(secret.count == count)
        secret.withBytes { bytes in
            #expect(bytes.count == count)
            #expect(bytes.enumerated().allSatisfy { $0.element == ($0.offset == count / 2 ? 7 : 0) })
        }
    }

    @Test("passes on what filling it or reading it throws")
    func errors() {
        #expect(throws: Failure.self) {
            _ = try GuardedSecret(count: 8) { _ throws(Failure) in throw Failure() }
        }
        #expect(throws: Failure.self) {
            let secret = GuardedSecret(count: 8) { _ in }
            try secret.withBytes { _ throws(Failure) in throw Failure() }
        }
    }

    #if os(Linux)
        @Test("is read-only: writing to it crashes")
        func readOnly() async {
            await #expect(processExitsWith: .signal(SIGSEGV)) {
                dieQuietly()
                let secret = GuardedSecret(count: 32) { SecureRandom.fill($0) }
                secret.withBytes { UnsafeMutableRawBufferPointer(mutating: $0)[0] = 1 }
            }
        }

        @Test("has a guard page behind its last byte: reading on crashes")
        func guardPage() async {
            await #expect(processExitsWith: .signal(SIGSEGV)) {
                dieQuietly()
                let secret = GuardedSecret(count: 32) { SecureRandom.fill($0) }
                let next = secret.withBytes { $0.baseAddress! + $0.count }
                exit(Int32(next.load(as: UInt8.self)) & 0)
            }
        }

        @Test("can't be read once it is gone")
        func gone() async {
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

    @Test("of no bytes, or of more than 65,536, stops the program")
    func wrongCount() async {
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
