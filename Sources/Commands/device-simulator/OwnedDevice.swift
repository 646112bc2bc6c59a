internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushKeyring
internal import PushService
internal import PushSimulator
internal import SealedPush

/// The phone that a command runs. It owns its keys: its app has made them, or they are copied from a keyring that knows
/// the phone's name. The extension's process knows nothing of keyrings.
struct OwnedDevice: Sendable {
    let phone: SimulatedDevice
    let trusted: TrustedSenders
    private let name: KeyName
    private let topic: Topic
    /// Nil if the phone has made its keys itself.
    private let keyring: Keyring?
    /// What the keyring had when the phone got it.
    private let copied = Locked<Source?>(nil)

    private struct Source: Equatable, Sendable {
        let entry: KeyringEntry
        let senderSet: SenderSet?
    }

    /// - Parameter container: the phone's folder, which is made if it is missing.
    init(_ options: DeviceOptions, container: URL) throws(Failure) {
        phone = SimulatedDevice(container: container)
        (name, topic) = (options.device, options.topic)
        let hasOwnKeys = !((try? phone.rotation.active) ?? []).isEmpty
        guard hasOwnKeys || FileManager.default.fileExists(atPath: options.keyring) else {
            throw .file("there is no keyring at \(options.keyring): name its folder with --keyring")
        }
        let keyring = try options.openKeyring()
        do throws(KeyringError) {
            trusted = try options.trusted(in: keyring)
            self.keyring = try keyring.has(name) || !hasOwnKeys ? keyring : nil
        } catch { throw Failure(opening: error) }
        try copyKeys()
    }

    /// While a device stays on, its keys may change in the keyring. If they can't be read, the phone keeps its own.
    func bringNewKeys() {
        do throws(Failure) { try copyKeys() } catch { report("new keys can't be brought: \(error.message)") }
    }

    /// Copies the device's keys and the newest sender set, unless nothing has changed since the last time.
    private func copyKeys() throws(Failure) {
        guard let keyring else { return }
        let source: Source
        let keys: [DeviceKey]
        let enrollment: (key: EnrollmentPrivateKey, record: DeviceRecord)?
        do throws(KeyringError) {
            let entry = try keyring.entry(named: name)
            source = Source(entry: entry, senderSet: try keyring.trustList().senderSet(for: topic))
            guard copied.withLock({ $0 }) != source else { return }
            keys = try keyring.deviceKeys(named: name)
            enrollment = try keyring.enrollment(named: name)
        } catch { throw Failure(opening: error) }
        let gone = source.entry.keys.filter { !$0.life.opens }.compactMap { key in
            if case .device(let recipient) = key.key { recipient } else { nil as DevicePublicKey? }
        }
        let created = source.entry.keys.map(\.life.created).min() ?? source.entry.created
        do {
            try PushDelivery.prepareContainer(phone.container, keyCreated: created.secondsSince1970)
            try phone.adopt(keys, destroying: gone, enrollment: enrollment)
            if let set = source.senderSet { try phone.take(set) }
        } catch { throw .file("the phone's folder can't be written: \(error)") }
        copied.withLock { $0 = source }
    }

    /// Acts as the app: a key under which the extension has opened a message is in use from now on, here and in the
    /// keyring. Returns that key, or nil if none has come into use, or if that can't be recorded.
    func confirm() -> DevicePublicKey? {
        do {
            guard let waiting = try phone.rotation.unconfirmed?.key, phone.hasOpened(under: waiting) else { return nil }
            if let keyring { try confirm(in: keyring) } else { _ = try phone.app(for: topic)?.maintain() }
            return waiting
        } catch {
            report("the new key can't be confirmed: \((error as? Failure)?.message ?? "\(error)")")
            return nil
        }
    }

    private func confirm(in keyring: Keyring) throws(Failure) {
        do throws(KeyringError) { try keyring.confirm(name) } catch {
            // Another process was faster, which is as good.
            guard error == .nothingToConfirm(name) else { throw Failure(error) }
        }
        try copyKeys()
    }
}

extension Keyring {
    /// Whether a device's secret keys are in the keyring, which this unlocks.
    fileprivate func has(_ name: KeyName) throws(KeyringError) -> Bool {
        do throws(KeyringError) {
            _ = try deviceKeys(named: name)
            return true
        } catch {
            guard error == .notFound(name) else { throw error }
            return false
        }
    }
}
