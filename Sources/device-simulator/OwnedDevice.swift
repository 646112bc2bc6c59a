internal import CommandSupport
internal import Foundation
internal import PushKeyring
internal import PushService
internal import PushSimulator
internal import SealedPush
internal import _PushBase

/// The phone that a command runs, and where its keys come from: a keyring that was unlocked, which puts them into the
/// phone's keychain, or the phone itself, whose app has made them.
struct OwnedDevice: Sendable {
    let name: KeyName
    let phone: SimulatedDevice
    private let keyring: Keyring
    private let topic: Topic
    private let trust: [TrustedArgument]
    /// Whether the keyring has keys of this name. Otherwise the phone's are its own.
    private let isInKeyring: Bool
    /// What the keyring had when the phone's keychain got it.
    private let brought = Locked<KeyringState?>(nil)

    private struct KeyringState: Equatable, Sendable {
        let entry: KeyringEntry
        let senderSet: SenderSet?
    }

    /// - Parameter container: the phone's folder, which is made where there is none.
    init(_ options: DeviceOptions, container: URL) throws(Failure) {
        name = options.device
        topic = options.topic
        trust = options.trust
        phone = SimulatedDevice(container: container)
        let hasOwnKeys = !((try? phone.rotation.active) ?? []).isEmpty
        guard hasOwnKeys || FileManager.default.fileExists(atPath: options.keyring) else {
            throw Failure(
                status: 74, message: "there is no keyring at \(options.keyring): name its folder with --keyring")
        }
        // Opens the keyring here: the extension's process has the phone's keychain, and knows of no keyring.
        let key: KeyringKey? =
            if let file = options.keyFile { try SecretFile.keyringKey(file) } else {
                try SecretFile.keyringKeyFromEnvironment()
            }
        keyring = Keyring(
            folder: URL(filePath: options.keyring), unlocking: key.map { .given(.key($0)) }, expecting: .ofUser(),
            command: "device-simulator deliver")
        do throws(KeyringError) {
            guard try keyring.sealKind() != .passphrase else { throw KeyringError.needsSecret(.passphrase) }
            // Unlocks the keyring, and finds a device whose keys are not here.
            _ = try keyring.deviceKeys(named: name)
            isInKeyring = true
        } catch {
            guard hasOwnKeys, error == .notFound(name) else { throw Failure(opening: error) }
            isInKeyring = false
        }
        try makeContainer()
        try bringKeys()
    }

    private func makeContainer() throws(Failure) {
        guard isInKeyring else { return }
        let created: Timestamp
        do throws(KeyringError) {
            let entry = try keyring.entry(named: name)
            created = entry.keys.map(\.life.created).min() ?? entry.created
        } catch { throw Failure(opening: error) }
        do {
            try PushDelivery.prepareContainer(phone.container, keyCreated: created.secondsSince1970)
        } catch {
            throw Failure(status: 74, message: "\(phone.container.path(percentEncoded: false)) can't be made")
        }
    }

    /// Puts what the keyring has under this name, and the sender set that it has taken, into the phone's keychain, unless
    /// nothing has changed there since the last time.
    func bringKeys() throws(Failure) {
        guard isInKeyring else { return }
        let state: KeyringState
        let keys: [DeviceKey]
        let enrolment: (key: EnrolmentKey, record: DeviceRecord)?
        do throws(KeyringError) {
            state = KeyringState(
                entry: try keyring.entry(named: name), senderSet: try keyring.trustList().senderSet(for: topic))
            guard brought.withLock({ $0 }) != state else { return }
            keys = try keyring.deviceKeys(named: name)
            enrolment = try keyring.enrolment(named: name)
        } catch { throw Failure(opening: error) }
        let gone = state.entry.keys.filter { !$0.life.opens }.compactMap { recipient($0.key) }
        do throws(SecretItemError) {
            try phone.adopt(keys, destroying: gone, enrolment: enrolment)
        } catch { throw Failure(status: 74, message: "the phone's keychain can't be written: \(error)") }
        if let set = state.senderSet { try accept(set) }
        brought.withLock { $0 = state }
    }

    /// As its app did while the set was in force. Whether its authority is pinned, the extension decides.
    private func accept(_ set: SenderSet) throws(Failure) {
        do throws(DeviceError) {
            try app(pinning: [set.authority])?.accept(senderSet: set.description, at: min(.now(), set.expires))
        } catch {
            // The phone knows a newer one.
            if case .record = error { return }
            throw Failure(status: 74, message: "the phone's keychain can't be written: \(error)")
        }
    }

    private func app(pinning authorities: [Authority] = []) -> OwnDevice? {
        phone.app(
            StandardConfiguration(
                topic: topic.description, senders: [], authorities: authorities.map(\.description),
                safeDefault: "none is shown", allowsAnonymous: false))
    }

    /// Acts as the app: a key under which the extension has opened a message is in use from now on. Returns it; nil where
    /// none has come into use. Where that can't be noted, the message is shown all the same.
    func confirm() -> Recipient? {
        do {
            guard let waiting = try unconfirmed(), phone.hasOpened(under: waiting) else { return nil }
            _ = try app()?.maintain()
            if isInKeyring { try keyring.confirm(name) }
            return waiting
        } catch {
            // Another process was faster, which is as good.
            if error as? KeyringError != .nothingToConfirm(name) {
                report("the new key can't be confirmed: \((error as? KeyringError)?.shown ?? "\(error)")")
            }
            return nil
        }
    }

    /// A key that waits for its first message.
    private func unconfirmed() throws -> Recipient? {
        guard isInKeyring else { return try phone.rotation.unconfirmed?.key }
        let keys = try keyring.entry(named: name).keys
        return keys.first { $0.life.state == .active && $0.life.confirmed == nil }.flatMap { recipient($0.key) }
    }

    private func recipient(_ key: AnyPublicKey) -> Recipient? {
        guard case .device(let recipient) = key else { return nil }
        return recipient
    }

    /// What the command names, or the keyring's list. Of a sender with two active keys, both.
    func trusted() throws(Failure) -> TrustedSenders {
        guard !trust.isEmpty else {
            do throws(KeyringError) { return try keyring.trustList().trustedSenders(for: topic) } catch {
                throw Failure(opening: error)
            }
        }
        var senders: [Sender] = []
        var authorities: [Authority] = []
        for argument in trust {
            switch argument {
            case .sender(let sender): senders.append(sender)
            case .authority(let authority): authorities.append(authority)
            case .name(let name):
                do throws(KeyringError) {
                    let entry = try keyring.entry(named: name)
                    guard case .authority(let authority) = entry.key else {
                        let active = try keyring.activeSenders(named: name)
                        senders += active.isEmpty ? [try keyring.sender(named: name)] : active
                        continue
                    }
                    authorities.append(authority)
                } catch {
                    throw Failure(opening: error)
                }
            }
        }
        return TrustedSenders(senders, authorities: authorities)
    }
}
