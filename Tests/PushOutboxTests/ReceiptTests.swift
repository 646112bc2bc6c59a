import Foundation
import GRDB
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushOutbox

@Suite("Receipts in the outbox", .overStores) struct ReceiptTests {
    private let fixture: Fixture
    private let devices = ReceivedReceipts()

    init() async throws { fixture = try await Fixture() }

    @Test("each receipt is counted once, with the failures before it, by reason and device") func counted() async throws
    {
        let now = fixture.now
        let first = try devices.receipt("a", failures: [.unknownRecipient: 3, .rejected: 1], at: now)
        #expect(try await fixture.outbox.count(first) == .counted)
        #expect(try await fixture.outbox.count(first) == .repeated)
        #expect(try await fixture.reopened().count(first) == .repeated)
        let more = try [devices.receipt("a", at: now), devices.receipt("b", elapsed: .seconds(4), at: now)]
        let outcomes = try await fixture.outbox.count(more + more, refused: [.rejected: 5])
        #expect(outcomes == [.counted, .counted, .repeated, .repeated])
        let report = try await fixture.outbox.receipts()
        #expect(report.deviceCount == 2)
        #expect(report.failingDeviceCount == 1)
        #expect(report.total.shownCount == 3)
        #expect(report.total.repeatedCount == 4)
        #expect(report.total.failures == ["unknown-recipient": 3, "rejected": 1])
        #expect(report.total.refusals == ["rejected": 5])
        #expect(report.total.shownWithin[.seconds(1)] == 2)
        #expect(report.total.shownWithin[.seconds(5)] == 3)
        #expect(try await fixture.outbox.receipts(of: first.id)?.shownCount == 2)
        #expect(try await fixture.outbox.receipts(of: first.id)?.failedCount == 4)
        #expect(try await fixture.outbox.receipts(of: ReceiptID([UInt8](repeating: 0, count: 16))) == nil)
    }

    @Test("a receipt of one device with another's number doesn't keep the other's from being counted")
    func claimedNumber() async throws {
        let message = MessageID.random()
        let alices = try devices.receipt("alice", failures: [.rejected: 1], message: message, at: fixture.now)
        // A device can MAC anything under its own name.
        let mallorys = try ReceiptReceiver(keys: [devices.key]).receive(
            devices.bytes("mallory", of: alices), at: fixture.now)
        #expect(mallorys.number == alices.number && mallorys.id != alices.id)
        #expect(try await fixture.outbox.count(mallorys) == .counted)
        #expect(try await fixture.outbox.count(alices) == .counted)
        // A new receipt for the same message with other counts is still the same receipt.
        let again = try devices.receipt("alice", failures: [.expired: 2], message: message, at: fixture.now)
        #expect(try await fixture.outbox.count([mallorys, alices, again]).allSatisfy { $0 == .repeated })
        #expect(try await fixture.outbox.receipts(of: alices.id)?.failedCount == 1)
    }

    @Test("receipts count at most 1,000 failures of a device per day, and how many devices had each reason")
    func boundedFailures() async throws {
        let most = ReceiptDevice.maximumFailuresPerDay
        let now = fixture.now
        try await fixture.outbox.count([
            devices.receipt("a", failures: [.clock: 65_535, .expired: 65_535], at: now),
            devices.receipt("a", failures: [.rejected: 65_535], at: now),
            devices.receipt("b", failures: [.rejected: 2, .clock: 1], at: now),
        ])
        var report = try await fixture.outbox.receipts()
        #expect(report.total.failures == ["clock": most + 1, "rejected": 2])
        #expect(report.failingDevices == ["clock": 2, "expired": 1, "rejected": 2])
        #expect(report.failingDeviceCount == 2)
        let first = try devices.receipt("a", failures: [.rejected: 7], at: now)
        #expect(try await fixture.outbox.receipts(of: first.id)?.failedCount == most)
        // Another day has room again.
        fixture.time.advance(by: .seconds(86_400))
        try await fixture.outbox.count(first)
        report = try await fixture.outbox.receipts()
        #expect(report.total.failures["rejected"] == 9)
        #expect(try await fixture.outbox.receipts(days: 1).failingDevices == ["rejected": 1])
        fixture.time.advance(by: .seconds(61 * 86_400))
        try await fixture.outbox.purge(.expired)
        #expect(try await fixture.outbox.receipts(days: 60).failingDevices.isEmpty)
    }

