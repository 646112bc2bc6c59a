import Dispatch
import Foundation
import PushCore
import SealedPush
import TestSupport
import Testing
import UserNotifications

@testable import PushService

@Suite("Concurrent requests") struct RequestTests {
    /// Counts the calls of each request's handler, and records their content.
    private final class Calls: Sendable {
        let bodies = Locked<[Int: [String]]>([:])

        func handler(_ number: Int) -> (UNNotificationContent) -> Void {
            { [self] content in
                let body = content.body
                bodies.withLock { $0[number, default: []].append(body) }
            }
        }

        func waitUntil(_ count: Int) async throws {
            try await eventually("\(count) handlers were called") { bodies.withLock { $0.count } >= count }
        }
    }

    @Test("Two requests at once on one instance, a thousand times: each handler gets its own content once")
    func pairs() async throws {
        let fixture = try Fixture()
        // The ledger's syncs depend on the disk, and are tested elsewhere.
        let service = TestedService(fixture.configuration())
        let calls = Calls()
        let fields = try (0..<20).map { try fixture.seal(Content(body: "message \($0)")) }
        for round in 0..<500 {
            for half in 0..<2 {
                let number = round * 2 + half
                let isGood = number < fields.count
                let request = Fixture.request(field: isGood ? fields[number] : "AQ\(number)")
                service.didReceive(request, withContentHandler: calls.handler(number))
            }
            if round % 7 == 0 { service.serviceExtensionTimeWillExpire() }
        }
        try await calls.waitUntil(1_000)
        await service.tidied()
        let bodies = calls.bodies.withLock { $0 }
        #expect(bodies.count == 1_000)
        #expect(bodies.values.allSatisfy { $0.count == 1 })
        for number in 0..<1_000 {
            let body = bodies[number]?.first
            let isExpected = body == "local default" || (number < fields.count && body == "message \(number)")
            #expect(isExpected)
        }
    }

    @Test("If expiry and completion race, the handler is called once") func expiryRace() throws {
        for _ in 0..<300 {
            let count = Locked(0)
            let handover = NotificationHandover(
                Fixture.request(field: nil), best: .safeDefault(SafeDefault(body: "d"), reason: .outOfTime),
                generic: SafeDefault(body: "d"), seal: NotificationSeal(in: nil)
            ) { _ in count.withLock { $0 += 1 } }
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                if thread == 0 { handover.keep(.safeDefault(SafeDefault(body: "e"), reason: .rejected)) }
                handover.finish()
            }
            #expect(count.withLock { $0 } == 1)
        }
    }

    @Test("On expiry, each outstanding request shows the safe default at once, and later results are dropped")
    func expiry() async throws {
        let fixture = try Fixture()
        // A keychain that answers only when told to.
        let gate = DispatchSemaphore(value: 0)
        let slow = WatchedItems(
            fixture.keys,
            .init(beforeCall: { _, _ throws(SecretItemError) in
                gate.wait()
                throw .other(-50)
            }))
        let service = TestedService(fixture.configuration(keys: slow))
        let calls = Calls()
        let field = try fixture.seal()
        for number in 0..<3 {
            service.didReceive(Fixture.request(field: field), withContentHandler: calls.handler(number))
        }
        #expect(calls.bodies.withLock { $0.isEmpty })
        service.serviceExtensionTimeWillExpire()
        #expect(calls.bodies.withLock { $0.count } == 3)
        for _ in 0..<3 { gate.signal() }
        await service.tidied()
        let bodies = calls.bodies.withLock { $0 }
        #expect(bodies.values.allSatisfy { $0 == ["local default"] })
        #expect(fixture.log.filter { $0.reason == .outOfTime }.count == 3)
    }

    @Test("A subclass without a configuration stops the program") func noConfiguration() async {
        await #expect(processExitsWith: .failure) {
            SealedNotificationService().didReceive(Fixture.request(field: nil)) { _ in }
        }
    }
}
