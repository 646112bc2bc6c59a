internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushKeyring
internal import SealedPush

/// The options that select a device, its trusted senders, its keys, and its state.
struct DeviceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The device: its name in the keyring, or any name if it has its own keys.", valueName: "name"))
    var device: KeyName

    @Option(help: ArgumentHelp("The app's bundle ID, such as com.example.app.", valueName: "id")) var topic: Topic

    @Option(help: ArgumentHelp("A sender or authority to trust instead of the list.", valueName: "name or key"))
    var trust: [TrustedArgument] = []

    @Option(help: ArgumentHelp("The keyring's folder.", valueName: "folder")) var keyring = "Keys"

    @Option(help: ArgumentHelp("The keyring's key file, or SEALED_PUSH_KEY.", valueName: "file")) var unlock: String?

    @Option(help: ArgumentHelp("The phone's folder; without it, the phone is discarded.", valueName: "folder"))
    var state: String?

    func validate() throws {
        for (name, value) in [("--keyring", keyring), ("--unlock", unlock), ("--state", state)] where value == "" {
            throw ValidationError("\(name) is empty.")
        }
    }

    /// The phone's folder. Without --state, a new temporary folder on each access.
    var container: URL { state.map { URL(filePath: $0) } ?? .temporaryDirectory.appending(path: UUID().uuidString) }

    /// Returns the keyring, ready to be unlocked. It doesn't need to exist.
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
