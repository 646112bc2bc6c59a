import Foundation
import GRDB
import SealedPush
import TestSupport
import Testing

@testable import PushOutbox
@testable import PushSender

@Suite("Cells of the outbox file that hold something else") struct CellTests {
    private let fixture: Fixture
    private let folder: TemporaryFolder

    init() async throws {
        fixture = try await Fixture()
        folder = try TemporaryFolder()
    }

    @Test(
        "a value of another type, or far too large, gives an error or the truth, and no trap",
        arguments: [DatabaseValue.null, "text".databaseValue, Int64.max.databaseValue])
    func spoiled(value: DatabaseValue) async throws {
        try await fill()
        let good = try Data(contentsOf: URL(filePath: fixture.path))
        let copy = folder.appending("copy.db").path
        for (table, column) in try columns() {
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy + suffix) }
            try good.write(to: URL(filePath: copy))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy)
            // The number of a row can be nothing but a number.
            try change(copy) {
                try? $0.execute(sql: "UPDATE OR IGNORE \(table) SET \(column) = ?", arguments: [value])
            }
            do {
                try await useAll(Outbox(at: copy, clock: fixture.time.clock))
            } catch let error as OutboxError {
                #expect(error == .damaged || Self.isDatabase(error), "\(table).\(column): \(error)")
            } catch let error as CourierError {
                guard case .outbox(let error) = error else { throw error }
                #expect(error == .damaged || Self.isDatabase(error), "\(table).\(column): \(error)")
            }
        }
    }

    @Test("a push whose cells are of another type costs itself, and the others are sent") func oneRow() async throws {
        for number in 0..<3 { try await fixture.addDevice("d\(number)") }
        try await fixture.enqueue("Hello", to: .everyone)
        try change(fixture.path) { db in
            try db.execute(sql: "UPDATE entries SET body = NULL WHERE device = 1")
            try db.execute(sql: "UPDATE entries SET priority = 'text' WHERE device = 2")
        }
        let outbox = try await fixture.reopened()
        let report = try await Courier(for: outbox, through: ScriptedTransport(), limits: Fixture.limits()).run(
            until: .nothingDue(within: .zero))
        #expect(report.acceptedCount == 1)
    }

    /// Something in each table.
    private func fill() async throws {
        for number in 0..<3 { try await fixture.addDevice("d\(number)") }
        try await fixture.enqueue("Hello", to: .everyone, key: "key")
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
        let queue = try DatabaseQueue(path: fixture.path)
        return try queue.read { db in
            let tables = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
            return try tables.flatMap { table in try db.columns(in: table).map { (table, $0.name) } }
        }
    }

    /// As another program may: the tables take any value in any column.
    private func change(_ path: String, _ body: (Database) throws -> Void) throws {
        let loosening = try DatabaseQueue(path: path)
        try loosening.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA writable_schema = ON")
            for (word, other) in [("STRICT, WITHOUT", "WITHOUT"), (") STRICT", ")"), (" NOT NULL", "")] {
                try db.execute(sql: "UPDATE sqlite_schema SET sql = replace(sql, ?, ?)", arguments: [word, other])
            }
        }
        try loosening.close()
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction(body)
        try queue.close()
    }

    private func useAll(_ outbox: Outbox) async throws {
        let receipts = try? await outbox.receipts(days: 60)
        _ = (receipts?.total.failedCount, receipts?.total.refusedCount)
        _ = try? await outbox.receipts(of: Self.receiptID)
        _ = try? await outbox.deadLetters()
        _ = try? await outbox.devices()
        _ = try? await outbox.status()
        _ = try? await outbox.enqueue(
            Content(body: "More"), to: .everyone, from: fixture.sealer, includingUnverified: true,
            key: IdempotencyKey("key"))
        _ = try? await outbox.retry()
        _ = try await Courier(for: outbox, through: ScriptedTransport(), limits: Fixture.limits()).run(
            until: .nothingDue(within: .zero))
        _ = try await outbox.purge(.everything)
    }

    private static func isDatabase(_ error: OutboxError) -> Bool {
        if case .database = error { return true }
        return false
    }
}
