internal import ArgumentParser
internal import CommandSupport
internal import Foundation

struct SetupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup", abstract: "Create the keys and settings of the services, once.",
        usage: "sealedpush setup [<options>]",
        discussion: """
            As root, sets up the package's services: the keyring gets the user sealed-push-serve, and its key file stays \
            root's. With --in, any user sets up one folder for `sealedpush start`. Asks for the bundle ID at a terminal.

            Replaces nothing: a second run adds what is missing. It refuses if a key was lost, since phones trust only the \
            earlier one.

            Examples:
              sudo sealedpush setup --topic com.example.app
              sealedpush setup --in Push --topic com.example.app --json

            Exit status: 0 done, 64 usage, 65 other settings, 74 files, 77 a lost key, or another owner.
            """)

    @Option(name: .customLong("in"), help: .value("folder", "Set up this folder instead of /etc/sealed-push."))
    var folder: String?

    @OptionGroup var options: SetupOptions

    @Option(help: .value("key", "KEYID,TEAMID,FILE.p8: also install Apple's key.")) var providerKey: ProviderKeyName?

    @Flag(help: "Print one JSON object, and no QR code.") var json = false

    func validate() throws { try SetupLayout.validate(folder) }

    func run() throws {
        let layout = try folder.map(SetupLayout.folder) ?? .package()
        let report = try options.run(layout, providerKey: providerKey)
        guard !json else { return try Output.json(report.json) }
        try report.print()
        try Output.line("")
        try Output.line("Next:")
        for (number, step) in zip(1..., steps(after: report)) { try Output.line("\(number). \(step)") }
    }

    private func steps(after report: Setup.Report) -> [String] {
        let layout = report.layout
        let account = layout.isPackage ? "" : " --in \(layout.folder)"
        let apple = "Install Apple's key: sealedpush setup\(account) --provider-key KEYID,TEAMID,FILE.p8"
        let start =
            layout.isPackage
            ? "Start: systemctl enable --now sealed-push-serve sealed-push-work"
            : "Start: sealedpush start --in \(layout.folder)"
        return (report.hasAppleKey ? [] : [apple]) + [
            start,
            "Back up the keyring (`sealedpush keys backup`), and apart from it \(layout.keyFile).",
        ]
    }
}
