import EndToEnd
import Foundation
import PushSender
import PushService
import PushSimulator
import SealedPush
import SimulatedAPNs
import TestSupport
import Testing

/// Apps use their phones' keychains while other processes open messages with them.
@Suite("Phones that change their keys while messages flow", .serialized, .blocking) struct KeyChangeTests {
    /// An action of a phone's app, or a message to it.
    private enum Act: CaseIterable { case send, sendMore, rotate, maintain, acceptSet, revoke }

    @Test(
        "as keys are created, confirmed, retired, and revoked, each message is shown once, and the server keeps up"
    ) func flow() async throws {
        var random = SeededGenerator()
        let rig = try await Rig(processCount: 1)
        defer { for process in rig.processes { process.kill() } }
        var faults = APNsFaults()
        faults.duplicates = 0.3
        rig.server.faults = faults
        var run = Run(rig)
        // Each phone goes through its whole life once; after that, actions are random.
        for phone in rig.apps.indices {
            for act in [.send, .rotate, .send, .maintain, .revoke, .send] as [Act] {
                if act == .maintain { try await run.drain() }
                try await perform(act, phone, &run)
            }
        }
        for _ in 0..<Thoroughness.count(60, thorough: 2_000) {
            let act = try #require(Act.allCases.randomElement(using: &random))
            try await perform(act, Int.random(in: rig.apps.indices, using: &random), &run)
        }
        try await run.drain()
        for phone in rig.apps.indices { try await perform(.maintain, phone, &run) }
        await rig.end()
        try expectAllShown(run)
        #expect(run.rotatedCount >= rig.apps.count && run.revokedCount >= rig.apps.count)
        #expect(run.confirmedCount >= rig.apps.count && run.retiredCount >= run.confirmedCount)
        for (app, server) in zip(rig.apps, rig.enrolled) {
            #expect(try app.phone.rotation.active.map(\.key) == server.record.recipients)
            #expect(server.unproven.isEmpty)
        }
    }

    /// The messages that were sent, and the actions of the apps.
    private struct Run {
        let rig: Rig
        var phones: [Int] = []
        var setCounter: UInt64 = 1
        var (rotatedCount, confirmedCount, retiredCount, revokedCount) = (0, 0, 0, 0)

        init(_ rig: Rig) { self.rig = rig }

        mutating func send(to devices: [Int]) async throws {
            let messages = devices.enumerated().map { (message: phones.count + $0.offset, device: $0.element) }
            phones += devices
            try await rig.send(messages)
        }

        /// Waits until the phones have shown everything that was sent to them.
        func drain() async throws {
            let (rig, count) = (rig, phones.count)
            try await rig.wait("all pushes acknowledged") { rig.server.deviceCounts.unacknowledged == 0 }
            try await rig.wait("all messages shown") {
                let all = try rig.notifications()
                // Fail at once if a message wasn't opened, instead of waiting for it in vain.
                for other in all where other["outcome"] as? String != "opened" { throw Lost(description: "\(other)") }
                return Set(all.compactMap { $0["body"] as? String }).count == count
            }
        }
    }

    /// An error for a notification that wasn't opened.
    private struct Lost: Error, CustomStringConvertible { let description: String }

    private func perform(_ act: Act, _ phone: Int, _ run: inout Run) async throws {
        let rig = run.rig
        let (app, now) = (rig.apps[phone], Timestamp.now())
        let record: DeviceRecord
        switch act {
        case .send: return try await run.send(to: [phone])
        case .sendMore: return try await run.send(to: Array(rig.apps.indices) + [phone, phone])
        case .acceptSet:
            run.setCounter += 1
            try app.device.accept(senderSet: rig.newsroom.senderSet(run.setCounter, at: now).description, at: now)
            return
        case .rotate:
            do throws(DeviceError) { record = try app.device.rotate(at: now) } catch {
                #expect(error == .unconfirmed)
                return
            }
            run.rotatedCount += 1
        case .maintain:
            let done = try app.device.maintain(at: now)
            #expect(done.rotated == nil && done.erased.isEmpty)
            run.confirmedCount += done.confirmed.count
            run.retiredCount += done.retired.count
            record = done.record
        case .revoke:
            // Messages in transit are lost with the keys, by design, so make sure that there are none.
            try await run.drain()
            try await run.send(to: rig.apps.indices.filter { $0 != phone })
            record = try app.device.revoke(at: now)
            run.revokedCount += 1
        }
        try rig.newsroom.take(record, of: app, to: &rig.enrolled[phone], at: .now())
    }

    private func expectAllShown(_ run: Run) throws {
        var firsts: [String: Int] = [:]
        let all = try run.rig.notifications()
        for notification in all {
            let body = notification["body"] as? String ?? ""
            #expect(notification["outcome"] as? String == "opened", "\(notification)")
            let message = try #require(body.split(separator: " ").last.flatMap { Int($0) })
            #expect(notification["device"] as? String == "phone-\(run.phones[message] + 1)")
            if notification["replaced"] as? Bool == false { firsts[body, default: 0] += 1 }
        }
        #expect(firsts.count == run.phones.count)
        #expect(firsts.values.allSatisfy { $0 == 1 })
        #expect(all.count > firsts.count, "some arrived twice, and replaced themselves")
        print(
            "\(all.count) notifications of \(firsts.count) messages; \(run.rotatedCount) keys rotated, ", terminator: ""
        )
        print("\(run.confirmedCount) confirmed, \(run.revokedCount) times revoked")
    }
}
