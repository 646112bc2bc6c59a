internal import ArgumentParser
internal import PushKeyring
internal import SealedPush

/// `sealedpush keys doctor`
struct KeysDoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Examines a keyring: damage, edits, modes, ages, records, the audit log; changes nothing.",
        discussion: """
            Ends with status 1 where there is a problem, so that cron tells of it.

            Example:
              sealedpush keys doctor --keyring Keys --key-file server.key
            """)

    @Flag(help: "Print one JSON array.")
    var json = false

    @OptionGroup var keyring: KeyringOptions

    func run() throws {
        try Failure.reporting {
            let keys = try keyring.keys("keys doctor", isExposedAllowed: true)
            let exposed = [keyring.passphraseFile, keyring.keyFile].compactMap { $0 }.filter(Input.isExposed)
            let findings = try exposed.map(Finding.exposedSecretFile) + keys.examine()
            if json {
                try Output.json(.array(findings.map(\.json)))
            } else if findings.isEmpty {
                try Output.line("All is well.")
            } else {
                for finding in findings {
                    try Output.line("\(finding.severity.rawValue): \(finding.sentence) (\(finding.code.rawValue))")
                    try Output.line("    \(finding.advice)")
                }
            }
            if findings.contains(where: { $0.severity == .problem }) { throw ExitCode(1) }
        }
    }
}

extension Finding {
    fileprivate var json: JSONValue {
        [
            "code": .string(code.rawValue), "severity": .string(severity.rawValue),
            "subject": .string(subject.description), "sentence": .string(sentence), "advice": .string(advice),
        ]
    }
}
