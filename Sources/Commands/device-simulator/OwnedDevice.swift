internal import CommandSupport
internal import Foundation
internal import PushKeyring
internal import PushService
internal import PushSimulator
internal import SealedPush

/// The phone that a command runs. Its keys are either created by its app or copied from the keyring entry with the phone's
/// name.
struct OwnedDevice: Sendable {
    let phone: SimulatedDevice
    let trusted: TrustedSenders
    private let source: KeyringSource?
    private let topic: Topic

    /// - Parameters:
    ///   - container: the phone's folder, which is created if it's missing.
    ///   - makesKeys: whether its app creates keys if it has none.
    init(_ options: DeviceOptions, container: URL, makesKeys: Bool = false) throws(CommandFailure) {
        phone = SimulatedDevice(container: container)
        let hasOwnKeys = makesKeys || !((try? phone.rotation.active) ?? []).isEmpty
        let isThere = hasOwnKeys ? true : try InputFile.exists(options.keyring)
        guard isThere else {
            throw .file("there is no keyring at \(options.keyring); specify its folder with --keyring")
        }
        let keyring = try options.openKeyring()
        topic = options.topic
        do throws(KeyringError) {
            trusted = try options.trusted(in: keyring)
            let isInKeyring = try keyring.has(options.device)
            guard isInKeyring || hasOwnKeys else { throw KeyringError.notFound(options.device) }
            source = isInKeyring ? KeyringSource(keyring, options.device, topic) : nil
        } catch { throw CommandFailure(opening: error) }
        try source?.copy(to: phone)
    }

    /// Copies keys that changed in the keyring while the device stays on. If they can't be read, the phone keeps its own.
    func bringNewKeys() {
        do throws(CommandFailure) { try source?.copy(to: phone) } catch {
            report("new keys can't be copied: \(error.message)")
        }
    }

    /// Acts as the app: puts a new key into use once the extension has opened a message with it. Returns that key, or nil if
    /// there is none. If the change can't be recorded, the message is still shown.
    func confirm() -> DevicePublicKey? {
        do {
            guard let waiting = try phone.rotation.unconfirmed?.key, phone.hasOpened(under: waiting) else { return nil }
            if let source { try source.confirm(on: phone) } else { _ = try phone.app(for: topic)?.maintain() }
            return waiting
        } catch {
            report("the new key can't be confirmed: \((error as? CommandFailure)?.message ?? "\(error)")")
            return nil
        }
    }
}

extension Keyring {
    /// Returns whether the keyring has a device's secret keys. Unlocks the keyring.
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
