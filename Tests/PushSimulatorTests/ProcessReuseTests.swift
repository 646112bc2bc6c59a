import Foundation
import Glibc
import PushSender
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushSimulator

/// Runs a built extension on its own device, without the command-line tool.
struct ExtensionRuns {
    let folder: TemporaryFolder
    let session: ExtensionSession

    /// Creates runs of the extension that follows the instructions in the alert's body.
    init(_ rules: ExtensionRules = ExtensionRules()) throws {
        folder = try TemporaryFolder()
        session = ExtensionSession(
            ExtensionProgram(Program("misbehaving-extension").executable),
            on: SimulatedDevice(container: folder.appending("State")), nil, rules: rules)
    }

    /// Creates runs of the simulator's own extension, on a phone with this device's keys.
    init(opening device: Device) throws {
        folder = try TemporaryFolder(inMemory: true)
        let standard = StandardConfiguration(
            topic: Device.topic.description, senders: [device.sender.sender.description], safeDefault: "default",
            allowsAnonymous: false)
        session = ExtensionSession(
            ExtensionProgram(Program("device-simulator").executable, arguments: ["host-extension"]),
            on: try device.phone(in: folder.appending("State")), standard, rules: ExtensionRules())
    }

    func run(_ body: String, identifier: String = "a") throws -> ExtensionResult {
        try session.run(identifier: identifier, payload: try payload(body))
    }

    /// Runs all bodies concurrently. Returns the results in the order of the bodies.
    func runAll(_ bodies: [String]) throws -> [ExtensionResult] {
        let payloads = try bodies.map { try payload($0) }
        let results = Collected<(Int, ExtensionResult)>()
        let threads = payloads.indices.map { index in
            let isDone = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                if let result = try? session.run(identifier: bodies[index], payload: payloads[index]) {
                    results.add((index, result))
                }
                isDone.signal()
            }
            return isDone
        }
        for thread in threads { thread.wait() }
        return results.all.sorted { $0.0 < $1.0 }.map(\.1)
    }

    private func payload(_ body: String) throws -> Data {
        try JSONSerialization.data(withJSONObject: ["aps": ["alert": body, "mutable-content": 1] as [String: Any]])
    }

    /// Returns the targets of the descriptors of the extension's process.
    func descriptors() throws -> [String] {
        let folder = "/proc/\(try #require(session.processIdentifier))/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).map {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) ?? ""
        }
    }
}

extension ExtensionResult {
    var body: String? { if case .returned(let content) = ending { content.body } else { nil } }
}

@Suite("One process for many notifications", .serialized, .blocking) struct ProcessReuseTests {
    @Test("a process serves notifications in sequence and concurrently, each with its own answer")
    func reuse() throws {
        let runs = try ExtensionRuns()
        let answers = try (0..<5).map { _ in try #require(try runs.run("process").body).split(separator: " ") }
        #expect(Set(answers.map { $0[0] }).count == 1)
        #expect(answers.map { $0[1] } == ["1", "2", "3", "4", "5"])
        let meeting = try runs.runAll(Array(repeating: "meet 8", count: 8))
        #expect(meeting.count == 8)
        #expect(Set(meeting.map { $0.body }).count == 1)
        let bodies = (0..<40).map { "echo \($0)" }
        #expect(try runs.runAll(bodies).map { $0.body } == bodies)
    }

    @Test(
        "if a process exits, a new one starts for the next notification",
        arguments: ["crash", "exit 3", "hog fast 60", "close"])
    func startedAnew(what: String) throws {
        guard ProcessMemory.isMeaningful || !what.hasPrefix("hog") else {
            return print("Not tested: \(what), because a sanitizer's own memory would count.")
        }
        let runs = try ExtensionRuns()
        let first = try #require(try runs.run("process").body)
        #expect(try runs.run(what).body == nil)
        let next = try #require(try runs.run("process").body)
        #expect(next.hasSuffix(" 1"))
        #expect(next != first)
    }

    @Test("a crash affects all notifications in progress, but none that were answered") func crashOfSeveral() throws {
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

    @Test("an idle process is ended after a while") func idle() async throws {
        var rules = ExtensionRules()
        rules.idleTime = .milliseconds(50)
        let runs = try ExtensionRuns(rules)
        let process = try process(of: runs)
        try await eventually("it is gone") { kill(process, 0) != 0 }
        #expect(try runs.run("process").body?.hasSuffix(" 1") == true)
    }

    @Test("a released session leaves no process behind") func abandoned() async throws {
        var runs: ExtensionRuns? = try ExtensionRuns()
        let process = try process(of: try #require(runs))
        runs = nil
        try await eventually("it is gone") { kill(process, 0) != 0 }
    }

    @Test("an extension's leftover files are only in the device's own temporary folder")
    func leftFiles() throws {
        let runs = try ExtensionRuns()
        #expect(try runs.run("leave").body != nil)
        let left = runs.folder.appending("State/tmp/left.txt")
        #expect(FileManager.default.fileExists(atPath: left.path(percentEncoded: false)))
    }

    @Test("after a thousand sealed notifications, a process has neither grown nor leaked a descriptor")
    func thousand() throws {
        let device = try Device()
        let runs = try ExtensionRuns(opening: device)
        var memory: [Int] = []
        var descriptorCounts: [Int] = []
        for number in 0..<1_000 {
            let payload = try device.seal(Content(title: "Nina", body: "\(number)"))
            let result = try runs.session.run(identifier: "\(number)", payload: Data(payload.json))
            #expect(result.body == "\(number)")
            memory.append(try #require(result.peakMemoryByteCount))
            descriptorCounts.append(try runs.descriptors().count)
        }
        let isFlat = memory[999] < memory[99] + 1 << 20 && memory[999] < 12 << 20
        #expect(isFlat || !ProcessMemory.isMeaningful, "\(memory[99]), \(memory[999])")
        #expect(descriptorCounts[999] <= descriptorCounts[99])
        #expect(descriptorCounts[999] < 20)
        #expect(runs.session.end().isEmpty)
    }

    @Test("an extension's process inherits no descriptor of the simulator, even without close-on-exec")
    func isolation() throws {
        let runs = try ExtensionRuns()
        let file = try runs.folder.write("", to: "own")
        // Not marked as close-on-exec.
        let own = open(file, O_RDONLY)
        defer { close(own) }
        #expect(try runs.run("process").body != nil)
        let theirs = try runs.descriptors()
        #expect(theirs.count >= 3)
        #expect(!theirs.contains(file))
    }

    @Test("a leak in an extension shows up in the measurement") func leaking() throws {
        let runs = try ExtensionRuns()
        let first = try #require(try runs.run("leak").peakMemoryByteCount)
        let count = try runs.descriptors().count
        for _ in 0..<99 { #expect(try runs.run("leak").body != nil) }
        #expect(try #require(try runs.run("leak").peakMemoryByteCount) > first + 1 << 20)
        #expect(try runs.descriptors().count >= count + 100)
    }

    @Test("the simulator keeps no descriptor of a process that has exited") func ownDescriptors() throws {
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
}
