internal import ArgumentParser
internal import Dispatch
internal import Foundation
internal import PushKeyring
internal import PushSimulator
internal import SealedPush
internal import SimulatedAPNs
internal import _PushBase

/// `device-simulator run`
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "A simulated device that stays on: registers with a local APNs and shows what arrives.",
        discussion: """
            Each notification is run through the extension, whose process is used again. With --count, NAME-1 to NAME-N are \
            devices of one process, which runs the extension too.

            SIGUSR1 takes the device offline, SIGUSR2 brings it back; Ctrl-C ends it. It reconnects when the server \
            comes back. What it was shown and had not acknowledged comes again, and replaces itself.

            Examples:
              device-simulator run --device alice-phone --apns APNs --topic com.example.app --keyring Keys \\
                --trust newsroom --state Phone
              device-simulator run --device test --count 1000 --apns APNs --topic com.example.app --keyring Keys \\
                --trust newsroom --state Phones --json

            The keys of the devices, test-1 to test-1000 in the second example, must be in the keyring, or in their own \
            folders in --state, where their apps have made them.

            Exit status: 0 done, 64 wrong use, 65 unusable input, 74 files.
            """)

    @OptionGroup var device: DeviceOptions

    @Option(help: "The local APNs' folder.")
    var apns: String

    @Option(help: "Run this many devices, called by the device's name with -1, -2 and so on.")
    var count: Int?

    @OptionGroup var extensionOptions: ExtensionOptions

    @Flag(help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        guard !apns.isEmpty else { throw ValidationError("--apns is empty: name the local APNs' folder.") }
        guard device.state != nil else {
            throw ValidationError("--state is needed: a device that stays on has a folder.")
        }
        guard count.map({ (1...10_000).contains($0) }) ?? true else { throw ValidationError("--count is 1 to 10000.") }
        guard count == nil || extensionOptions.program == nil else {
            throw ValidationError("--count runs the simulator's own extension: leave out --extension.")
        }
    }

    func run() throws {
        let screen = RunScreen(json: json)
        if let count {
            try runFleet(count, screen)
        } else {
            try runOne(screen)
        }
    }

    private func runOne(_ screen: RunScreen) throws {
        try runUntilDone { ended in
            let phone = try RunningDevice(self)
            let worker = DispatchQueue(label: "extension")
            let holder = ReceiverHolder()
            let shown = Locked(DeviceScreen())
            let receiver = DeviceReceiver(
                folder: URL(filePath: apns),
                apps: [DeviceReceiver.App(name: device.device.description, topic: device.topic.description)]
            ) { event in
                switch event {
                case .online(let tokens): screen.online(device.device.description, tokens)
                case .offline: screen.offline(device.device.description)
                case .unreachable(let message, _): screen.unreachable(message)
                case .arrived(let arrival):
                    worker.async {
                        let push = phone.deliver(arrival.notification)
                        let change = shown.withLock {
                            $0.show(push, identifier: arrival.notification.identifier, at: Date())
                        }
                        for identifier in change.removed { phone.forget(identifier) }
                        screen.show(
                            device.device.description, arrival.notification, push, replaced: change.isReplacement)
                        holder.receiver?.show(push, for: arrival)
                        holder.receiver?.acknowledge(arrival)
                    }
                }
            }
            holder.receiver = receiver
            let switches = [
                Signal(SIGUSR1) { receiver.setOnline(false) }, Signal(SIGUSR2) { receiver.setOnline(true) },
            ]
            async let running: Void = receiver.run()
            await ended()
            receiver.stop()
            await running
            // What has been begun is finished.
            await withCheckedContinuation { continuation in
                worker.async {
                    for remark in phone.end() { report(remark) }
                    continuation.resume()
                }
            }
            withExtendedLifetime(switches) {}
        }
    }

    private func runFleet(_ count: Int, _ screen: RunScreen) throws {
        try runUntilDone { ended in
            let members = try (1...count).map { number in try RunningDevice.member(self, number: number) }
            let names = members.map(\.app.name)
            let fleet = DeviceFleet(folder: URL(filePath: apns), members: members) { event in
                switch event {
                case .online(let tokens): for (name, token) in zip(names, tokens) { screen.online(name, [token]) }
                case .offline: screen.offline(device.device.description)
                case .unreachable(let message, _): screen.unreachable(message)
                case .showed(let showing):
                    screen.show(
                        names[showing.device], showing.notification, showing.push, replaced: showing.isReplacement)
                }
            }
            let switches = [Signal(SIGUSR1) { fleet.setOnline(false) }, Signal(SIGUSR2) { fleet.setOnline(true) }]
            async let running: Void = fleet.run()
            await ended()
            fleet.stop()
            await running
            withExtendedLifetime(switches) {}
        }
    }
}

/// The receiver, for a handler that is made before it.
private final class ReceiverHolder: @unchecked Sendable {
    // Set once, before the receiver runs and so before anything arrives.
    var receiver: DeviceReceiver?
}
