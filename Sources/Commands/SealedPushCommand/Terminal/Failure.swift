internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushHTTP
internal import PushKeyring
internal import PushOutbox
internal import PushSender
internal import SealedPush

extension Failure {
    /// What ends the program after an error of a library; nil for any other error, such as the argument parser's.
    init?(_ error: any Error) {
        switch error {
        case let error as Failure: self = error
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
            switch error {
            case .unknownDevice, .unknownUser, .otherUser, .otherEnrollment, .enrolledElsewhere, .tooManyDevices,
                .notEnrolled, .record, .challenge, .seal, .keyUsedForOthers, .damaged, .foreign, .otherSchema, .keyText,
                .otherKey, .forged:
                65
            case .cannotOpen, .readOnly, .diskFull, .database, .server, .connection: 74
            case .busy, .unreachable: 75
            case .exposed, .notPermitted, .keyNeeded: 77
            }
        let hint =
            switch error {
            case .unknownDevice, .unknownUser: "; `sealedpush device list` shows who is"
            case .otherUser:
                "; if another person is logged in on that device now, say who was before with --moving-from: `sealedpush device list` shows who"
            case .otherEnrollment(let name):
                "; if its app has made a new one, look that the person has asked for it, then `sealedpush device remove \(name)` and enroll it anew"
            case .enrolledElsewhere:
                "; if the device has changed hands, find it in `sealedpush device list` and remove it there, or say who was before with --moving-from"
            case .seal(let error): Self.hint(error)
            case .keyUsedForOthers: "; give this message an --id of its own"
            case .otherSchema:
                "; `device list --full --json` of that version lists its devices, and `device enroll --list -` registers them in a new one"
            case .keyText: "; `sealedpush device enroll --outbox-key FILE` makes one with a new outbox"
            case .keyNeeded: "; name its file with --outbox-key"
            case .otherKey:
                "; look for who has changed it before you trust its rows; a new outbox has a key from its first row"
            case .forged: "; `sealedpush device remove` it, and let it enroll again"
            case .diskFull: "; make room first"
            default: ""
            }
        self.init(status: status, message: error.description + hint)
    }

    init(_ error: CourierError) {
        switch error {
        case .outbox(let error): self.init(error)
        case .senderRefused: self.init(status: 77, message: error.description)
        case .allRefused:
            self.init(status: 77, message: "\(error.description) What was disabled comes back with `retry`")
        case .wrongClock:
            self.init(status: 69, message: "this machine's clock is wrong: APNs calls a fresh provider token expired")
        case .transportShutDown: self.init(status: 69, message: error.description)
        }
    }

    init(serving error: ServingError, at place: String = "--listen or --phones") {
        switch error {
        case .needsTLS: self = .usage("\(error): give --tls CHAIN,KEY")
        case .needsTokens: self = .usage("\(error): name a file with --token-file")
        case .badCertificate: self = .input("--tls: \(error)")
        case .notBound: self = .file("\(place): \(error)")
        }
    }

    private static func hint(_ error: SealError) -> String {
        switch error {
        case .tooLarge: "; --fit truncate cuts the body, `sealedpush seal --overflow` moves it into a file"
        case .notHybrid: "; hybrid keys begin with pushpq1: an app makes them if its keyPolicy is .hybrid"
        case .expiresTooLate: "; let it expire sooner, or leave \"expires\" out"
        case .content, .otherTopic, .anonymousWithdrawal, .anonymousToHybrid: ""
        }
    }

    /// What an error says, with what to type.
    static func words(of error: any Error) -> String { Failure(error)?.message ?? "\(error)" }

    static func report(_ message: String) {
        try? FileHandle.standardError.write(contentsOf: Data("sealedpush: \(TerminalText.printable(message))\n".utf8))
    }
}
