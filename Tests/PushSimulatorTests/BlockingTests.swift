import TestPrograms
import TestSupport
import Testing

@Suite("A test that waits for a process")
struct BlockingTests {
    @Test("blocking work is turned away on the threads that all tasks share, and told what it needs")
    func shared() throws {
        let refusal = try #require(throws: Program.BlocksSharedThread.self) { try Program(at: "/bin/true").run() }
        #expect(refusal.description.contains(".blocking"))
    }

    @Test("blocking work runs on threads of its own with the trait, and so do the tasks within it", .blocking)
    func own() async throws {
        #expect(try Program(at: "/bin/true").run().status == 0)
        await Task.yield()
        async let status = Program(at: "/bin/true").run().status
        #expect(try await status == 0)
    }
}
