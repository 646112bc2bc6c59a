internal import ArgumentParser
internal import CommandSupport
internal import Dispatch
internal import PushCore

@main struct SealedPushCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sealedpush", abstract: "Keys and messages for end-to-end encrypted notifications.",
        discussion: """
            Example:
              sealedpush keys generate device alice-phone --keyring Keys
              sealedpush keys generate sender newsroom --keyring Keys
              echo '{"alert":{"title":"Nina","body":"Lunch at one?"}}' |
                sealedpush seal - --from newsroom --to alice-phone --topic com.example.app --keyring Keys

            Secrets are never given as arguments: they come from files, from SEALED_PUSH_KEY, or are asked for.

            Exit status: 0 done, 64 wrong use, 65 unusable input, 69 APNs, 74 files, 75 busy or waiting, 77 passphrase or key.
            """,
        version: "0.1.0",
        subcommands: [
            KeysCommand.self, TrustCommand.self, AttachCommand.self, SealCommand.self, OpenCommand.self,
            InspectCommand.self, DoctorCommand.self, DeviceCommand.self, SendCommand.self, WorkCommand.self,
            ServeCommand.self, OutboxCommand.self,
        ])

    static func main() {
        Secrecy.begin()
        if let problem = Sodium.problem {
            Failure.report(problem)
            Self.exit(withError: ExitCode(69))
        }
        Secrets.refuseInArguments(CommandLine.arguments)
        do {
            var command = try parseAsRoot()
            guard let waiting = command as? any AsyncParsableCommand else { return try command.run() }
            // Whoever waits for it touches it no more.
            nonisolated(unsafe) var task = waiting
            try wait { try await task.run() }
        } catch {
            guard let failure = Failure(error) else { exit(withError: error) }
            Failure.report(failure.message)
            exit(withError: ExitCode(failure.status))
        }
    }

    /// Only what waits for a network has tasks. All else stays on the main thread, one system call after another.
    static func wait(_ work: @escaping @Sendable () async throws -> Void) throws {
        let isDone = DispatchSemaphore(value: 0)
        let outcome = Locked<(any Error)?>(nil)
        Task {
            do { try await work() } catch { outcome.withLock { $0 = error } }
            isDone.signal()
        }
        isDone.wait()
        if let error = outcome.withLock({ $0 }) { throw error }
    }
}
