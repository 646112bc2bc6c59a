internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushKeyring
internal import SealedPush

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check a keyring or this machine, or find out why a payload doesn't open.",
        usage: "sealedpush doctor [<options>] [<file>]",
        discussion: """
            Without a file: check for damage, edits, modes, ages, records, and the audit log. Status 1 if there is a problem.
              sealedpush doctor --keyring Keys --unlock server.key

            With a payload: show the device's steps up to the one that fails, but no content. Status 65 if it doesn't open.
              sealedpush doctor push.apns --device alice-phone --topic com.example.app \\
                --keyring Phone

            With --host: check this machine. Status 1 if there is a problem.
              sealedpush doctor --host --topic com.example.app --provider-key KEY
            """)

    @Argument(help: "A payload file, or a file with just an envelope's text; - for standard input.") var file: String?

    @Option(help: "The device: a name in the keyring that has a secret key.") var device: KeyName?

    @Option(help: "A sender to trust instead of the trust list: a name or pushsender1…; can be repeated.")
    var trust: [KeyReference] = []

    @Option(help: "The app's bundle ID, such as com.example.app.") var topic: Topic?

    @Flag(help: "The app opens anonymous messages too.") var allowAnonymous = false

    @Flag(help: "Print JSON.") var json = false

    @OptionGroup(title: "This machine") var machine: HostOptions
    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    func validate() throws {
        guard (file != nil) == (device != nil), (file != nil) == (topic != nil) || machine.host && file == nil,
            file != nil || trust.isEmpty, file == nil || !machine.isGiven
        else {
            throw ValidationError(
                "Use a payload file with --device and --topic, or omit all three to check the keyring or --host.")
        }
    }

    func run() throws {
        guard !machine.isGiven else {
            return try SealedPushCommand.wait { try await machine.check(topic: topic, json: json) }
        }
        let keys = try keyring.keys("doctor")
        guard let file, let device, let topic else { return try examine(keys) }
        let diagnosis = try keys.diagnose(
            InputFile.read(file, limit: PayloadInput.maximumByteCount), for: device, topic: topic,
            trusting: keyring.trusted(trust, in: keys), allowsAnonymous: allowAnonymous)
        let words = DiagnosisWords(diagnosis: diagnosis, folder: URL(filePath: keyring.keyring).relativePath)
        if json { try Output.json(diagnosis.json(words)) } else { try show(diagnosis, words) }
        if diagnosis.code != "opened" { throw ExitCode(65) }
    }

    private func examine(_ keys: Keyring) throws {
        let findings = try keys.examine()
        if json {
            try Output.json(.array(findings.map(\.json)))
        } else if findings.isEmpty {
            try Output.line("No problems found.")
        } else {
            for finding in findings {
                try Output.line("\(finding.severity.name): \(finding.sentence) (\(finding.code))")
                try Output.line("    \(finding.advice)")
            }
        }
        if findings.contains(where: { $0.severity == .problem }) { throw ExitCode(1) }
    }

    private func show(_ diagnosis: PayloadDiagnosis, _ words: DiagnosisWords) throws {
        for (_, outcome, words) in words.steps where outcome != .notReached {
            try Output.line("\(outcome == .passed ? "ok  " : "FAIL")  \(words)")
        }
        try Output.line("")
        try Output.line("\(diagnosis.code): \(words.advice)")
    }
}

extension PayloadDiagnosis {
    fileprivate func json(_ words: DiagnosisWords) -> JSONValue {
        [
            "code": .string(code), "advice": .string(words.advice), "message": message?.json ?? .null,
            "steps": .array(
                words.steps.map {
                    ["name": .string($0), "outcome": .string($1.rawValue), "words": .string($2)]
                }),
        ]
    }
}

extension PayloadDiagnosis.Message {
    fileprivate var json: JSONValue {
        [
            "id": .text(id), "topic": .text(topic), "sent": .text(sent?.iso8601), "expires": .text(expires?.iso8601),
            "recipient": .text(recipient.keyID), "sender": .text(sender?.keyID),
        ]
    }
}
