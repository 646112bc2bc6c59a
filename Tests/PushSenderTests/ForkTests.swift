import Clibsodium
import Foundation
import PushCore
import TestSupport
import Testing

@testable import PushSender
@testable import SealedPush

#if canImport(Glibc)
import Glibc

/// Uses a real fork(2), so the child's memory is its parent's, like that of a cloned virtual machine.
@Suite("In a clone of the process", .serialized) struct ForkTests {
    @Test("no nonce is used twice, even if the random source repeats itself", arguments: [false, true])
    func numbers(repeating: Bool) async throws {
        let folder = try TemporaryFolder()
        let result = folder.url.appending(path: "result").path
        let work = Work(isRepeating: repeating, result: result)
        await #expect(processExitsWith: .success) { [work = work as Work] in try work.run() }
        let lines = try String(contentsOfFile: result, encoding: .utf8).split(separator: "\n")
        let sealed = try lines.map { line in
            let words = line.split(separator: " ").map(String.init)
            return (plaintext: words[0], envelope: try Envelope(parsing: try #require(words.last)))
        }
        // The child and the parent each seal three different plaintexts, and one that both share.
        try #require(sealed.count == 8, "\(lines)")
        #expect(Set(sealed.map(\.envelope.enc)).count == 1, "one context in both")
        var plaintexts: [[UInt8]: Set<String>] = [:]
        for each in sealed { plaintexts[each.envelope.number ?? [], default: []].insert(each.plaintext) }
        #expect(plaintexts.values.allSatisfy { $0.count == 1 })
        // Equal inputs give equal ciphertexts, which reveal only that.
        #expect(plaintexts.count == (repeating ? 7 : 8))
        #expect(Set(sealed.map(\.envelope.bytes)).count == plaintexts.count)
    }

    /// Runs in its own process, because it forks.
    struct Work: Codable, Sendable {
        let isRepeating: Bool
        let result: String

        func run() throws {
            let cache = ContextCache(sender: SenderPrivateKey(), topic: "com.example.app", limits: ContextLimits())
            let phone = DevicePrivateKey().recipient
            // The context is created before the fork.
            _ = cache.seal([0], to: phone)
            if isRepeating { RepeatingRandom.start() }
            func seal(_ name: String) throws {
                for number in 1...3 {
                    try note("\(name)\(number)", cache.seal(Array("\(name)\(number)".utf8), to: phone))
                }
                try note("both", cache.seal(Array("both".utf8), to: phone))
            }
            try child { try seal("child") }
            try seal("parent")
        }

        private func note(_ plaintext: String, _ envelope: Envelope) throws {
            let line = "\(plaintext) \(envelope.text)\n"
            let file = open(result, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            guard file >= 0 else { throw EnvelopeError.empty }
            defer { close(file) }
            guard write(file, line, line.utf8.count) == line.utf8.count else { throw EnvelopeError.empty }
        }

        /// Swift hides fork(2), because little of its runtime can be used afterward.
        private func child(_ body: () throws -> Void) throws {
            let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
            let process = fork()
            if process == 0 {
                do { try body() } catch { _exit(1) }
                _exit(0)
            }
            var status: Int32 = 0
            guard waitpid(process, &status, 0) == process, status == 0 else { throw EnvelopeError.empty }
        }
    }

    /// A random source that returns the same bytes in a process and its clone.
    private enum RepeatingRandom {
        nonisolated(unsafe) static var implementation = randombytes_implementation(
            implementation_name: { UnsafePointer(strdup("repeating")) }, random: { 4 }, stir: nil, uniform: nil,
            buf: { buffer, count in _ = memset(buffer!, 4, count) }, close: nil)

        static func start() { randombytes_set_implementation(&implementation) }
    }
}
#endif
