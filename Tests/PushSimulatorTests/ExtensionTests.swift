import Foundation
import Glibc
import PushSender
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushSimulator

@Suite("Extensions under iOS's rules", .serialized, .blocking) struct ExtensionTests {
    private let device: Device

    init() throws { device = try Device() }

    private func deliver(_ program: String, body: String, _ more: [String] = []) throws -> Device.Delivered {
        let file = try device.folder.write(#"{"aps":{"alert":"\#(body)","mutable-content":1}}"#, to: "push")
        return try device.deliver(file, ["--extension", Program(program).executable.path] + more)
    }

    @Test("Xcode's template compiles and runs unchanged, and a carrier's claim that it passes on isn't believed")
    func template() throws {
        let shown = try deliver("xcode-template-extension", body: "hello")
        #expect(shown.outcome == "modified" && shown.title == " [modified]" && shown.body == "hello")
        let forged = try device.folder.write(
            #"{"aps":{"alert":"x","mutable-content":1},"sealed-push":{"outcome":"opened","data":"{}"}}"#, to: "forged")
        let program = Program("xcode-template-extension").executable.path
        #expect(try device.deliver(forged, ["--extension", program]).outcome == "modified")
    }

    @Test(
        "if an extension crashes, exits, or returns no text or no content, the original is shown",
        arguments: [
            ("crash", "signal 6"), ("exit 3", "status 3"), ("exit 0", "status 0"), ("close", "it closed its output"),
            ("empty", "no alert text"), ("sound", "no alert text"), ("never", "didn't finish in time"),
            ("hang", "didn't finish in time"), ("hog fast 60", "more than 24 MB"), ("hog fast 16", "more than 12 MB"),
        ])
    func misbehaving(what: String, note: String) throws {
        guard ProcessMemory.isMeaningful || !what.hasPrefix("hog") else {
            return print("Not tested: \(what), because a sanitizer's own memory would count.")
        }
        let limit = note.contains("12 MB") ? ["--memory-limit", "12"] : []
        let shown = try deliver("misbehaving-extension", body: what, shortTime(what) + limit)
        #expect(shown.outcome == "original")
        #expect(shown.body == what)
        #expect(shown.note?.contains(note) == true, "\(shown.note ?? "")")
    }

    @Test("with the filtering entitlement, nothing is shown for empty content or a process that exits")
    func filtering() throws {
        func deliver(_ what: String) throws -> Device.Delivered {
            try self.deliver("misbehaving-extension", body: what, ["--filtering-entitlement"] + shortTime(what))
        }
        for what in ["empty", "crash", "exit 0"] {
            let shown = try deliver(what)
            #expect(shown.outcome == "not-shown")
            #expect(shown.object["rings"] is NSNull)
            #expect(shown.object["lightsScreen"] as? Bool == false)
        }
        // Content with a sound isn't empty, and a hang doesn't filter.
        for what in ["sound", "never"] + (ProcessMemory.isMeaningful ? ["hog fast 60"] : []) {
            #expect(try deliver(what).outcome == "original")
        }
        #expect(try deliver("anything").outcome == "modified")
    }

    @Test("a kill during startup shows the wire's safe default, and the message opens when it arrives again")
    func killedAtStart() throws {
        let push = try device.file(device.seal())
        for more in [["--kill-at-start"], ["--kill-at-start", "--filtering-entitlement"]] {
            let killed = try device.deliver(push, more)
            #expect(killed.outcome == "original")
            #expect(killed.body == "wire default")
            #expect(killed.note == "the extension was killed: it was still starting")
        }
        #expect(try device.deliver(push).outcome == "opened")
    }

    /// Returns a short limit for cases that use it up; otherwise none, as starting may take a second on a busy machine.
    private func shortTime(_ what: String) -> [String] {
        ["never", "hang"].contains(what) ? ["--time-limit", "0.3"] : []
    }

    @Test("files delivered together share one process, and each line names its file") func parallel() throws {
        let files = try (0..<6).map { number in
            try device.folder.write(
                #"{"aps":{"alert":"meet 6","mutable-content":1,"badge":\#(number)}}"#, to: "\(number)")
        }
        let arguments =
            device.arguments(files[0], files.dropFirst() + ["--parallel", "6", "--extension"])
            + [Program("misbehaving-extension").executable.path]
        let result = try Program("device-simulator").run(arguments)
        #expect(result.status == 0, "\(result.errors)")
        let pushes = result.objects
        #expect(Set(pushes.map { $0["file"] as? String }) == Set(files))
        #expect(Set(pushes.map { $0["body"] as? String }).count == 1)
    }

    @Test(
        "an extension is told on another thread that time is up, and an answer at that point is shown",
        arguments: ["late", "late-blocked"])
    func late(how: String) throws {
        try lengthening(.milliseconds(500), "an extension that runs before its time is up") { limit in
            let limit = ["--time-limit", "\(limit / .seconds(1))"]
            return try deliver("misbehaving-extension", body: how, limit).body == "at the last moment"
        }
    }

    @Test("the first answer counts, even among many, and a second one causes a remark")
    func twice() throws {
        let shown = try deliver("misbehaving-extension", body: "twice")
        #expect(shown.body == "from the extension")
        #expect(shown.remarks == ["the extension called its handler a second time (ignored)"])
        let runs = try ExtensionRuns()
        let result = try runs.run("threads 20")
        #expect(result.body?.hasPrefix("from thread") == true)
        #expect(result.remarks.count == 19)
    }

    @Test("a failure after the answer doesn't change what was shown") func afterwards() throws {
        let runs = try ExtensionRuns()
        #expect(try runs.run("crash-after").body == "from the extension")
        #expect(try runs.run("hang-after").body == "from the extension")
        #expect(try runs.run("process").body?.hasSuffix(" 2") == true)
    }

    @Test(
        "a process that uses too much of its own memory in any way is killed; other memory doesn't count",
        .enabled(if: ProcessMemory.isMeaningful, "A sanitizer's own memory would count."),
        arguments: [
            ("slow 200", 24, false), ("fast 60", 24, false), ("brief 60", 24, false), ("fast 16", 24, true),
            ("fast 16", 12, false), ("fast 24", 24, false), ("mapped 60", 24, true), ("fast 60", 100, true),
        ])
    func memory(how: String, limit: Int, isShown: Bool) throws {
        let runs = try ExtensionRuns(ExtensionRules(memoryLimit: limit << 20))
        let result = try runs.run("hog \(how)")
        if isShown {
            #expect(result.body == "from the extension")
        } else {
            #expect(result.ending == .overMemory)
        }
        let peak = try #require(result.peakMemoryByteCount)
        if how.hasPrefix("fast") { #expect(peak > 8 << 20) }
        if how.hasPrefix("mapped") { #expect(peak < 8 << 20) }
    }

    @Test("memory that was freed before a sample is inferred") func pastMemory() throws {
        let memory = try #require(ProcessMemory(of: "self"))
        let before = try #require(memory.sample())
        let byteCount = 64 << 20
        let pages = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        for offset in stride(from: 0, to: byteCount, by: 4_096) {
            pages?.storeBytes(of: 1, toByteOffset: offset, as: UInt8.self)
        }
        munmap(pages, byteCount)
        let after = try #require(memory.sample())
        #expect(after.past >= before.own + 48 << 20)
        #expect(after.past >= after.own)
    }
}
