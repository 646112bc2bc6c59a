import Foundation
import PushSender
import SealedPush
import TestPrograms
import TestSupport
import Testing

/// System calls of the extension's process fail temporarily, injected by strace(1).
@Suite("System calls that fail", .serialized, .blocking) struct RefusedCallTests {
    private let device: Device

    init() throws { device = try Device() }

    private var ledger: URL { device.folder.appending("State/SealedPush/ledger") }

    /// Delivers a file under strace(1). Returns the result and the trace.
    private func trace(_ options: [String], _ file: String, _ more: [String] = []) throws -> (Program.Result, String) {
        let log = device.folder.appending("trace")
        let result = try Program(at: "/usr/bin/strace").run(
            ["-f", "-qq", "-o", log.path, "-E", "ASAN_OPTIONS=detect_leaks=0"] + options
                + [Program("device-simulator").executable.path] + device.arguments(file, more))
        #expect(result.status == 0, "\(result.errors)")
        return (result, try Checkout.text(log))
    }

    /// Delivers while calls are made to fail, and checks that some did.
    private func deliver(_ file: String, _ more: [String] = [], refusing: [String]) throws -> Device.Delivered {
        let (result, log) = try trace(refusing, file, more)
        #expect(log.contains("(INJECTED)"))
        return Device.Delivered(object: try #require(result.objects.first))
    }

    /// Returns the calls on the ledger's files, in order.
    private func calls(_ file: String, _ more: [String] = []) throws -> [Substring] {
        try trace(["-y", "-e", "trace=fsync,link,unlink,rename"], file, more).1.split(separator: "\n").filter {
            $0.contains(ledger.path)
        }
    }

    private func isSync(_ call: Substring) -> Bool { call.contains("fsync(") && call.contains("/ledger>") }

    private func names() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: ledger.path).sorted()
    }

    @Test(
        "if the ledger is temporarily unreadable, the push is refused, nothing changes, and it opens later",
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
        #expect(refused.reason == "ledger-unavailable")
        #expect(try names() == before)
        #expect(try device.deliver(file).outcome == "opened")
    }

    @Test("a repeat needs no disk space, so the text stays", arguments: ["ENOSPC", "EROFS", "EIO"])
    func fullDisk(code: String) throws {
        let file = try device.file(try device.seal())
        #expect(try device.deliver(file, ["--identifier", "A"]).outcome == "opened")
        let refusing = ["-e", "inject=fsync,link,linkat,rename,renameat2,mkdir:error=\(code)"]
        let again = try deliver(file, ["--identifier", "A"], refusing: refusing)
        #expect(again.outcome == "opened", "\(again)")
        #expect(try deliver(file, ["--identifier", "B"], refusing: refusing).reason == "replayed")
        let new = try device.file(try device.seal())
        #expect(try deliver(new, refusing: refusing).reason == "ledger-unavailable")
        #expect(try device.deliver(new).outcome == "opened")
    }

    @Test("if a killed process may not have synced its files, the next one that finds them syncs them")
    func foundIsSynced() throws {
        func syncs(_ file: String, of folder: String) throws -> Bool {
            let (result, log) = try trace(["-y", "-e", "trace=fsync"], file, ["--identifier", "A"])
            #expect(result.objects.first?["outcome"] as? String == "opened", "\(result.errors)")
            return log.contains("/ledger\(folder)>)")
        }
        let file = try device.file(try device.seal())
        #expect(try device.deliver(file, ["--identifier", "A"]).outcome == "opened")
        let day = try #require(try names().first { Int64($0) != nil })
        #expect(try syncs(file, of: "/\(day)"), "the entry")
        // Pretend that the day's folder was just created.
        for name in try names() where name.hasPrefix("\(day)/") {
            try FileManager.default.removeItem(at: ledger.appending(path: name))
        }
        #expect(try syncs(file, of: ""), "the folder")
    }

    @Test("a new ledger survives a power failure") func beginningLasts() throws {
        let file = try device.file(try device.seal())
        #expect(try device.deliver(file).outcome == "opened")
        try FileManager.default.removeItem(at: ledger.appending(path: "origin.text"))
        let calls = try calls(file)
        let renaming = try #require(calls.firstIndex { $0.contains("rename(") && $0.contains("/origin.text") })
        #expect(calls[renaming...].contains(where: isSync), "\(calls)")
    }

    @Test("a floor that was found is made durable before a lower one is removed") func foundFloorLasts() throws {
        let file = try device.file(try device.seal())
        #expect(try device.deliver(file).outcome == "opened")
        try FileManager.default.removeItem(at: ledger.appending(path: "origin.text"))
        // Pretend that another process has begun the ledger anew at any of the next seconds.
        let now = Int64(Date.now.timeIntervalSince1970)
        for name in ["rotate"] + (now...now + 600).map({ "floor.\($0)" }) {
            #expect(FileManager.default.createFile(atPath: ledger.appending(path: name).path, contents: nil))
        }
        let calls = try calls(file)
        let removal = try #require(calls.firstIndex { $0.contains("unlink(") && $0.contains("/floor.") })
        #expect(calls[..<removal].contains(where: isSync), "\(calls[...removal])")
    }

    @Test("the floor is made durable before a purge removes the entries below it")
    func floorLasts() throws {
        let file = try device.file(try device.seal())
        #expect(try device.deliver(file).outcome == "opened")
        let entry = try #require(try names().first { $0.contains("/") })
        // The state that a killed purge leaves behind.
        let sent = try #require(entry.split(separator: "/").last?.split(separator: "-").first)
        #expect(FileManager.default.createFile(atPath: ledger.appending(path: "floor.\(sent)").path, contents: nil))
        // One in 32 deliveries purges.
        for _ in 0..<100 {
            let calls = try calls(file, Array(repeating: file, count: 50))
            guard let removal = calls.firstIndex(where: { $0.contains("unlink(") && $0.contains(entry) }) else {
                continue
            }
            #expect(calls[..<removal].contains(where: isSync), "\(calls)")
            return
        }
        Issue.record("no purge in 5,000 deliveries")
    }

    @Test("if the file system hangs while the badge is counted, only the badge is lost") func hangingBadge() throws {
        var content = Content(body: "Lunch?")
        content.badgeIncrement = 1
        let count = device.folder.appending("State/SealedPush/badge/count").path
        let file = try device.file(try device.seal(content))
        #expect(try device.deliver(file).object["badge"] as? Int == 1)
        try lengthening(.seconds(3), "the message opens before the time is up") { limit in
            // strace(1) can't be stopped before the delay is over.
            let hanging = ["-P", count, "-e", "inject=openat:delay_enter=\(Int(limit / .microseconds(1)) * 4)"]
            let next = try device.file(try device.seal(content))
            let (result, log) = try trace(hanging, next, ["--time-limit", "\(limit / .seconds(1))"])
            let shown = Device.Delivered(object: try #require(result.objects.first))
            guard shown.outcome == "opened" else { return false }
            #expect(shown.body == "Lunch?" && shown.object["badge"] is NSNull)
            #expect(log.contains(count))
            return true
        }
    }

    @Test("a push opens exactly once even if links are refused", arguments: ["EPERM", "EOPNOTSUPP", "EACCES"])
    func noLinks(code: String) throws {
        let file = try device.file(try device.seal())
        let noLinks = ["-e", "inject=link,linkat:error=\(code)"]
        #expect(try deliver(file, refusing: noLinks).outcome == "opened")
        #expect(try device.deliver(file).reason == "replayed")
        #expect(try names().allSatisfy { !$0.contains("tmp.") })
    }
}
