internal import Foundation
internal import PushKeyring
internal import PushSimulator
internal import SealedPush

/// A device in a keyring that was unlocked, with its secret keys.
struct OwnedDevice {
    let keyring: Keyring
    let name: KeyName
    /// When its first key was made.
    let created: Timestamp
    private let topic: Topic
    private let trust: [String]

    init(_ options: DeviceOptions) throws(Failure) {
        guard let name = KeyName(parsing: options.device), let topic = Topic(parsing: options.topic) else {
            throw Failure(status: 64, message: "--device and --topic are needed")
        }
        self.name = name
        self.topic = topic
        trust = options.trust
        let folder = URL(filePath: options.keyring)
        guard FileManager.default.fileExists(atPath: options.keyring) else {
            throw Failure(
                status: 74, message: "there is no keyring at \(options.keyring): name its folder with --keyring")
        }
        let unlocking: KeyringUnlocking?
        do throws(KeyringKeyError) {
            unlocking = try KeyringKeySource(keyFile: options.keyFileURL).unlocking()
        } catch {
            throw Failure(error)
        }
        keyring = Keyring(
            folder: folder, unlocking: unlocking, expecting: .ofUser(), command: "device-simulator deliver")
        do throws(KeyringError) {
            guard try keyring.sealKind() != .passphrase else { throw KeyringError.needsSecret(.passphrase) }
            // Unlocks the keyring, and finds a device whose keys are not here.
            _ = try keyring.deviceKeys(named: name)
            let entry = try keyring.entry(named: name)
            created = entry.keys.map(\.life.created).min() ?? entry.created
        } catch {
            throw Failure(error)
        }
    }

    /// A key that waits for its first message.
    func unconfirmed() throws(KeyringError) -> Recipient? {
        for key in try keyring.entry(named: name).keys where key.life.state == .active && key.life.confirmed == nil {
            if case .device(let recipient) = key.key { return recipient }
        }
        return nil
    }

    /// What the command names, or the keyring's list. Of a sender with two active keys, both.
    func trusted() throws(Failure) -> TrustedSenders {
        guard !trust.isEmpty else {
            do throws(KeyringError) { return try keyring.trustList().trustedSenders(for: topic) } catch {
                throw Failure(error)
            }
        }
        var senders: [Sender] = []
        var authorities: [Authority] = []
        for text in trust {
            switch try publicKeys(text) {
            case .senders(let found): senders += found
            case .authority(let found): authorities.append(found)
            }
        }
        return TrustedSenders(senders, authorities: authorities)
    }

    private enum Trusted {
        case senders([Sender])
        case authority(Authority)
    }

    private func publicKeys(_ text: String) throws(Failure) -> Trusted {
        if let sender = try? Sender(parsing: text) { return .senders([sender]) }
        if let authority = try? Authority(parsing: text) { return .authority(authority) }
        guard let name = KeyName(parsing: text) else {
            throw Failure(status: 64, message: "--trust takes a name in the keyring, pushsender1… or pushauthority1…")
        }
        do throws(KeyringError) {
            let entry = try keyring.entry(named: name)
            if case .authority(let authority) = entry.key { return .authority(authority) }
            let active = try keyring.activeSenders(named: name)
            return .senders(active.isEmpty ? [try keyring.sender(named: name)] : active)
        } catch {
            throw Failure(error)
        }
    }
}
