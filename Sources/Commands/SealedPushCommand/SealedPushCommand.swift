internal import ArgumentParser
internal import CommandSupport
internal import Dispatch
internal import PushCore

@main struct SealedPushCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sealedpush", abstract: "Manage keys and messages for end-to-end encrypted notifications.",
        discussion: """
            Example:
              sealedpush keys generate device alice-phone --keyring Keys
              sealedpush keys generate sender newsroom --keyring Keys
              echo '{"alert":{"title":"Nina","body":"Lunch at one?"}}' |
                sealedpush seal - --from newsroom --to alice-phone \\
                  --topic com.example.app --keyring Keys

            Secrets are never passed as arguments. They come from files, from SEALED_PUSH_KEY, or from a prompt.

            Exit status: 0 done, 64 usage, 65 input, 69 APNs, 74 files, 75 busy or waiting, 77 passphrase or key.
            """,
        version: Version.text,
        subcommands: [
            KeysCommand.self, TrustCommand.self, AttachCommand.self, SealCommand.self, OpenCommand.self,
            InspectCommand.self, DoctorCommand.self, DeviceCommand.self, SendCommand.self, WorkCommand.self,
            ServeCommand.self, OutboxCommand.self, SetupCommand.self, StartCommand.self,
        ])

    static func main() {
        ProcessSignals.begin(services: ["serve", "start", "work"])
        Secrecy.begin()
        do {
            try ProgramStart.begin()
            var command = try parseAsRoot()
            guard let waiting = command as? any AsyncParsableCommand else { return try command.run() }
            // Only the task uses it from here on.
            nonisolated(unsafe) var task = waiting
            try wait { try await task.run() }
        } catch {
            guard let failure = CommandFailure(error) else { end(parsing: error, of: CommandLine.arguments) }
            CommandFailure.report(failure.message, isError: true)
            exit(withError: ExitCode(failure.status))
        }
    }

    /// Runs asynchronous work to completion. Only commands that wait for a network use tasks; all others stay on the main
    /// thread, so that their system calls run in order.
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
