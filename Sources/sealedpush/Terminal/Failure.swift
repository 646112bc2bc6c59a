internal import ArgumentParser
internal import Foundation
internal import PushKeyring

/// What ends the program: one line on standard error, and an exit status of sysexits(3).
struct Failure: Error {
    let status: Int32
    let message: String

    static func usage(_ message: String) -> Failure { Failure(status: 64, message: message) }
    static func input(_ message: String) -> Failure { Failure(status: 65, message: message) }
    static func file(_ message: String) -> Failure { Failure(status: 74, message: message) }

    static func keyring(_ error: KeyringError) -> Failure {
        let status: Int32 =
            switch error {
            case .exists, .notFound, .wrongKind, .noSecret, .notUsable, .unconfirmed, .nothingToConfirm, .unverified,
                .record, .challenge, .damaged, .altered, .backup:
                65
            case .file, .outOfMemory: 74
            case .busy: 75
            case .wrongSecret, .needsSecret, .notSealed: 77
            }
        return Failure(status: status, message: error.description)
    }

    /// Runs a command's work and reports what stops it.
    static func reporting(_ work: () throws -> Void) throws {
        do {
            try work()
        } catch let failure as Failure {
            report(failure.message)
            throw ExitCode(failure.status)
        } catch let error as KeyringError {
            report(error.description)
            throw ExitCode(keyring(error).status)
        }
    }

    static func report(_ message: String) {
        try? FileHandle.standardError.write(contentsOf: Data("sealedpush: \(message)\n".utf8))
    }
}
