internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushKeyring
internal import PushOutbox
internal import PushSender
internal import SealedPush

extension Failure {
    static func outbox(_ error: OutboxError) -> Failure {
        let status: Int32 =
            switch error {
            case .unknownDevice, .unknownUser, .otherUser, .otherEnrollment, .enrolledElsewhere, .tooManyDevices,
                .notEnrolled, .record,
                .challenge, .seal,
                .keyUsedForOthers, .damaged, .foreign, .otherSchema, .keyText, .otherKey, .forged:
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
            case .seal(.tooLarge): "; --fit truncate cuts the body, `sealedpush seal --overflow` moves it into a file"
            case .keyUsedForOthers: "; give this message an --id of its own"
            case .otherSchema:
                "; `device list --full --json` of that version lists its devices, and `device enroll --list -` registers them in a new one"
            case .keyText: "; `sealedpush outbox key FILE` makes one"
            case .keyNeeded: "; name its file with --outbox-key"
            case .otherKey:
                "; look for who has changed it before you trust its rows; a new outbox has a key from its first row"
            case .forged: "; `sealedpush device remove` it, and let it enroll again"
            default: ""
            }
        return Failure(status: status, message: error.description + hint)
    }

    static func courier(_ error: CourierError) -> Failure {
        switch error {
        case .outbox(let error): .outbox(error)
        case .senderRefused: Failure(status: 77, message: error.description)
        case .allRefused: Failure(status: 77, message: "\(error.description) What was disabled comes back with `retry`")
        case .wrongClock:
            Failure(status: 69, message: "this machine's clock is wrong: APNs calls a fresh provider token expired")
        case .transportShutDown: Failure(status: 69, message: error.description)
        }
    }

    /// Runs a command's work and reports what stops it.
    static func reporting(_ work: () throws -> Void) throws {
        do { try work() } catch { throw reported(error) }
    }

    /// The same for work that waits.
    static func reportingAsync(_ work: () async throws -> Void) async throws {
        do { try await work() } catch { throw reported(error) }
    }

    /// Says what has happened, and returns what ends the program with the right status.
    private static func reported(_ error: any Error) -> any Error {
        let failure: Failure
        switch error {
        case let error as Failure: failure = error
        case let error as KeyringError: failure = Failure(error)
        case let error as OutboxError: failure = outbox(error)
        case let error as CourierError: failure = courier(error)
        default: return error
        }
        report(failure.message)
        return ExitCode(failure.status)
    }

    /// What an error says, with what to type.
    static func words(of error: any Error) -> String { (error as? KeyringError)?.shown ?? "\(error)" }

    static func report(_ message: String) {
        try? FileHandle.standardError.write(contentsOf: Data("sealedpush: \(TerminalText.printable(message))\n".utf8))
    }
}