    @Test("receipts are counted on the day of their arrival, beside the pushes that APNs accepted then") func days()
        async throws
    {
        try await fixture.addDevice("phone")
        for day in 0..<3 {
            try await fixture.enqueue("\(day)", to: .everyone)
            try await fixture.deliver()
            for number in 0...day {
                let receipt = try devices.receipt("\(number)", failures: [.tooOld: 1], at: fixture.now)
                try await fixture.outbox.count(receipt)
            }
            if day < 2 { fixture.time.advance(by: .seconds(86_400)) }
        }
        let report = try await fixture.outbox.receipts()
        #expect(report.days.map(\.shownCount) == [1, 2, 3])
        #expect(report.days.map(\.failedCount) == [1, 2, 3])
        #expect(report.days.map(\.acceptedCount) == [1, 1, 1])
        #expect(report.registeredDeviceCount == 1)
        #expect(try await fixture.outbox.receipts(days: 1).total.shownCount == 3)
        #expect(try await fixture.outbox.receipts(days: 2).total.shownCount == 5)
    }

    @Test("receipts are deleted: numbers once their copies would be rejected, days and devices after 60 days")
    func purged() async throws {
        let start = fixture.now
        let receipt = try devices.receipt("a", at: start)
        try await fixture.outbox.count(receipt)
        // It is known as long as a copy would be accepted.
        fixture.time.advance(by: .seconds(7 * 86_400))
        try await fixture.outbox.purge(.expired)
        let receiver = ReceiptReceiver(keys: [devices.key])
        let copy = try receiver.receive(devices.bytes("a", of: receipt), at: fixture.now)
        #expect(try await fixture.outbox.count(copy) == .repeated)
        fixture.time.advance(by: .seconds(2 * 86_400))
        #expect(throws: ReceiptError.tooOld) { try receiver.receive(devices.bytes("a", of: receipt), at: fixture.now) }
        try await fixture.outbox.purge(.expired)
        #expect(try await fixture.outbox.count(receipt) == .counted)
        fixture.time.advance(by: .seconds(61 * 86_400))
        try await fixture.outbox.purge(.expired)
        #expect(try await fixture.outbox.receipts(days: 60).days.isEmpty)
        #expect(try await fixture.outbox.receipts(of: receipt.id) == nil)
    }

    @Test("a device has 1,000 receipts a day, so that its key can't fill the disk, and others are still counted")
    func tooMany() async throws {
        let now = fixture.now
        let most = ReceiptDevice.maximumPerDay
        let many = try (0..<(most + 50)).map { _ in try devices.receipt("a", failures: [.locked: 1], at: now) }
        let outcomes = try await fixture.outbox.count(many)
        #expect(outcomes.prefix(most).allSatisfy { $0 == .counted })
        #expect(outcomes.suffix(50).allSatisfy { $0 == .tooMany })
        // A counted receipt is still known, even to a restarted server.
        let again = try await fixture.reopened().count([many[0], many[most], devices.receipt("b", at: now)])
        #expect(again == [.repeated, .tooMany, .counted])
        var report = try await fixture.outbox.receipts()
        #expect(report.total.shownCount == most + 1)
        #expect(report.total.failures == ["locked": most])
        #expect(report.total.refusals == ["too-many": 51])
        // They may be sent again on another day.
        fixture.time.advance(by: .seconds(86_400))
        #expect(try await fixture.outbox.count(many[most]) == .counted)
        report = try await fixture.outbox.receipts()
        #expect(report.total.shownCount == most + 2)
    }

    @Test("an impossible count of a day isn't added to", .inDatabases, arguments: [Int64.min, -5]) func impossibleCount(
        value: Int64
    ) async throws {
        let now = fixture.now
        try await fixture.outbox.count(devices.receipt("a", at: now))
        try await fixture.execute("UPDATE receipt_devices SET shown_that_day = \(value), failed_that_day = \(value)")
        try await fixture.outbox.count(devices.receipt("a", failures: [.locked: 2], at: now))
        #expect(try await fixture.number("SELECT shown_that_day FROM receipt_devices") == 1)
        #expect(try await fixture.number("SELECT failed_that_day FROM receipt_devices") == 2)
    }

    @Test("receipts of many devices at once lose no count") func crowd() async throws {
        let (outbox, other, now) = (fixture.outbox, try await fixture.reopened(), fixture.now)
        let receipts = try (0..<200).map { try devices.receipt("\($0 % 7)", failures: [.locked: 1], at: now) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for start in stride(from: 0, to: 200, by: 10) {
                let part = Array(receipts[start..<(start + 10)])
                group.addTask { try await outbox.count(part) }
                group.addTask { try await other.count(part) }
            }
            try await group.waitForAll()
        }
        let report = try await outbox.receipts()
        #expect(report.total.shownCount == 200)
        #expect(report.total.repeatedCount == 200)
        #expect(report.total.failures == ["locked": 200])
        #expect(report.deviceCount == 7)
    }
}
