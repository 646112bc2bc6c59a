import Foundation
import PushCore
import SealedPush
import TestSupport
import Testing

@testable import PushService

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

@Suite("The queue of receipts") struct ReceiptQueueTests {
    private let folder: TemporaryFolder
    private let queue: ReceiptQueue
    private let now = Timestamp.now()
    private static let request = ReceiptRequest(
        address: ReceiptAddress(parsing: "https://push.example.com/r")!, id: ReceiptID(Array(0..<16)),
        key: Array(50..<82))

    init() throws {
        folder = try TemporaryFolder()
        queue = ReceiptQueue(in: folder.appending("SealedPush"))
    }

    private func receipt(_ message: MessageID = .random(), after seconds: Int64 = 0) -> ReceiptBody {
        ReceiptBody(
            answering: Self.request, about: message, created: now.advanced(bySeconds: seconds),
            elapsed: .milliseconds(300))
    }

    private func add(_ receipt: ReceiptBody? = nil, takingFailures: Bool = true) {
        queue.add(receipt ?? self.receipt(), answering: Self.request, due: now, takingFailures: takingFailures)
    }

    /// The failures to open that the waiting receipts report.
    private func counts() throws -> [[OpenError: Int]] {
        try queue.waiting().map { name in
            let waiting = try #require(queue.receipt(named: name))
            let body = try Self.request.key.withUnsafeBytes { try ReceiptBody(parsing: waiting.body, key: $0) }
            var counts: [OpenError: Int] = [:]
            for (index, count) in body.counts.enumerated() where count > 0 {
                counts[try #require(OpenError(receiptNumber: UInt8(index + 1)))] = Int(count)
            }
            return counts
        }
    }

    private func path(_ name: String) -> String { queue.folder.appending(path: name).path }

    private func age(_ name: String, seconds: Int = 120) {
        var times = [timeval](repeating: timeval(tv_sec: time(nil) - seconds, tv_usec: 0), count: 2)
        #expect(utimes(path(name), &times) == 0)
    }

    @Test("The queue keeps receipts in order, without keys, with the counts since the last") func order() throws {
        queue.count(.expired)
        queue.count(.expired)
        queue.count(.unknownRecipient)
        add(receipt(after: 0))
        add(receipt(after: 1))
        queue.count(.locked)
        add(receipt(after: 2), takingFailures: false)
        add(receipt(after: 3))
        #expect(try counts() == [[.expired: 2, .unknownRecipient: 1], [:], [:], [.locked: 1]])
        let key = Data(Self.request.key)
        for file in try Checkout.allFiles(in: folder.url) {
            let bytes = try Data(contentsOf: file)
            #expect(bytes.range(of: key) == nil)
            #expect(bytes.range(of: Data(Base64URL.encode(Self.request.key).utf8)) == nil)
        }
    }

    @Test("The queue holds one receipt per message") func once() throws {
        let message = MessageID.random()
        queue.count(.locked)
        add(receipt(message))
        queue.count(.expired)
        add(receipt(message, after: 5))
        #expect(try counts() == [[.locked: 1]])
        add()
        #expect(try counts().contains([.expired: 1]))
    }

    @Test("The queue holds 32 receipts, and drops the oldest first") func bounded() throws {
        let receipts = (0..<40).map { receipt(after: Int64($0)) }
        for receipt in receipts { add(receipt) }
        #expect(queue.waiting().count == 32)
        #expect(queue.waiting().first?.hasSuffix(Hex.encode(receipts[8].number)) == true)
        #expect(queue.waiting().last?.hasSuffix(Hex.encode(receipts[39].number)) == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: queue.folder.path).count == 32)
    }

    @Test("The queue counts only up to its limit, and keeps working") func saturated() throws {
        queue.count(.malformed)
        let bytes = [UInt8](repeating: OpenError.malformed.facts.number, count: 65_534)
        try DurableFiles.append(bytes, to: queue.folder.appending(path: "failures"))
        for _ in 0..<5 { queue.count(.expired) }
        add()
        #expect(try counts() == [[.malformed: 65_535]])
        // Bytes that don't stand for a reason count as none.
        try Data([0, 18, 200, 255, 2]).write(to: queue.folder.appending(path: "failures"))
        add(receipt(after: 1))
        #expect(try counts()[1] == [.unknownRecipient: 1])
    }

    @Test("The queue continues with the work of a process that was killed at any step") func abandoned() throws {
        for step in 0..<4 {
            let queue = ReceiptQueue(in: folder.appending("killed-\(step)"))
            let test = try ReceiptQueueTests(queue)
            queue.count(.locked)
            queue.count(.locked)
            // The steps: the folder; the counts in it; half a receipt; a whole one that isn't in its place.
            mkdir(test.path("making.x"), 0o700)
            if step >= 1 { rename(test.path("failures"), test.path("making.x/failures")) }
            var counted = test.receipt()
            counted.counts[2] = 2
            let whole = WaitingReceipt(
                address: Self.request.address, due: now, body: counted.bytes(key: Self.request.key))
            if step == 2 { try Data(whole.json.prefix(40)).write(to: URL(filePath: test.path("making.x/receipt"))) }
            if step == 3 { try Data(whole.json).write(to: URL(filePath: test.path("making.x/receipt"))) }
            queue.count(.expired)
            // Another process may still be working on it.
            test.add(test.receipt(after: 1), takingFailures: step >= 1)
            test.age("making.x")
            test.add(test.receipt(after: 2))
            test.add(test.receipt(after: 3))
            let total = try test.counts().reduce(into: [OpenError: Int]()) { $0.merge($1, uniquingKeysWith: +) }
            #expect(total == [.locked: 2, .expired: 1], "step \(step)")
            #expect(queue.waiting().count == (step == 3 ? 4 : 3), "step \(step)")
            let names = try FileManager.default.contentsOfDirectory(atPath: queue.folder.path)
            #expect(!names.contains { $0.hasPrefix("making.") }, "step \(step): \(names)")
        }
    }

    @Test("The queue finishes a removal during which a process was killed") func halfRemoved() throws {
        add()
        let name = try #require(queue.waiting().first)
        rename(path(name), path("gone.x"))
        unlink(path("gone.x/receipt"))
        #expect(queue.waiting().isEmpty)
        add()
        #expect(access(path("gone.x"), F_OK) != 0)
        #expect(queue.waiting().count == 1)
    }

    @Test("The queue removes damaged receipts, and no other files in the folder") func damaged() throws {
        for (index, bytes) in [
            Data(), Data("{}".utf8), Data(repeating: 0x7b, count: 5_000),
            Data(#"{"url":"http://evil.example/","due":1,"body":"AA"}"#.utf8), nil,
        ].enumerated() {
            add(receipt(after: Int64(index)))
            let name = try #require(queue.waiting().last)
            if let bytes {
                try bytes.write(to: URL(filePath: path("\(name)/receipt")))
            } else {
                unlink(path("\(name)/receipt"))
                mkfifo(path("\(name)/receipt"), 0o600)
            }
            #expect(queue.receipt(named: name) == nil)
        }
        #expect(queue.waiting().isEmpty)
        mkdir(path("other"), 0o700)
        add()
        #expect(access(path("other"), F_OK) == 0)
        #expect(queue.receipt(named: "000000000000.\(String(repeating: "0", count: 32))") == nil)
    }

    @Test("The queue does no harm if the folder can't be made or is a file, or if failures is a link or a pipe")
    func hostileFolder() throws {
        let blocked = ReceiptQueue(in: folder.appending("file"))
        try Data("x".utf8).write(to: folder.appending("file"))
        blocked.count(.locked)
        blocked.add(receipt(), answering: Self.request, due: now, takingFailures: true)
        #expect(blocked.waiting().isEmpty)
        queue.count(.locked)
        let victim = folder.appending("victim")
        try Data("victim".utf8).write(to: victim)
        for make in [{ symlink(victim.path, path("failures")) }, { mkfifo(path("failures"), 0o600) }] {
            unlink(path("failures"))
            #expect(make() == 0)
            queue.count(.locked)
        }
        #expect(try Data(contentsOf: victim) == Data("victim".utf8))
        add()
        #expect(try counts() == [[:]])
    }

    @Test("Many processes' threads at once lose no receipt and count no failure twice") func crowd() async throws {
        let receipts = (0..<24).map { receipt(after: Int64($0)) }
        await withTaskGroup(of: Void.self) { group in
            for receipt in receipts {
                group.addTask {
                    for _ in 0..<10 { queue.count(.rejected) }
                    add(receipt)
                }
            }
        }
        add(receipt(after: 100))
        #expect(queue.waiting().count == 25)
        let total = try counts().reduce(0) { $0 + ($1[.rejected] ?? 0) }
        // A count written while the counts are taken may be lost, but none is counted twice.
        #expect(total <= 240 && total > 200)
    }
}

extension ReceiptQueueTests {
    /// The same helpers for another queue.
    fileprivate init(_ queue: ReceiptQueue) throws {
        folder = try TemporaryFolder()
        self.queue = queue
        queue.count(.locked)
        unlink(queue.folder.appending(path: "failures").path)
    }
}
