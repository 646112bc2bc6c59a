internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushKeyring
internal import SealedPush

struct StartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Serve from a folder that `setup` created, and set it up first if needed.",
        usage: "sealedpush start --in <folder> [<options>] [-- <options of serve>]",
        discussion: """
            Runs `sealedpush serve` with the folder's keys, with the options in its sealed-push.env, and with those after \
            --. This is what a container runs: the first start sets up its volume, and prints the sender's key.

            With --sender-key, a start that finds another sender, or none because a volume is missing, is refused.

            Example:
              sealedpush start --in Push --topic com.example.app -- --phones 127.0.0.1:8480

            Exit status: as for `setup` and `serve`.
            """)

    @Option(name: .customLong("in"), help: .value("folder", "The folder.")) var folder: String

    @OptionGroup var options: SetupOptions

    @Argument(parsing: .postTerminator, help: .hidden) var serveOptions: [String] = []

    func validate() throws { try SetupLayout.validate(folder) }

    func run() async throws {
        let layout = SetupLayout.folder(folder)
        let report = try options.run(layout)
        if report.items.contains(where: \.isNew) { try report.print() }
        guard let settings = try SettingsFile(at: layout.settings) else {
            throw CommandFailure.file("\(layout.settings) was removed; start again")
        }
        let serve = try ServeCommand.parse(try words(report, settings))
        try await serve.run()
    }

    /// The arguments of `serve`, as in the package's unit. A later one counts.
    private func words(_ report: Setup.Report, _ settings: SettingsFile) throws -> [String] {
        let layout = report.layout
        var words = [
            "--from", report.name.description, "--topic", report.topic.description, "--keyring", layout.keyring,
            "--unlock", layout.keyFile, "--outbox", settings[.outbox], "--listen", "\(layout.folder)/serve.sock",
        ]
        words += try settings.options(.serveOptions)
        if report.hasAppleKey, !settings[.appleKey].isEmpty, !isLocal {
            words += ["--provider-key", "\(settings[.appleKey]),\(layout.appleKey)"]
        }
        return words + serveOptions
    }

    /// Whether the pushes go to a local APNs, which doesn't know Apple's key.
    private var isLocal: Bool { serveOptions.contains { $0 == "--apns" || $0.hasPrefix("--apns=") } }
}
