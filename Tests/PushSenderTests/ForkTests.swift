import Foundation
import PushCore
import SealedPush
import TestSupport
import Testing

@testable import PushSender

#if canImport(Glibc)
    import Glibc

    /// With a real fork(2): the child's memory is its parent's, and so, in a namespace of its own, may be its number.
    @Suite("After a fork") struct ForkTests {
        @Test(
            "no context is used by both, whether or not the child has its parent's process ID",
            arguments: [false, true])
        func contexts(inNamespace: Bool) async throws {
            if inNamespace, getuid() != 0 { return print("only root can make a namespace: not tried") }
            let folder = try TemporaryFolder()
            let result = folder.url.appending(path: "result").path
            let work = Work(inNamespace: inNamespace, result: result)
            await #expect(processExitsWith: .success) { [work = work as Work] in try work.run() }
            let lines = try String(contentsOfFile: result, encoding: .utf8).split(separator: "\n").map(String.init)
            let words = lines.map { $0.split(separator: " ").map(String.init) }
            try #require(words.count == 4, "\(lines)")
            // Before the fork, twice in the child, in the parent: process, encapsulated key, number.
            #expect((words[0][0] == words[1][0]) == inNamespace)
            #expect(words[0][1] != words[1][1], "one key in two processes")
            #expect(words[1][1] == words[2][1] && words[2][2] == "1", "the child goes on with its own")
            #expect(words[0][1] == words[3][1] && words[3][2] == "1", "the parent goes on with its own")
        }

        @Test("a child that was made without a word to its libraries is told by its empty page")
        func uncounted() async {
            guard dlsym(nil, "_Fork") != nil else { return print("this libc has no _Fork(3): not tried") }
            await #expect(processExitsWith: .success) {
                let fork = unsafeBitCast(dlsym(nil, "_Fork"), to: (@convention(c) () -> pid_t).self)
                guard let mark = ForkMark(), mark.isOfThisProcess else { exit(1) }
                // Here the child may not even ask for memory.
                let process = fork()
                if process == 0 { _exit(mark.isOfThisProcess ? 1 : 0) }
                var status: Int32 = 0
                guard waitpid(process, &status, 0) == process, status == 0, mark.isOfThisProcess else { exit(1) }
            }
        }

        /// What runs in a process of its own: it forks.
        struct Work: Codable, Sendable {
            let inNamespace: Bool
            let result: String

            func run() throws {
                // The first process of a namespace has the number 1, and so has the first one of the namespace within.
                if inNamespace { try child { try sealInBoth() } } else { try sealInBoth() }
            }

            private func sealInBoth() throws {
                let cache = ContextCache(sender: SenderPrivateKey(), topic: "com.example.app", limits: ContextLimits())
                let phone = DevicePrivateKey().recipient
                func seal() throws {
                    let envelope = cache.seal([UInt8](repeating: 7, count: 32), to: phone)
                    guard let number = envelope.sequenceNumber else { throw EnvelopeError.empty }
                    try note("\(getpid()) \(Hex.encode(Array(envelope.enc))) \(number)\n")
                }
                try seal()
                try child {
                    try seal()
                    try seal()
                }
                try seal()
            }

            private func note(_ line: String) throws {
                let file = open(result, O_WRONLY | O_CREAT | O_APPEND, 0o600)
                guard file >= 0 else { throw EnvelopeError.empty }
                defer { close(file) }
                guard write(file, line, line.utf8.count) == line.utf8.count else { throw EnvelopeError.empty }
            }

            /// Swift hides fork(2), since little of its runtime may be used afterwards.
            private func child(_ body: () throws -> Void) throws {
                let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
                let unshare = unsafeBitCast(dlsym(nil, "unshare"), to: (@convention(c) (Int32) -> Int32).self)
                let newProcessNamespace: Int32 = 0x2000_0000
                if inNamespace { guard unshare(newProcessNamespace) == 0 else { throw EnvelopeError.empty } }
                let process = fork()
                if process == 0 {
                    do { try body() } catch { _exit(1) }
                    _exit(0)
                }
                var status: Int32 = 0
                guard waitpid(process, &status, 0) == process, status == 0 else { throw EnvelopeError.empty }
            }
        }
    }
#endif
