import Foundation
import PushCore
import PushSender
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushOutbox
@testable import PushPostgres

/// How the server looks things up: it explains every statement of an outbox, and its log is read.
@Suite("PostgreSQL's plans") struct PostgresPlanTests {
    private let fixture: Fixture
    private var database: PostgresServer.Database { fixture.database! }

    init() async throws { fixture = try await StoreKind.$current.withValue(.postgres) { try await Fixture() } }

    @Test("statistics of a moment in which nothing waited mislead no look-up, while what was deleted can't be vacuumed")
    func statistics() async throws {
        try await fixture.addDevices(0..<Self.deviceCount)
        let snapshot = try await PostgresPool.open(PostgresAddress(parsing: database.address))
        _ = try await snapshot.run { connection throws(OutboxError) in try connection.script(Self.endlessSnapshot) }
        let outbox = try await fixture.reopened(nil)
        for round in 0..<20 {
            try await use(outbox, from: Int64(round) * 1_000_000)
            let store = try #require(outbox.store as? PostgresStore)
            _ = try await store.write { db, _ throws(OutboxError) in try PostgresStore.turn(db) }
        }
        // As autovacuum does it, which leaves tables alone that hardly change.
        try await database.run("ANALYZE queues, entries, devices")

        let options = """
            -c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0 \
            -c auto_explain.log_nested_statements=on
            """
        let encoded = try #require(options.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        try await use(Outbox(postgres: "\(database.address)&options=\(encoded)"), from: 100_000_000)

        let plans = try plans()
        for (index, columns) in [
            "queues_by_device": ["generation", "device"], "queues_by_due": ["carrier", "priority", "due"],
            "entries_by_device": ["device", "priority"], "devices_pkey": ["id"],
        ] {
            // The condition stands in the line below.
            let uses = plans.flatMap { plan in
                zip(plan, plan.dropFirst()).filter { $0.0.contains("using \(index) on") }.map(\.1)
            }
            #expect(!uses.isEmpty, "\(index)")
            for use in uses {
                let isWhole = use.contains("Index Cond") && columns.allSatisfy { use.contains("(\($0) ") }
                #expect(isWhole, "\(index): \(use)")
            }
        }
        for plan in plans {
            let isSlow = plan.contains { line in
                line.contains("Bitmap")
                    || ["queues", "entries", "devices"].contains { line.contains("Seq Scan on \($0) ") }
            }
            #expect(!isSlow, "\(plan.joined(separator: "\n"))")
        }
        _ = try await snapshot.run { connection throws(OutboxError) in try connection.script("COMMIT") }
    }

    private static let deviceCount = 40
    /// However long the test takes on a busy machine.
    private static let endlessSnapshot = """
        BEGIN ISOLATION LEVEL REPEATABLE READ;
        SET LOCAL idle_in_transaction_session_timeout = 0;
        SELECT count(*) FROM sealed_push.queues
        """

    /// All that an outbox is asked for while messages go in and out, once.
    private func use(_ outbox: Outbox, from firstNumber: Int64) async throws {
        for audience in [Audience.everyone, .device("d1"), .user("anna")] {
            try await outbox.enqueue(
                Content(body: "Hello"), to: audience, from: fixture.sealer, includingUnverified: true)
        }
        var leases: [Lease] = []
        repeat {
            let order = LeaseOrder(
                carrier: .apns(), count: 2 * Self.deviceCount, considerateCount: 1, duration: .seconds(60),
                firstNumber: firstNumber + Int64(leases.count))
            leases = try await outbox.settle([], taking: order)
            let ends = leases.map { (lease: $0, settlement: Settlement.accepted) }
            _ = try await outbox.settle(ends, taking: nil)
            // Again, as after an answer that was lost: rows are looked for whose place nobody knows.
            _ = try await outbox.settle(ends, taking: nil)
        } while !leases.isEmpty
        _ = try await outbox.store.timeUntilDue(by: .apns())
    }

    /// The lines of each.
    private func plans() throws -> [[Substring]] {
        let log = try String(contentsOf: URL(filePath: "\(database.server.folder.path)/log"), encoding: .utf8)
        var plans: [[Substring]] = []
        for line in log.split(separator: "\n") {
            if line.hasSuffix("plan:") {
                plans.append([])
            } else if line.hasPrefix("\t"), !plans.isEmpty {
                plans[plans.count - 1].append(line)
            }
        }
        return plans
    }
}
