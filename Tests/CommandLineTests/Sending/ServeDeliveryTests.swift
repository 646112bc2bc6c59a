import ArgumentParser
import CommandSupport
import Foundation
import Logging
import PushCore
import PushOutbox
import SimulatedAPNs
import TestPrograms
import TestSupport
import Testing

@testable import SealedPushCommand

@Suite("What sealedpush serve does between two runs of delivery", .blocking) struct ServeDeliveryTests {
    private static func pauses(after error: any Error) -> [Int64] {
        (1...20).map { LastingDelivery.pause(after: error, failureCount: $0).components.seconds }
    }

    @Test("an outbox that is away comes back by itself; what waits for somebody is tried seldom") func pauses() {
        let away: [OutboxError] = [.busy, .unreachable("gone"), .diskFull, .server(code: "57P03", "starting")]
        for error in away {
            let pauses = Self.pauses(after: CourierError.outbox(error))
            #expect(pauses.prefix(7) == [1, 2, 4, 8, 16, 32, 60] && pauses.last == 60, "\(error)")
        }
        let broken: [OutboxError] = [
            .damaged, .notPermitted("no"), .keyNeeded, .otherKey, .connection("no"), .readOnly, .otherSchema,
        ]
        let errors = broken.map { CourierError.outbox($0) } + [.wrongClock, .senderRefused(reason: "x", problem: nil)]
        for error in errors {
            let pauses = Self.pauses(after: error)
            #expect(pauses.prefix(7) == [60, 120, 240, 480, 960, 1_920, 3_600] && pauses.last == 3_600, "\(error)")
        }
    }

    @Test("a part that has ended is not told of the end of the program, and nothing of it is kept") func handlers() {
        let interrupt = Interrupt([])
        let called = Locked<[Int]>([])
        let ids = (1...3).map { number in interrupt.onInterrupt { called.withLock { $0.append(number) } } }
        interrupt.remove(ids[1])
        interrupt.remove(ids[1])
        #expect(interrupt.handlerCount == 2)
        interrupt.fire()
        #expect(called.withLock { $0 } == [1, 3] && interrupt.isInterrupted)
        // After the first time at once, as before.
        let late = interrupt.onInterrupt { called.withLock { $0.append(4) } }
        interrupt.remove(late)
        #expect(called.withLock { $0 } == [1, 3, 4] && interrupt.handlerCount == 2)
    }

    @Test("however many runs are in vain, nothing of them is kept, and the program's end wakes it")
    func runs() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("alice-phone", user: "alice")
        #expect(try fixture.send("--all", "--queue-only", apns: false).status == 0)
        let right = try Data(contentsOf: fixture.folder.appending("APNs/address.json"))
        var address = try #require(try JSONSerialization.jsonObject(with: right) as? [String: Any])
        // No key that the local APNs knows.
        address["keyID"] = "AAAAAAAAAA"
        let wrong = fixture.folder.appending("Wrong")
        try FileManager.default.createDirectory(
            at: wrong, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try JSONSerialization.data(withJSONObject: address).write(to: wrong.appending(path: "address.json"))
        let (interrupt, observation) = (Interrupt([]), Observation())
        let account = try ProviderOptions.parse(["--apns", wrong.path]).account()
        let delivery = LastingDelivery(
            outbox: try Outbox(at: fixture.folder.appending("outbox.sqlite").path),
            account: account, reread: { account },
            logger: Logger(label: "test"), interrupt: interrupt, observation: observation)
        let running = Task { try? await delivery.run() }
        var couriers: [Courier] = []
        try await eventually("five runs") {
            let courier = observation.courier.withLock { $0 }
            if let courier, courier !== couriers.last { couriers.append(courier) }
            return couriers.count >= 5
        }
        // The program's wish to wake it, and the present run's.
        #expect(interrupt.handlerCount <= 2)
        interrupt.fire()
        await running.value
        #expect(interrupt.handlerCount == 0)
        await fixture.apns.stop()
    }
}
