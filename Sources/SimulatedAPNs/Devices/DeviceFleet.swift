internal import Dispatch
package import Foundation
package import PushSimulator
internal import _PushBase

/// Many simulated devices in one process, behind one connection to a local APNs. Each shows its notifications one after
/// another, in the order in which they arrive; several devices work at once. Safe from several threads.
package final class DeviceFleet: Sendable {
    /// One device of the fleet.
    package struct Member: Sendable {
        package var app: DeviceReceiver.App
        let program: InProcessExtension
        let prepare: @Sendable () -> Void

        /// - Parameters:
        ///   - device: with its ledger and its keys.
        ///   - prepare: called before each notification.
        ///
        /// Nil where the configuration is not usable.
        package init?(
            name: String, standard: StandardConfiguration, on device: SimulatedDevice,
            prepare: @escaping @Sendable () -> Void = {}
        ) {
            guard let program = InProcessExtension(standard, on: device) else { return nil }
            app = DeviceReceiver.App(name: name, topic: standard.topic)
            self.program = program
            self.prepare = prepare
        }
    }

    /// What a person saw of one notification.
    package struct Showing: Sendable {
        package let device: Int
        package let notification: APNsNotification
        package let push: DeliveredPush
        /// Whether something was on this device's screen under the same identifier already, and was replaced. A screen
        /// holds the newest 1,000.
        package let isReplacement: Bool
    }

    package enum Event: Sendable {
        case online(tokens: [String])
        case offline
        case unreachable(String, retryAfter: Duration)
        case showed(Showing)
    }

    private let members: [Member]
    private let workers: [DispatchQueue]
    private let handler: @Sendable (Event) -> Void
    private let screens: [Locked<ShownIdentifiers>]
    private let receiver: Locked<DeviceReceiver?>
    private let folder: URL

    /// - Parameters:
    ///   - folder: the local APNs'.
    ///   - workerCount: how many devices work at once; mostly they wait for the disk.
    ///   - handler: called from several threads.
    package init(
        folder: URL, members: [Member], workerCount: Int = 8, handler: @escaping @Sendable (Event) -> Void
    ) {
        self.folder = folder
        self.members = members
        self.handler = handler
        workers = (0..<max(1, min(workerCount, members.count))).map { DispatchQueue(label: "device worker \($0)") }
        screens = members.map { _ in Locked(ShownIdentifiers()) }
        receiver = Locked(nil)
    }

    /// Until ``stop()``.
    package func run() async {
        let receiver = DeviceReceiver(folder: folder, apps: members.map(\.app)) { [weak self] event in
            self?.handle(event)
        }
        self.receiver.withLock { $0 = receiver }
        await receiver.run()
        // What has been begun is finished: it would be shown again otherwise.
        for worker in workers {
            await withCheckedContinuation { continuation in worker.async { continuation.resume() } }
        }
    }

    package func setOnline(_ isOnline: Bool) { receiver.withLock { $0 }?.setOnline(isOnline) }

    package func stop() { receiver.withLock { $0 }?.stop() }

    private func handle(_ event: DeviceReceiver.Event) {
        switch event {
        case .online(let tokens): handler(.online(tokens: tokens))
        case .offline: handler(.offline)
        case .unreachable(let message, let pause): handler(.unreachable(message, retryAfter: pause))
        case .arrived(let arrival): workers[arrival.device % workers.count].async { self.show(arrival) }
        }
    }

    private func show(_ arrival: DeviceReceiver.Arrival) {
        members[arrival.device].prepare()
        let push = members[arrival.device].program.deliver(
            payload: arrival.notification.payload, pushType: arrival.notification.pushType.rawValue,
            identifier: arrival.notification.identifier)
        // After the ledger was written: a device killed in between gets it again, and knows it.
        let identifier = arrival.notification.identifier
        let isReplacement = push.shown != nil && !screens[arrival.device].withLock { $0.insert(identifier) }
        handler(
            .showed(
                Showing(
                    device: arrival.device, notification: arrival.notification, push: push,
                    isReplacement: isReplacement)))
        let receiver = receiver.withLock { $0 }
        receiver?.show(push, for: arrival)
        receiver?.acknowledge(arrival)
    }
}
