import Foundation
import GRDB
import SealedPush
import TestSupport
import Testing

@testable import PushOutbox
@testable import PushSender

@Suite("A damaged or tampered outbox file") struct CellTests {
    private let fixture: Fixture
    private let folder: TemporaryFolder

    init() async throws {
        fixture = try await Fixture()
        folder = try TemporaryFolder()
    }

    @Test(
        "a value of another type, or far too large, gives an error or correct data, and never traps",
        arguments: [DatabaseValue.null, "text".databaseValue, Int64.max.databaseValue])
    func spoiled(value: DatabaseValue) async throws {
        try await fill()
        let good = try Data(contentsOf: URL(filePath: fixture.path))
        let copy = folder.appending("copy.db").path
        for (table, column) in try columns() {
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy + suffix) }
            try good.write(to: URL(filePath: copy))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy)
            // A row ID can only be a number.
            try change(copy) { try? $0.execute(sql: "UPDATE OR IGNORE \(table) SET \(column) = ?", arguments: [value]) }
            try await useAll(copy, "\(table).\(column)")
        }
    }

    @Test("damage in any page gives an error or correct data, and never traps", arguments: 0..<24)
    func damaged(part: Int) async throws {
        try await fixture.addDevices(0..<40)
        try await fixture.enqueue(String(repeating: "Hello", count: 100), to: .everyone)
        try await fixture.outbox.checkpoint()
        var bytes = try Data(contentsOf: URL(filePath: fixture.path))
        let pageCount = bytes.count / 4_096
        let start = (part * pageCount / 24) * 4_096 + (part.isMultiple(of: 2) ? 0 : 600)
        for index in start..<min(start + 900, bytes.count) { bytes[index] = UInt8(truncatingIfNeeded: index &* 31) }
        let copy = folder.appending("copy.db").path
        try bytes.write(to: URL(filePath: copy))
        try await useAll(copy, "page \(start / 4_096)")
    }

    @Test("a push with a tampered row is rejected, and the others are sent") func rows() async throws {
        for number in 0..<6 { try await fixture.addDevice("d\(number)") }
        try await fixture.enqueue(to: .everyone)
        try change(fixture.path) { db in
            try db.execute(
                sql: """
                    UPDATE entries SET body = NULL WHERE device = 1;
                    UPDATE entries SET priority = 'text' WHERE device = 2;
                    UPDATE devices SET token = zeroblob(101) WHERE id = 3;
                    UPDATE queues SET attempts = 9223372036854775807,
                        entry = (SELECT id FROM entries WHERE device = 4) WHERE device = 4
                    """)
        }
        let outbox = try await fixture.reopened()
        #expect(try await fixture.deliver(from: outbox).acceptedCount == 3)
        #expect(try await outbox.status().deadLetters == ["malformed": 2])
    }

    /// Puts data in each table.
    private func fill() async throws {
        for number in 0..<3 { try await fixture.addDevice("d\(number)") }
        try await fixture.enqueue(to: .everyone, key: "key")
        try await fixture.deliver(ScriptedTransport(refusing: 400, "PayloadEmpty"), until: .nothingDue(within: .zero))
        try await fixture.enqueue("Again", to: .everyone)
        let receipt = ShownReceipt(
            ReceiptBody(
                id: Self.receiptID, number: Array(repeating: 2, count: 16), created: fixture.now,
                elapsedMilliseconds: 300, counts: (0..<25).map { UInt16($0) }))
        try await fixture.outbox.count([receipt], refused: [.rejected: 1])
        try await fixture.outbox.checkpoint()
    }

    private static let receiptID = ReceiptID(Array(repeating: 1, count: 16))

    private func columns() throws -> [(table: String, column: String)] {
        let queue = try DatabaseQueue.patient(at: fixture.path)
        return try queue.read { db in
            let tables = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
            return try tables.flatMap { table in try db.columns(in: table).map { (table, $0.name) } }
        }
    }

    /// Changes the file as another program may: any column takes any value.
    private func change(_ path: String, _ body: (Database) throws -> Void) throws {
        let loosening = try DatabaseQueue.patient(at: path)
        try loosening.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA writable_schema = ON")
            for (word, other) in [("STRICT, WITHOUT", "WITHOUT"), (") STRICT", ")"), (" NOT NULL", "")] {
                try db.execute(sql: "UPDATE sqlite_schema SET sql = replace(sql, ?, ?)", arguments: [word, other])
            }
        }
        try loosening.close()
        let queue = try DatabaseQueue.patient(at: path)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA ignore_check_constraints = ON")
            try body(db)
        }
        try queue.close()
    }

    /// Runs every operation on an outbox; a failing one must throw a suitable error.
    private func useAll(_ path: String, _ damage: String) async throws {
        do {
            let outbox = try Outbox(at: path, clock: fixture.time.clock)
            let receipts = try? await outbox.receipts(days: 60)
            _ = (receipts?.total.failedCount, receipts?.total.refusedCount)
            _ = try? await outbox.receipts(of: Self.receiptID)
            _ = try? await outbox.deadLetters()
            _ = try? await outbox.devices()
            _ = try? await outbox.status()
            _ = try? await fixture.enqueue("More", to: .everyone, key: "key", in: outbox)
            _ = try? await outbox.retry()
            try await fixture.deliver(from: outbox)
            try await outbox.purge(.everything)
        } catch let error as OutboxError {
            #expect(Self.isDamage(error), "\(damage): \(error)")
        } catch CourierError.outbox(let error) { #expect(Self.isDamage(error), "\(damage): \(error)") }
    }

    private static func isDamage(_ error: OutboxError) -> Bool {
        switch error {
        case .damaged, .foreign, .otherSchema, .database: true
        default: false
        }
    }
}
