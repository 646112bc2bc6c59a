internal import Foundation
package import PushKeyring
internal import SealedPush

/// The reason a program ends: a one-line message for standard error, and an exit status from sysexits(3).
package struct CommandFailure: Error {
    package let status: Int32
    package let message: String

    package init(status: Int32, message: String) {
        self.status = status
        self.message = message
    }

    /// Returns this failure with text added before and after its message.
    package func saying(before prefix: String = "", after suffix: String = "") -> CommandFailure {
        CommandFailure(status: status, message: prefix + message + suffix)
    }

    package static func usage(_ message: String) -> CommandFailure { CommandFailure(status: 64, message: message) }
    package static func input(_ message: String) -> CommandFailure { CommandFailure(status: 65, message: message) }
    package static func file(_ message: String) -> CommandFailure { CommandFailure(status: 74, message: message) }

    package init(_ error: KeyringError) { self.init(status: error.exitStatus, message: error.shown) }
}

extension KeyringError {
    package var exitStatus: Int32 {
        switch self {
        case .exists, .notFound, .wrongKind, .notRotatable, .ownDevice, .noSecret, .notUsable, .unconfirmed,
            .nothingToConfirm, .unverified, .enrolled, .unsupported, .record, .challenge, .damaged, .altered, .backup:
            65
        case .file, .outOfMemory: 74
        case .busy: 75
        case .wrongSecret, .needsSecret, .notSealed, .sealChanged, .exposed, .notPermitted: 77
        }
    }

    /// The error's description, followed by the command or option that helps.
    package var shown: String { description + hint }

    private var hint: String {
        switch self {
        case .notFound: "; `sealedpush keys list` shows the existing names"
        case .notUsable(let name, .revoked):
            "; `sealedpush keys rotate \(name)` replaces your own key; `keys erase \(name)` lets someone else's device enroll again"
        case .notUsable(let name, .erased): "; `sealedpush keys rotate \(name)` creates a new one"
        case .notUsable(let name, .retired): "; `sealedpush keys rotate \(name)` replaces your own key"
        case .notUsable(let name, .active): "; run `sealedpush keys rotate \(name) --confirm`"
        case .unconfirmed(let name): "; run `sealedpush keys rotate \(name) --confirm` once the other side has it"
        case .unverified: ", or use --unverified"
        case .enrolled(let name): "; `sealedpush keys erase \(name)` lets it enroll under another name"
        case .challenge(.unknownSender):
            "; if it is the app's own server, use --trust NAME, or run `sealedpush trust add NAME --topic TOPIC`"
        case .damaged, .altered: "; move the folder away and run `sealedpush keys restore BACKUP`"
        case .needsSecret(.passphrase): "; specify a file that contains it with --unlock"
        case .needsSecret(.key): "; specify a file with PUSH-KEYRING-KEY-1… with --unlock, or set SEALED_PUSH_KEY"
        case .notSealed: "; use `sealedpush keys passphrase` to seal a keyring"
        case .notPermitted: "; run the command as the user who owns the keyring, and give that user its files (`chown`)"
        case .exists, .wrongKind, .notRotatable, .ownDevice, .noSecret, .nothingToConfirm, .unsupported, .record,
            .challenge, .wrongSecret, .sealChanged, .exposed, .outOfMemory, .busy, .backup, .file:
            ""
        }
    }
}
