internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushKeyring
internal import SealedPush

/// Which device, whom it believes, and where its keys and its state are.
struct DeviceOptions: ParsableArguments {
    @Option(
        help: """
            The device: a name in the keyring, whose secret keys the phone gets; or any name, where --state is a phone whose \
            app has made its keys.
            """)
    var device: KeyName

    @Option(
        help: """
            Whom the device believes: a sender's or an authority's name in the keyring, pushsender1… or pushauthority1…; \
            may be given several times. Without it, the keyring's trust list. An app's own --extension has a list of its \
            own.
            """)
    var trust: [TrustedArgument] = []

    @Option(help: "The app's bundle ID, such as com.example.app.")
    var topic: Topic

    @Option(help: "The keyring's folder.")
    var keyring = "Keys"

    @Option(help: "The file with the key of a sealed keyring; otherwise SEALED_PUSH_KEY in the environment.")
    var keyFile: String?

    @Option(help: "The device's folder. A new one is a new device; without it the device is thrown away afterwards.")
    var state: String?

    func validate() throws {
        guard !keyring.isEmpty else { throw ValidationError("--keyring is empty: name the keyring's folder.") }
        guard keyFile != "" else { throw ValidationError("--key-file is empty: name the key's file.") }
        guard state != "" else { throw ValidationError("--state is empty: name the device's folder.") }
    }

    /// A new one at each call where the device is to be thrown away.
    var container: URL { state.map { URL(filePath: $0) } ?? .temporaryDirectory.appending(path: UUID().uuidString) }
}

/// Whom a device believes: a key's text, or a name in the keyring.
enum TrustedArgument: ExpressibleByArgument {
    case sender(Sender)
    case authority(Authority)
    case name(KeyName)

    init?(argument: String) {
        if let sender = try? Sender(parsing: argument) {
            self = .sender(sender)
        } else if let authority = try? Authority(parsing: argument) {
            self = .authority(authority)
        } else if let name = KeyName(parsing: argument) {
            self = .name(name)
        } else {
            return nil
        }
    }
}
