internal import ArgumentParser
internal import CommandSupport
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
        subcommands: [DeliverCommand.self, RunCommand.self, APNsCommand.self, HostCommand.self])

    static func main() {
        if let problem = Sodium.problem {
            report(problem)
            exit(withError: ExitCode(69))
        }
        // Before any message repeats it.
        guard !SecretArgument.isIn(CommandLine.arguments) else {
            exit(
                withError: ValidationError(
                    "A secret was typed as an argument, where other users can see it; keys must come from files."))
        }
        // The files it creates are accessible only to this user, because they show opened messages or grant access: pictures,
        // keys, and sockets.
        umask(0o077)
        main(nil)
    }

    func run() throws { throw ValidationError("Specify a subcommand: deliver, run, or apns.") }
}

/// The process of the simulator's own extension, started by `deliver`.
struct HostCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "host-extension", shouldDisplay: false)

    func run() { ExtensionHost.runStandard() }
}
