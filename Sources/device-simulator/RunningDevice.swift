internal import CommandSupport
internal import Foundation
internal import PushKeyring
internal import PushSimulator
internal import SimulatedAPNs

/// A device that stays on.
struct RunningDevice {
    private let owned: OwnedDevice
    private let delivery: PushDelivery

    init(_ command: RunCommand) throws {
        owned = try OwnedDevice(command.device, container: command.device.container)
        delivery = try command.extensionOptions.delivery(to: owned, command.device)
    }

    /// Runs one notification through the extension, then acts as the app: a key under which a message has opened is
    /// confirmed.
    func deliver(_ notification: APNsNotification) -> DeliveredPush {
        owned.bringNewKeys()
        let delivered: DeliveredPush
        do {
            let push = try PushFile(parsing: Data(notification.payload))
            delivered = try delivery.deliver(
                push, identifier: notification.identifier, pushType: notification.pushType.rawValue)
        } catch {
            return DeliveredPush(notShownBecause: "\(error)")
        }
        _ = owned.confirm()
        return delivered
    }

    /// Ends the extension's process. Returns what it did wrong after its answers.
    func end() -> [String] { delivery.end() }

    /// Removes the files of a notification that is no longer on the screen.
    func forget(_ identifier: String) { delivery.forget(identifier) }

    /// One of `--count` devices, which is called NAME-number and has a folder of that name.
    static func member(_ command: RunCommand, number: Int) throws -> DeviceFleet.Member {
        var options = command.device
        guard let name = KeyName(parsing: "\(options.device)-\(number)") else {
            throw Failure.usage("--device is too long for \(number) devices")
        }
        options.device = name
        let container = options.container.appending(path: name.description, directoryHint: .isDirectory)
        try? FileManager.default.createDirectory(at: options.container, withIntermediateDirectories: true)
        let owned = try OwnedDevice(options, container: container)
        let member = DeviceFleet.Member(
            name: name.description, standard: try command.extensionOptions.standard(owned, options), on: owned.phone
        ) { owned.bringNewKeys() }
        guard let member else { throw Failure(status: 64, message: "the device's configuration is not usable") }
        return member
    }
}

extension OwnedDevice {
    /// While a device stays on, its keys may be changed in the keyring. Where they can't be read, the phone has those it has.
    fileprivate func bringNewKeys() {
        do throws(Failure) { try bringKeys() } catch { report("new keys can't be brought: \(error.message)") }
    }
}
