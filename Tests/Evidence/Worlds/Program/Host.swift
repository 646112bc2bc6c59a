import Foundation
import PushCore
import PushHTTP
import PushOutbox
import PushSender
import SealedPush
import TestPrograms

/// One life of the server's process. Its rows outlive it. A dead one finds neither the database nor the network, so that what is
/// left of it ends without an effect.
final class Host: @unchecked Sendable {
    private(set) var outbox: Outbox! = nil
    private(set) var phones: UnconnectedPhones! = nil
    private(set) var sealer: Sealer
    private let alert: WireAlert
    private(set) var isDead = false
    private var couriers: [Task<Void, Never>] = []
    private let world: World

    init(in world: World) throws {
        self.world = world
        let configuration = world.plan.configuration
        alert =
            configuration.hasMembers
            ? try WireAlert(title: .plain("News"), body: .plain("You have a message.")) : "You have a message."
        sealer = Sealer(sender: world.sender, topic: World.topic, safeDefault: alert)
        outbox = Outbox(HostStore(world.rows, self, in: world), key: world.outboxKey)
        phones = UnconnectedPhones(outbox, state: state)
        for number in 0..<configuration.courierCount { startCourier(number) }
    }

    private var state: ServerState {
        let keys = SenderKeys(
            sender: world.sender, sealer: sealer,
            receipts: ReceiptReceiver(keys: [ReceiptKey(of: world.sender, for: World.topic)]))
        return ServerState(keys: keys, senderSet: world.senderSet, tokens: nil)
    }

    /// Seals with the world's newest sender, and hands out the newest set.
    func rereadKeys() {
        sealer = Sealer(sender: world.sender, topic: World.topic, safeDefault: alert)
        phones.use(state)
    }

    /// Runs a courier, and starts it again when it ends with an error, as an operator's supervisor does.
    private func startCourier(_ number: Int) {
        let (outbox, world, apple) = (outbox!, world, Apple(self, in: world))
        let count = world.plan.configuration.inFlightCount
        couriers.append(
            Task.detached { [weak self] in
                while self?.isDead == false, !Task.isCancelled {
                    let courier = Courier(
                        for: outbox, through: apple,
                        limits: CourierLimits(inFlightCount: count, lease: .seconds(120), pollInterval: .seconds(5)))
                    do throws(CourierError) { try await courier.run() } catch {
                        world.log("courier \(number) ended: \(error)")
                    }
                    if Task.isCancelled { break }
                    try? await Task.sleep(for: .seconds(30))
                }
            })
    }

    func kill() {
        isDead = true
        stop()
        world.wakeCouriers()
    }

    /// Lets go of what owns this process.
    func end() { (outbox, phones, couriers) = (nil, nil, []) }

    func stop() { for courier in couriers { courier.cancel() } }
}
