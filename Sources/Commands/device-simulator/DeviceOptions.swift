internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushKeyring
internal import SealedPush

/// The options that select a device, its trusted senders, its keys, and its state.
struct DeviceOptions: ParsableArguments {
    @Option(help: .value("name", "The device: its name in the keyring, or any name if it has its own keys."))
    var device: KeyName

    @Option(help: .value("id", "The app's bundle ID, such as com.example.app.")) var topic: Topic

    @Option(help: .value("name or key", "A sender or authority to trust instead of the list."))
    var trust: [TrustedArgument] = []

    @Option(help: .value("folder", "The keyring's folder.")) var keyring = "Keys"

    @Option(help: .value("file", "The keyring's key file, or SEALED_PUSH_KEY.")) var unlock: String?

    @Option(help: .value("folder", "The phone's folder. Without it, deliver discards the phone."))
    var state: String?

    func validate() throws {
        for (name, value) in [("--keyring", keyring), ("--unlock", unlock), ("--state", state)] where value == "" {
            throw ValidationError("\(name) is empty.")
        }
    }

    /// Returns the phone's folder. Without --state, returns a new temporary folder on each call.
    func container() -> URL {
        state.map { URL(filePath: $0) } ?? .temporaryDirectory.appending(path: UUID().uuidString)
    }

    /// Returns the keyring, ready to be unlocked. It doesn't need to exist.
    func openKeyring() throws(CommandFailure) -> Keyring {
        let key: KeyringKey? =
            if let unlock { try SecretFile(unlock, from: "--unlock").keyringKey() } else {
                try SecretFile.keyringKeyFromEnvironment()
            }
        let keyring = Keyring(
            folder: URL(filePath: keyring), unlocking: key.map { .given(.key($0)) }, expecting: .ofUser(),
            command: "device-simulator")
        do throws(KeyringError) {
            guard try keyring.sealKind() != .passphrase else { throw KeyringError.needsSecret(.passphrase) }
        } catch { throw CommandFailure(opening: error) }
        return keyring
    }

    /// Returns the senders and authorities given with --trust, or those in the keyring's list. A name stands for all its active
    /// keys.
    func trusted(in keyring: Keyring) throws(KeyringError) -> TrustedSenders {
        guard !trust.isEmpty else { return try keyring.trustList().trustedSenders(for: topic) }
        var senders: [SenderPublicKey] = []
        var authorities: [AuthorityPublicKey] = []
        for argument in trust {
            switch argument {
            case .sender(let sender): senders.append(sender)
            case .authority(let authority): authorities.append(authority)
            case .name(let name):
                if case .authority(let authority) = try keyring.entry(named: name).key {
                    authorities.append(authority)
                    continue
                }
                let active = try keyring.activeSenders(named: name)
                senders += active.isEmpty ? [try keyring.sender(named: name)] : active
            }
        }
        return TrustedSenders(senders, authorities: authorities)
    }
}

/// A sender or authority to trust, given as a key's text or a name in the keyring.
enum TrustedArgument: ExpressibleByArgument {
    case sender(SenderPublicKey)
    case authority(AuthorityPublicKey)
    case name(KeyName)

    init?(argument: String) {
        if let sender = try? SenderPublicKey(parsing: argument) {
            self = .sender(sender)
        } else if let authority = try? AuthorityPublicKey(parsing: argument) {
            self = .authority(authority)
        } else if let name = KeyName(parsing: argument) {
            self = .name(name)
        } else {
            return nil
        }
    }
}
