import Foundation
import Glibc
import PushSimulator
import TestPrograms
import TestSupport
import Testing

@Suite("A child process", .blocking) struct ChildProcessTests {
    @Test("a child process has no blocked signals, regardless of the thread that starts it") func signals() throws {
        var (terminate, before) = (sigset_t(), sigset_t())
        sigemptyset(&terminate)
        sigaddset(&terminate, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &terminate, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let child = try ChildProcess(URL(filePath: "/bin/sleep"), arguments: ["10"])
        kill(child.identifier, SIGTERM)
        #expect(child.wait() == .signaled(SIGTERM))
    }

    @Test("a child process that is killed is reaped, too") func collected() throws {
        let child = try ChildProcess(URL(filePath: "/bin/sleep"), arguments: ["10"])
        child.kill()
        #expect(kill(child.identifier, 0) == -1)
        #expect(errno == ESRCH)
        #expect(child.wait() == .signaled(SIGKILL))
    }

    @Test("a child process inherits none of the tests' own descriptors") func descriptors() throws {
        let own = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(own) }
        #expect(own >= 3)
        let listed = try Program(at: "/bin/ls").run("/proc/self/fd").output.split(separator: "\n")
        // The three standard descriptors, and that of the listed folder.
        #expect(listed.count == 4, "\(listed)")
    }
}

@Suite("A test that waits for a process") struct BlockingTests {
    @Test("blocking work is refused on the threads that all tasks share, with a hint")
    func shared() throws {
        let refusal = try #require(throws: Program.BlocksSharedThread.self) { try Program(at: "/bin/true").run() }
        #expect(refusal.description.contains(".blocking"))
    }

    @Test("with the trait, blocking work and its child tasks run on separate threads", .blocking)
    func own() async throws {
        #expect(try Program(at: "/bin/true").run().status == 0)
        await Task.yield()
        async let status = Program(at: "/bin/true").run().status
        #expect(try await status == 0)
    }
}
