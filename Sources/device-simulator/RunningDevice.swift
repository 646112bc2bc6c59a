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
        let container = command.device.container
        let standard = try Self.standard(command, owned)
        try Self.prepare(container, owned)
        let ownProgram = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        let process = ExtensionProcess(
            program: command.program.map { URL(filePath: $0) } ?? ownProgram,
            arguments: command.program == nil ? ["host-extension"] : [], timeLimit: .seconds(command.timeLimit))
        delivery = PushDelivery(
            device: SimulatedDevice(
                keyring: owned.keyring.folder, name: owned.name.description, keyFile: command.device.keyFileURL,
                container: container, isLocked: false),
            process: process, standard: standard)
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
                name: options.device, standard: try standard(command, owned),
                keys: KeyringStore(owned.keyring, device: owned.name), keyCreated: owned.created, container: container)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(status: 74, message: "\(container.path(percentEncoded: false)) can't be made")
        }
        guard let member else { throw Failure(status: 64, message: "the device's configuration is not usable") }
        return member
    }

    private static func prepare(_ container: URL, _ owned: OwnedDevice) throws {
        do {
            try PushDelivery.prepareContainer(container, keyCreated: owned.created.secondsSince1970)
        } catch {
            throw Failure(status: 74, message: "\(container.path(percentEncoded: false)) can't be made")
        }
    }

    private static func standard(_ command: RunCommand, _ owned: OwnedDevice) throws -> StandardConfiguration {
        let trusted = try owned.trusted()
        if trusted == TrustedSenders([]), command.program == nil {
            report("no sender is trusted: name one with --trust, or list one with `sealedpush trust add`")
        }
        return StandardConfiguration(
            topic: command.device.topic, senders: trusted.senders.map(\.description),
            authorities: trusted.authorities.map(\.description), safeDefault: command.safeDefault,
            allowsAnonymous: command.allowAnonymous)
    }
}
