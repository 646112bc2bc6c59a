internal import ArgumentParser
internal import CommandSupport
internal import Glibc
internal import PushCore
internal import PushSimulator

@main struct DeviceSimulator: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device-simulator",
        abstract:
            "Run an app's notification service extension under iOS's rules, and a local APNs to deliver to it.",
        discussion: """
            Example:
              device-simulator deliver push.apns --device alice-phone --trust newsroom \\
                --topic com.example.app --keyring Keys
              device-simulator apns --folder APNs
              device-simulator run --device alice-phone --apns APNs \\
                --topic com.example.app --keyring Keys --trust newsroom --state Phone
            """,
        version: Version.text,
        subcommands: [DeliverCommand.self, RunCommand.self, APNsCommand.self, TrialCommand.self, HostCommand.self])

    static func main() {
        ProcessSignals.begin()
        // The files it creates are accessible only to this user, because they show opened messages or grant access: pictures,
        // keys, and sockets.
        umask(0o077)
        do {
            try ProgramStart.begin()
            var command = try parseAsRoot()
            try command.run()
        } catch let failure as CommandFailure {
            report(failure.message)
            exit(withError: ExitCode(failure.status))
        } catch { end(parsing: error, of: CommandLine.arguments) }
    }

    func run() throws { throw ValidationError("Specify a subcommand: deliver, run, apns, or trial.") }
}

/// The process of the simulator's own extension, started by `deliver`.
struct HostCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "host-extension", shouldDisplay: false)

    func run() { ExtensionHost.runStandard() }
}
