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

@Suite("The pauses of sealedpush serve between delivery runs", .blocking) struct ServeDeliveryTests {
    private static func pauses(after error: any Error) -> [Int64] {
        (1...20).map { LastingDelivery.pause(after: error, failureCount: $0).components.seconds }
    }

    @Test("storage that fails is retried soon; errors that need an operator are retried rarely") func pauses() {
        let away: [OutboxError] = [
            .busy, .unreachable("gone"), .diskFull, .tooManyOpenFiles, .server(code: "57P03", "starting"),
            .connection("no"), .readOnly("no"), .replaced("no"),
        ]
        for error in away {
            let pauses = Self.pauses(after: CourierError.outbox(error))
            #expect(pauses.prefix(7) == [1, 2, 4, 8, 16, 32, 60] && pauses.last == 60, "\(error)")
        }
        let broken: [OutboxError] = [
            .damaged, .notPermitted("no"), .keyNeeded, .otherKey, .otherSchema,
        ]
        let errors = broken.map { CourierError.outbox($0) } + [.wrongClock, .senderRefused(reason: "x", problem: nil)]
        for error in errors {
            let pauses = Self.pauses(after: error)
            #expect(pauses.prefix(7) == [60, 120, 240, 480, 960, 1_920, 3_600] && pauses.last == 3_600, "\(error)")
        }
    }

    @Test("a part that has ended isn't notified of the program's end; one that starts later is notified immediately")
    func handlers() async {
        let interrupt = Interrupt([])
        let called = Locked<[Int]>([])
        func note(_ number: Int) -> @Sendable () -> Void { { called.withLock { $0.append(number) } } }
        await interrupt.calling(note(1)) {}
        await interrupt.calling(note(2)) { interrupt.fire() }
        #expect(called.withLock { $0 } == [2] && interrupt.isInterrupted)
        await interrupt.calling(note(3)) { interrupt.fire() }
        #expect(called.withLock { $0 } == [2, 3])
    }

    @Test("failed runs are followed by others, and the program's end interrupts a pause") func runs() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("alice-phone", user: "alice")
        #expect(try fixture.send("--all", "--queue-only", apns: false).status == 0)
        _ = try fixture.makeAPNsWithWrongKey("Wrong")
        let (interrupt, observation) = (Interrupt([]), Observation())
        let account = try ProviderOptions.parse(["--apns", fixture.folder.appending("Wrong").path]).account()
        let delivery = LastingDelivery(
            outbox: try Outbox(at: fixture.folder.appending("outbox.sqlite").path), account: account,
            reread: { account }, logger: Logger(label: "test"), interrupt: interrupt, observation: observation)
        let running = Task { try? await delivery.run() }
        var couriers: [Courier] = []
        try await eventually("five runs") {
            let courier = observation.courier.withLock { $0 }
            if let courier, courier !== couriers.last { couriers.append(courier) }
            return couriers.count >= 5
        }
        interrupt.fire()
        await running.value
    }
}
