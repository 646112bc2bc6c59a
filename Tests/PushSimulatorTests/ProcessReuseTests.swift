import Foundation
import Glibc
import PushSender
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushSimulator

@Suite("One process for many notifications", .serialized, .blocking) struct ProcessReuseTests {
    @Test("a process serves one notification after the other") func reuse() throws {
        let runs = try ExtensionRuns()
        let answers = try (0..<5).map { _ in try #require(try runs.run("process").body).split(separator: " ") }
        #expect(Set(answers.map { $0[0] }).count == 1)
        #expect(answers.map { $0[1] } == ["1", "2", "3", "4", "5"])
    }

    @Test("several at once are in one process at the same time, and each gets its own answer") func parallel() throws {
        let runs = try ExtensionRuns()
        let results = try runs.runAll(Array(repeating: "meet 8", count: 8))
        #expect(results.count == 8)
        #expect(Set(results.map { $0.body }).count == 1)
        let bodies = (0..<40).map { "echo \($0)" }
        #expect(try runs.runAll(bodies).map { $0.body } == bodies)
    }

    @Test(
        "a process that ends is started anew for the next notification",
        arguments: ["crash", "exit 3", "hog fast 60", "close"])
    func startedAnew(what: String) throws {
        guard ProcessMemory.isMeaningful || !what.hasPrefix("hog") else { return }
        let runs = try ExtensionRuns()
        let first = try #require(try runs.run("process").body)
        #expect(try runs.run(what).body == nil)
        let next = try #require(try runs.run("process").body)
        #expect(next.hasSuffix(" 1"))
        #expect(next != first)
    }

    @Test("a crash takes all that are under way with it, and nothing that was answered") func crashOfSeveral() throws {
        try lengthening(.milliseconds(300), "an answer before the crash") { delay in
            let runs = try ExtensionRuns()
            let crash = "crash-later \(Int(delay / .milliseconds(1)))"
            let results = try runs.runAll(["never", "never", "sleep 1", crash])
            guard results[2].body != nil else { return false }
            #expect(results.filter { $0.ending == .ended("signal 6") }.count == 3)
            #expect(results[2].body == "from the extension")
            return true
        }
    }

    @Test("a process without work is ended after a while") func idle() async throws {
        var rules = ExtensionRules()
        rules.idleTime = .milliseconds(50)
        let runs = try ExtensionRuns("misbehaving-extension", rules)
        let process = try process(of: runs)
        try await eventually("it is gone") { kill(process, 0) != 0 }
        #expect(try runs.run("process").body?.hasSuffix(" 1") == true)
    }

    @Test("a session that nobody holds any more leaves no process behind") func abandoned() async throws {
        var runs: ExtensionRuns? = try ExtensionRuns()
        let process = try process(of: try #require(runs))
        runs = nil
        try await eventually("it is gone") { kill(process, 0) != 0 }
    }

    @Test("files that an extension leaves are in the device's own temporary folder, and nowhere else")
    func leftFiles() throws {
        let runs = try ExtensionRuns()
        #expect(try runs.run("leave").body != nil)
        let left = runs.folder.appending("State/tmp/left.txt")
        #expect(FileManager.default.fileExists(atPath: left.path(percentEncoded: false)))
    }

    @Test("a thousand sealed notifications through one process: its memory is flat, and no descriptor is leaked")
    func thousand() throws {
        let device = try Device()
        let folder = try TemporaryFolder(inMemory: true)
        let simulated = try device.phone(in: folder.appending("State"))
        let rules = ExtensionRules()
        let standard = StandardConfiguration(
            topic: Device.topic.description, senders: [device.sender.sender.description], safeDefault: "default",
            allowsAnonymous: false)
        let program = ExtensionProgram(Program("device-simulator").executable, arguments: ["host-extension"])
        let session = ExtensionSession(
            program, setting: ExtensionSetting(device: simulated, standard: standard), rules: rules)
        var memory: [Int] = []
        var descriptorCounts: [Int] = []
        for number in 0..<1_000 {
            let payload = try device.seal(Content(title: "Nina", body: "\(number)"))
            let result = try session.run(identifier: "\(number)", payload: Data(payload.json))
            #expect(result.body == "\(number)")
            memory.append(result.peakMemoryByteCount)
            descriptorCounts.append(try descriptors(of: #require(session.processIdentifier)))
        }
        let isFlat = memory[999] < memory[99] + 1 << 20 && memory[999] < 12 << 20
        #expect(isFlat || !ProcessMemory.isMeaningful, "\(memory[99]), \(memory[999])")
        #expect(descriptorCounts[999] <= descriptorCounts[99])
        #expect(descriptorCounts[999] < 20)
        #expect(session.end().isEmpty)
    }

    @Test("an extension's process gets none of the simulator's descriptors, marked for that or not")
    func isolation() throws {
        let ends = try #require(ChildPipe())
        // Not marked.
        let inherited = dup(ends.readEnd)
        defer { for end in [inherited, ends.readEnd, ends.writeEnd] { close(end) } }
        let runs = try ExtensionRuns()
        #expect(try runs.run("process").body != nil)
        let process = try #require(runs.session.processIdentifier)
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(inherited)")
        let theirs = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\($0)")
        }
        #expect(theirs.count >= 3)
        #expect(!theirs.contains(own))
    }

    @Test("an extension that leaks is seen to") func leaking() throws {
        let runs = try ExtensionRuns()
        let first = try runs.run("leak")
        let count = try descriptors(of: #require(runs.session.processIdentifier))
        for _ in 0..<99 { #expect(try runs.run("leak").body != nil) }
        let last = try runs.run("leak")
        #expect(last.peakMemoryByteCount > first.peakMemoryByteCount + 1 << 20)
        #expect(try descriptors(of: #require(runs.session.processIdentifier)) >= count + 100)
    }

    @Test("the simulator itself keeps no descriptor of a process that has ended") func ownDescriptors() throws {
        let device = try Device()
        let file = try device.folder.write(#"{"aps":{"alert":"crash-after","mutable-content":1}}"#, to: "push")
        let arguments =
            device.arguments(file, Array(repeating: file, count: 79) + ["--extension"])
            + [Program("misbehaving-extension").executable.path]
        let words = ([Program("device-simulator").executable.path] + arguments).map { "'\($0)'" }
        let script = try device.folder.write("ulimit -n 48; exec \(words.joined(separator: " "))", to: "script")
        let result = try Program(at: "/bin/sh").run(script)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.objects.count == 80)
    }

    private func process(of runs: ExtensionRuns) throws -> pid_t {
        let answer = try #require(try runs.run("process").body)
        return try #require(answer.split(separator: " ").first.flatMap { pid_t($0) })
    }

    private func descriptors(of process: pid_t) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
    }
}
