internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushKeyring
internal import SealedPush

/// Which device, whom it believes, and where its keys and its state are.
struct DeviceOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The device in the keyring, or any with keys of its own.", valueName: "name"))
    var device: KeyName

    @Option(help: ArgumentHelp("The app's bundle ID, such as com.example.app.", valueName: "id")) var topic: Topic

    @Option(help: ArgumentHelp("Trust this sender or authority, not the trust list.", valueName: "name or key"))
    var trust: [TrustedArgument] = []

    @Option(help: ArgumentHelp("The keyring's folder.", valueName: "folder")) var keyring = "Keys"

    @Option(help: ArgumentHelp("A file with its key; or SEALED_PUSH_KEY.", valueName: "file")) var unlock: String?

    @Option(help: ArgumentHelp("The phone's folder; without it, the phone is discarded.", valueName: "folder"))
    var state: String?

    func validate() throws {
        for (name, value) in [("--keyring", keyring), ("--unlock", unlock), ("--state", state)] where value == "" {
            throw ValidationError("\(name) is empty.")
        }
    }

    /// A new one at each call if the device is to be thrown away.
    var container: URL { state.map { URL(filePath: $0) } ?? .temporaryDirectory.appending(path: UUID().uuidString) }

    /// The keyring, unlocked; it need not exist.
    func openKeyring() throws(Failure) -> Keyring {
        let key: KeyringKey? =
            if let unlock { try SecretFile.keyringKey(unlock) } else { try SecretFile.keyringKeyFromEnvironment() }
        let keyring = Keyring(
            folder: URL(filePath: keyring), unlocking: key.map { .given(.key($0)) }, expecting: .ofUser(),
            command: "device-simulator")
        do throws(KeyringError) {
            guard try keyring.sealKind() != .passphrase else { throw KeyringError.needsSecret(.passphrase) }
        } catch { throw Failure(opening: error) }
        return keyring
    }

    /// The senders and authorities that --trust names, or those in the keyring's list. All active keys of a name count.
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

/// Whom a device believes: a key's text, or a name in the keyring.
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
