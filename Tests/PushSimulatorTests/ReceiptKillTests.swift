import CoreFoundation
import Foundation
import Glibc
import PushSender
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

@Suite("Receipts of an extension that is killed", .serialized, .blocking) struct ReceiptKillTests {
    private let device: Device

    init() throws { device = try Device() }

    private var queue: URL { device.folder.appending("State").appending(path: "SealedPush/receipts") }
    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: queue.path)) ?? [] }

    @Test("a killed extension tells the server of each push that did not open, once, wherever it was killed")
    func killed() throws {
        var random = SeededGenerator()
        var killCount = 0
        let broken = try device.folder.write(
            #"{"aps":{"alert":"x","mutable-content":1},"custom-encrypted-message":"AAAA"}"#, to: "broken")
        try ReceiptListener.run(in: device.folder.url, keyring: device.folder.appending("Keys").path) { listener in
            let address = try #require(ReceiptAddress(parsing: listener.url))
            let sealer = Sealer(
                sender: device.sender, topic: Device.topic, safeDefault: "wire default", receipts: address)
            func good() throws -> String {
                try device.file(try sealer.seal(Content(body: "Hello"), toUnverified: device.recipient))
            }
            let roundCount = Thoroughness.count(4, thorough: 24)
            for _ in 0..<roundCount {
                #expect(try device.deliver(broken).reason == "malformed")
                let output = FileHandle(forWritingAtPath: try device.folder.write("", to: "output"))
                let process = try Program("device-simulator").start(
                    device.arguments(try good()), output: try #require(output))
                // The counts are moved into a receipt: a few milliseconds later it has been posted.
                while names.contains("failures"), !process.hasEnded { usleep(50) }
                usleep(.random(in: 0...8_000, using: &random))
                for child in children(of: process.identifier) where kill(child, SIGKILL) == 0 { killCount += 1 }
                _ = process.wait()
            }
            #expect(killCount > roundCount / 2)
            // What was left half made is nobody's a minute later; then the rest is posted, some with each notification.
            for name in names where name.hasPrefix("making.") {
                var times = [timeval](repeating: timeval(tv_sec: time(nil) - 120, tv_usec: 0), count: 2)
                #expect(utimes(queue.appending(path: name).path, &times) == 0)
            }
            var rounds = 0
            while rounds < 3 || (!names.isEmpty && rounds < 40) {
                rounds += 1
                #expect(try device.deliver(try good()).outcome == "opened")
            }
            #expect(names.isEmpty, "\(names)")
            let counted = try listener.counted()
            #expect(counted.failures == ["malformed": roundCount])
            #expect(counted.shown >= rounds && counted.shown <= roundCount + rounds)
            print("killed \(killCount) times; \(counted.shown) receipts for \(roundCount + rounds) messages")
        }
    }

    private func children(of process: pid_t) -> [pid_t] {
        let list = try? Checkout.text(URL(filePath: "/proc/\(process)/task/\(process)/children"))
        return (list ?? "").split(separator: " ").compactMap { pid_t($0) }
    }
}

/// `sealedpush serve` in its own process, and the receipts that it has counted.
struct ReceiptListener {
    let url: String
    private let folder: URL

    /// Runs it on a port of its own, with its outbox in `folder`, until `body` has returned.
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
        defer {
            process.kill()
            _ = process.wait()
        }
        let end = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < end {
            let object = (try? JSONSerialization.jsonObject(with: Data(contentsOf: output))) as? [String: Any]
            if let port = (object?["phones"] as? [String: Any])?["port"] as? Int {
                return try body(ReceiptListener(url: "http://127.0.0.1:\(port)/v1/receipts", folder: folder))
            }
            usleep(10_000)
        }
        Issue.record("the server for receipts did not start")
    }

    func counted() throws -> (shown: Int, failures: [String: Int]) {
        let result = try Program("sealedpush", in: folder).run("receipts", "--json")
        let total = result.objects.first?["total"] as? [String: Any]
        return (total?["shown"] as? Int ?? 0, total?["failures"] as? [String: Int] ?? [:])
    }
}
