internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushKeyring
internal import PushService
internal import PushSimulator
internal import SealedPush

/// A device in a keyring. Its keys are copied to a phone's keychain, because the extension's process doesn't read keyrings.
struct KeyringSource: Sendable {
    private let keyring: Keyring
    private let name: KeyName
    private let topic: Topic
    /// The keyring's state when it was last copied to the phone.
    private let copied = Locked<State?>(nil)

    private struct State: Equatable, Sendable {
        let entry: KeyringEntry
        let senderSet: SenderSet?
    }

    init(_ keyring: Keyring, _ name: KeyName, _ topic: Topic) {
        (self.keyring, self.name, self.topic) = (keyring, name, topic)
    }

    /// Copies the device's keys and the newest sender set, unless nothing has changed since the last time.
    func copy(to phone: SimulatedDevice) throws(CommandFailure) {
        let state: State
        let keys: [DeviceKey]
        let enrollment: (key: EnrollmentPrivateKey, record: DeviceRecord)?
        do throws(KeyringError) {
            let entry = try keyring.entry(named: name)
            state = State(entry: entry, senderSet: try keyring.trustList().senderSet(for: topic))
            guard copied.withLock({ $0 }) != state else { return }
            keys = try keyring.deviceKeys(named: name)
            enrollment = try keyring.enrollment(named: name)
        } catch { throw CommandFailure(opening: error) }
        let gone = state.entry.keys.filter { !$0.life.opens }.compactMap { key in
            if case .device(let recipient) = key.key { recipient } else { nil as DevicePublicKey? }
        }
        let created = state.entry.keys.map(\.life.created).min() ?? state.entry.created
        do {
            try PushDelivery.prepareContainer(phone.container, keyCreated: created.secondsSince1970)
            try phone.adopt(keys, destroying: gone, enrollment: enrollment)
            if let set = state.senderSet { try phone.take(set) }
        } catch {
            throw .file("the phone's folder can't be written; specify one with --state: \(error.localizedDescription)")
        }
        copied.withLock { $0 = state }
    }

    /// Puts the new key into use, both in the keyring and on the phone.
    func confirm(on phone: SimulatedDevice) throws(CommandFailure) {
        do throws(KeyringError) { try keyring.confirm(name) } catch {
            // If another process has already confirmed it, there is nothing to do.
            guard error == .nothingToConfirm(name) else { throw CommandFailure(error) }
        }
        try copy(to: phone)
    }
}
