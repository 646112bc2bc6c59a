internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushHTTP
internal import PushKeyring
internal import PushOutbox
internal import PushSender
internal import SealedPush

extension CommandFailure {
    /// Creates the failure that ends the program after a library's error, or nil for any other error, such as the argument
    /// parser's.
    init?(_ error: any Error) {
        switch error {
        case let error as CommandFailure: self = error
        case let error as KeyringError: self.init(error)
        case let error as OutboxError: self.init(error)
        case let error as CourierError: self.init(error)
        case let error as ServingError: self.init(serving: error)
        case let error as SealError: self = .input(error.description + Self.hint(error))
        case is RecordError, is KeyTextError: self = .input("\(error)")
        default: return nil
        }
    }

    init(_ error: OutboxError) {
        let status: Int32 =
            switch error.kind {
            case .request, .damage: 65
            case .storage: 74
            case .busy: 75
            case .access: 77
            }
        let hint =
            switch error {
            case .unknownDevice, .unknownUser: "; `sealedpush device list` shows the registered devices and users"
            case .otherUser:
                "; if another person is logged in on that device now, specify the previous user with --moving-from (see `sealedpush device list`)"
            case .otherEnrollment(let name):
                "; if its app made a new one, confirm that with the user, then run `sealedpush device remove \(name)` and enroll it again"
            case .enrolledElsewhere:
                "; if the device changed hands, find it in `sealedpush device list` and remove it, or specify the previous user with --moving-from"
            case .seal(let error): Self.hint(error)
            case .keyUsedForOthers: "; use a different --id for this message"
            case .otherSchema:
                "; list its devices with that version's `device list --full --json`, and register them in a new outbox with `device enroll --list -`"
            case .keyText: "; `sealedpush device enroll --outbox-key FILE` creates one for a new outbox"
            case .keyNeeded: "; specify its file with --outbox-key"
            case .otherKey:
                "; find out who changed it before you trust its rows; an outbox can get a key only while it is empty"
            case .forged, .damagedDevice: "; run `sealedpush device remove` and let the device enroll again"
            case .diskFull: "; free some space first"
            default: ""
            }
        self.init(status: status, message: error.description + hint)
    }

    init(_ error: CourierError) {
        switch error {
        case .outbox(let error): self.init(error)
        case .senderRefused: self.init(status: 77, message: error.description)
        case .allRefused:
            self.init(status: 77, message: "\(error.description); `sealedpush outbox retry` enables those tokens again")
        case .wrongClock:
            self.init(
                status: 69, message: "this machine's clock is wrong; APNs rejects a fresh provider token as expired")
        case .transportShutDown: self.init(status: 69, message: error.description)
        }
    }

    init(serving error: ServingError, at option: String = "--listen") {
        switch error {
        case .needsTLS: self = .usage("\(error); use --tls CHAIN,KEY")
        case .needsTokens: self = .usage("\(error); specify a file with --token-file")
        case .badCertificate: self = .input("--tls: \(error)")
        case .notBound: self = .file("\(option): \(error)")
        }
    }

    private static func hint(_ error: SealError) -> String {
        switch error {
        case .tooLarge: "; use --fit truncate to cut the body, or `sealedpush seal --overflow` to move it into a file"
        case .notHybrid: "; hybrid keys start with pushpq., and an app creates them if its keyPolicy is .hybrid"
        case .expiresTooLate: "; use an earlier \"expires\", or leave it out; \"sent\" must not be older than that"
        case .content, .otherTopic, .anonymousWithdrawal, .anonymousToHybrid: ""
        }
    }

    /// Returns an error's message, including the command or option that helps.
    static func words(of error: any Error) -> String { CommandFailure(error)?.message ?? "\(error)" }

    /// Prints a message to standard error; the program's name is red for an error on a color terminal.
    static func report(_ message: String, isError: Bool = false) {
        let name = isError && TerminalText.hasColor(STDERR_FILENO) ? "\u{1b}[1;31msealedpush:\u{1b}[0m" : "sealedpush:"
        try? FileHandle.standardError.write(contentsOf: Data("\(name) \(TerminalText.printable(message))\n".utf8))
    }
}
