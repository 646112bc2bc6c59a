internal import Foundation
internal import PushKeyring
internal import PushSimulator
internal import SealedPush
internal import SimulatedAPNs

/// A device of the keyring that stays on, with its folder.
struct RunningDevice {
    private let owned: OwnedDevice
    private let delivery: PushDelivery

    init(_ command: RunCommand) throws {
        owned = try OwnedDevice(command.device)
        delivery = try command.extensionOptions.delivery(
            to: owned, command.device, container: command.device.container, isLocked: false)
    }

    /// Runs one notification through the extension, then acts as the app: a key under which a message has opened is
    /// confirmed.
    func deliver(_ notification: APNsNotification) -> DeliveredPush {
        let delivered: DeliveredPush
        do {
            let push = try PushFile(parsing: Data(notification.payload))
            delivered = try delivery.deliver(
                push, identifier: notification.identifier, pushType: notification.pushType.rawValue)
        } catch {
            return DeliveredPush(notShownBecause: "\(error)")
        }
        do throws(KeyringError) {
            if let waiting = try owned.unconfirmed(), delivery.hasOpened(under: waiting) {
                try owned.keyring.confirm(owned.name)
            }
        } catch {
            // Another process was faster, which is as good; anything else costs the delivery nothing.
            if error != .nothingToConfirm(owned.name) { report("the new key can't be confirmed: \(error)") }
        }
        return delivered
    }

    /// Ends the extension's process. Gives what it did wrong after its answers.
    func end() -> [String] { delivery.end() }

    /// Removes the files of a notification that is no longer on the screen.
    func forget(_ identifier: String) { delivery.forget(identifier) }

    /// One of `--count` devices, which is called NAME-number and has a folder of that name.
    static func member(_ command: RunCommand, number: Int) throws -> DeviceFleet.Member {
        var options = command.device
        options.device += "-\(number)"
        let owned = try OwnedDevice(options)
        let container = options.container.appending(path: options.device, directoryHint: .isDirectory)
        try? FileManager.default.createDirectory(at: options.container, withIntermediateDirectories: true)
        let member: DeviceFleet.Member?
        do {
            member = try DeviceFleet.Member(
                name: options.device, standard: try command.extensionOptions.standard(owned, options),
                keys: KeyringStore(owned.keyring, device: owned.name), keyCreated: owned.created, container: container)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(status: 74, message: "\(container.path(percentEncoded: false)) can't be made")
        }
        guard let member else { throw Failure(status: 64, message: "the device's configuration is not usable") }
        return member
    }
}
