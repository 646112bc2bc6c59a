import Foundation
import PushSender
import SealedPush
import TestPrograms
import TestSupport
import TestThreads
import Testing

/// System calls that fail for a moment, put in by strace(1) into the process of the extension.
@Suite("System calls that are refused", .serialized, .blocking)
struct RefusedCallTests {
    private let device: Device

    init() throws { device = try Device() }

    private var ledger: URL { device.folder.appending("State/SealedPush/ledger") }

    /// Delivers while `strace` refuses calls, and checks that it did.
    private func deliver(_ file: String, _ more: [String] = [], refusing: [String]) throws -> [String: Any] {
        let log = device.folder.appending("trace")
        let result = try Program(at: "/usr/bin/strace").run(
            ["-f", "-qq", "-o", log.path, "-E", "ASAN_OPTIONS=detect_leaks=0"] + refusing
                + [Program("device-simulator").executable.path] + device.arguments(file, more))
        #expect(result.status == 0, "\(result.errors)")
        #expect(try Checkout.text(log).contains("(INJECTED)"))
        return try #require(result.objects.first)
    }

    private func names() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: ledger.path).sorted()
    }

    @Test(
        "a ledger that can't be read for a moment is not lost: the push is refused, nothing changes, and it opens later",
        arguments: ["EPERM", "EIO", "EMFILE"], ["origin.text", "origin."])
    func unreadable(code: String, name: String) throws {
        #expect(try device.deliver(try device.file(try device.seal())).outcome == "opened")
        let before = try names()
        let file = try device.file(try device.seal())
        let known = try #require(
            try names().first { name == "origin." ? $0 != "origin.text" && $0.hasPrefix(name) : $0 == name })
        let path = ledger.appending(path: known).path
        let calls = name == "origin." ? "newfstatat" : "openat"
        let refused = try deliver(file, refusing: ["-P", path, "-e", "inject=\(calls):error=\(code)"])
        #expect(refused["reason"] as? String == "ledger-unavailable")
        #expect(try names() == before)
        #expect(try device.deliver(file).outcome == "opened")
    }

    @Test("a repeat asks nothing of a disk that takes nothing: the text stays", arguments: ["ENOSPC", "EROFS", "EIO"])
    func fullDisk(code: String) throws {
        let file = try device.file(try device.seal())
        #expect(try device.deliver(file, ["--identifier", "A"]).outcome == "opened")
        let refusing = ["-e", "inject=fsync,link,linkat,rename,renameat2,mkdir:error=\(code)"]
        let again = try deliver(file, ["--identifier", "A"], refusing: refusing)
        #expect(again["outcome"] as? String == "opened", "\(again)")
        #expect(try deliver(file, ["--identifier", "B"], refusing: refusing)["reason"] as? String == "replayed")
        let new = try device.file(try device.seal())
        #expect(try deliver(new, refusing: refusing)["reason"] as? String == "ledger-unavailable")
        #expect(try device.deliver(new).outcome == "opened")
    }

    @Test("what a process that was killed has made, and perhaps not synced, is synced by the next one that finds it")
    func foundIsSynced() throws {
        func syncs(_ file: String, of folder: String) throws -> Bool {
            let log = device.folder.appending("trace")
            let result = try Program(at: "/usr/bin/strace").run(
                ["-f", "-qq", "-y", "-e", "trace=fsync", "-o", log.path, "-E", "ASAN_OPTIONS=detect_leaks=0"]
                    + [Program("device-simulator").executable.path] + device.arguments(file, ["--identifier", "A"]))
            #expect(result.status == 0 && result.objects.first?["outcome"] as? String == "opened", "\(result.errors)")
            return try Checkout.text(log).contains("/ledger\(folder)>)")
        }
        let file = try device.file(try device.seal())
        #expect(try device.deliver(file, ["--identifier", "A"]).outcome == "opened")
        let day = try #require(try names().first { Int64($0) != nil })
        #expect(try syncs(file, of: "/\(day)"), "the entry")
        // The day's folder, as if it had just been made.
        for name in try names() where name.hasPrefix("\(day)/") {
            try FileManager.default.removeItem(at: ledger.appending(path: name))
        }
        #expect(try syncs(file, of: ""), "the folder")
    }

    @Test("where links are refused, a push opens once all the same", arguments: ["EPERM", "EOPNOTSUPP", "EACCES"])
    func noLinks(code: String) throws {
        let file = try device.file(try device.seal())
        let noLinks = ["-e", "inject=link,linkat:error=\(code)"]
        #expect(try deliver(file, refusing: noLinks)["outcome"] as? String == "opened")
        #expect(try device.deliver(file).reason == "replayed")
        #expect(try names().allSatisfy { !$0.contains("tmp.") })
    }
}
