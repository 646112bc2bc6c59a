import CoreFoundation
import Foundation
import Glibc
import PushSender
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushSimulator

@Suite("Receipts of an extension that is killed or runs for long", .serialized, .blocking) struct ReceiptTests {
    private let device: Device

    init() throws { device = try Device() }

    private var queue: URL { device.folder.appending("State").appending(path: "SealedPush/receipts") }
    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: queue.path)) ?? [] }

    /// Runs a server that counts receipts, and seals messages that ask for them.
    private func run(_ body: (ReceiptListener, (String) throws -> SealedPayload) throws -> Void) throws {
        try ReceiptListener.run(in: device.folder.url, keyring: device.folder.appending("Keys").path) { listener in
            let address = try #require(ReceiptAddress(parsing: listener.url))
            let sealer = Sealer(
                sender: device.sender, topic: Device.topic, safeDefault: "wire default", receipts: address)
            try body(listener) { try sealer.seal(Content(body: $0), toUnverified: device.recipient) }
        }
    }

    @Test("a killed extension reports each unopened push to the server once, wherever it was killed")
    func killed() throws {
        var random = SeededGenerator()
        var killCount = 0
        let broken = try device.folder.write(
            #"{"aps":{"alert":"x","mutable-content":1},"custom-encrypted-message":"AQAA"}"#, to: "broken")
        try run { listener, seal in
            let wanted = Thoroughness.count(4, thorough: 24)
            var roundCount = 0
            // On a busy machine, some exit before they are killed; but not while the server is stopped, so that nothing can
            // be posted, unless the machine takes 25 s for it.
            while roundCount < wanted || (killCount <= wanted / 2 && roundCount < 20 * wanted) {
                roundCount += 1
                #expect(try device.deliver(broken).reason == "malformed")
                if roundCount.isMultiple(of: 2) { listener.pause() }
                let output = FileHandle(forWritingAtPath: try device.folder.write("", to: "output"))
                let process = try Program("device-simulator").start(
                    device.arguments(device.file(seal("Hello"))), output: try #require(output))
                // The counts are now being moved into a receipt, which is posted a few milliseconds later.
                while names.contains("failures"), !process.hasEnded { usleep(50) }
                usleep(.random(in: 0...8_000, using: &random))
                killCount += process.killChildren()
                listener.resume()
                process.wait()
            }
            #expect(killCount > wanted / 2)
            // Unfinished files become free after a minute. Then the rest is posted, some with each notification.
            for name in names where name.hasPrefix("making.") {
                var times = [timeval](repeating: timeval(tv_sec: time(nil) - 120, tv_usec: 0), count: 2)
                #expect(utimes(queue.appending(path: name).path, &times) == 0)
            }
            var rounds = 0
            while rounds < 3 || (!names.isEmpty && rounds < 40) {
                rounds += 1
                #expect(try device.deliver(device.file(seal("Hello"))).outcome == "opened")
            }
            #expect(names.isEmpty, "\(names)")
            let counted = try listener.counted()
            #expect(counted.failures == ["malformed": roundCount])
            #expect(counted.shown >= rounds && counted.shown <= roundCount + rounds)
            print("killed \(killCount) times; \(counted.shown) receipts for \(roundCount + rounds) messages")
        }
    }

    @Test("all receipts of many notifications are counted, without leaking memory or descriptors")
    func many() throws {
        let count = Thoroughness.count(150, thorough: 250)
        try run { listener, seal in
            let runs = try ExtensionRuns(opening: device)
            var memory: [Int] = []
            var descriptorCount = 0
            for number in 0..<count {
                let payload = try seal("\(number)")
                let result = try runs.session.run(identifier: "\(number)", payload: Data(payload.json))
                #expect(result.body == "\(number)")
                memory.append(try #require(result.peakMemoryByteCount))
                if number == 99 { descriptorCount = try settled(runs) }
            }
            // Connections that are posting have open descriptors.
            let limit = descriptorCount + 2
            let end = ContinuousClock.now + .seconds(300)
            while try settled(runs) > limit, ContinuousClock.now < end {}
            #expect(try settled(runs) <= limit)
            let isFlat = memory[count - 1] < memory[99] + 1 << 20
            #expect(isFlat || !ProcessMemory.isMeaningful, "\(memory[99]), \(memory[count - 1])")
            // A busy machine may lag behind with the last ones.
            while try listener.counted().shown < count, ContinuousClock.now < end { usleep(100_000) }
            #expect(try listener.counted() == (count, [:]))
            #expect(runs.session.end().isEmpty)
        }
    }

    /// Returns the number of the extension's descriptors once everything waiting has been posted.
    private func settled(_ runs: ExtensionRuns) throws -> Int {
        var least = Int.max
        for _ in 0..<60 {
            least = min(least, try runs.descriptors().count)
            usleep(10_000)
        }
        return least
    }
}

extension ChildProcess {
    /// The child processes of all its threads.
    var children: [pid_t] {
        let tasks = "/proc/\(identifier)/task"
        return ((try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []).flatMap { thread in
            let list = try? Checkout.text(URL(filePath: "\(tasks)/\(thread)/children"))
            return (list ?? "").split(separator: " ").compactMap { pid_t($0) }
        }
    }

    /// Kills the child processes. Returns how many were killed.
    func killChildren() -> Int { children.count { Glibc.kill($0, SIGKILL) == 0 } }
}

/// `sealedpush serve` in its own process, and the receipts that it has counted.
struct ReceiptListener {
    let url: String
    private let folder: URL
    private let process: ChildProcess

    /// Runs the server on its own port, with its outbox in `folder`, until `body` returns.
    static func run(
        in folder: URL, keyring: String, sender: String = "newsroom", _ body: (ReceiptListener) throws -> Void
    ) throws {
        let output = folder.appending(path: UUID().uuidString)
        try Data().write(to: output)
        let process = try Program("sealedpush", in: folder).start(
            [
                "serve", "--from", sender, "--topic", "com.example.app", "--listen", "./serve.sock", "--phones",
                "127.0.0.1:0", "--json", "--keyring", keyring,
            ], output: FileHandle(forWritingTo: output))
        defer { process.kill() }
        let end = ContinuousClock.now + .seconds(600)
        while ContinuousClock.now < end {
            let object = (try? JSONSerialization.jsonObject(with: Data(contentsOf: output))) as? [String: Any]
            if let port = (object?["phones"] as? [String: Any])?["port"] as? Int {
                return try body(
                    ReceiptListener(url: "http://127.0.0.1:\(port)/v1/receipts", folder: folder, process: process))
            }
            usleep(10_000)
        }
        Issue.record("the receipt server didn't start")
    }

    /// Stops the server until ``resume()``. Its connections stay open, without answers.
    func pause() { Glibc.kill(process.identifier, SIGSTOP) }

    func resume() { Glibc.kill(process.identifier, SIGCONT) }

    func counted() throws -> (shown: Int, failures: [String: Int]) {
        let status = try Program("sealedpush", in: folder).run("outbox", "status", "--json").objects.first
        let total = (status?["receipts"] as? [String: Any])?["total"] as? [String: Any]
        return (total?["shown"] as? Int ?? 0, total?["failures"] as? [String: Int] ?? [:])
    }
}
