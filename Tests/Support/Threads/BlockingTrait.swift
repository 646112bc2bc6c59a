public import Testing

/// For tests that block: that wait for a process, a lock or a thread, or read a pipe.
///
/// Swift's tasks share as many threads as the machine has processors. A test that blocks one of two takes half of what
/// all other tests in the process run on, and two of them stop everything else: servers in the process answer no more,
/// and deadlines pass. With this trait a test's whole task runs on threads of its own.
public struct BlockingTrait: SuiteTrait, TestTrait, TestScoping {
    public let isRecursive = true

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        await BlockingThreads.gate.enter()
        defer { BlockingThreads.gate.leave() }
        try await withTaskExecutorPreference(BlockingThreads.shared) { try await function() }
    }
}

extension Trait where Self == BlockingTrait {
    /// Runs the test, or each of the suite, on threads of its own, because it blocks.
    public static var blocking: Self { Self() }
}
