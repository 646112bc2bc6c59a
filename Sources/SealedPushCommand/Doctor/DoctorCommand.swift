internal import ArgumentParser
internal import PushKeyring
internal import SealedPush

/// `sealedpush doctor`
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Why does this payload not open? Goes through a device's steps and says which one fails.",
        discussion: """
            With the device's keys, the trust list and the clock at hand; prints no content. Ends with status 0 where it
            opens, 65 where it does not.

            Example:
              sealedpush doctor push.apns --device alice-phone --topic com.example.app --keyring Phone
            """)

    @Argument(help: "A payload file, or a file with an envelope's text alone; - for standard input.")
    var file: String

    @Option(help: "The device: a name in the keyring, with its secret key.")
    var device: String

    @Option(help: "A trusted sender: a name or pushsender1…, several times if need be; else the trust list counts.")
    var trust: [String] = []

    @Option(help: "The app's bundle ID.")
    var topic: String

    @Flag(help: "The app opens anonymous messages too.")
    var allowAnonymous = false

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var keyring: KeyringOptions

    func run() throws {
        try Failure.reporting {
            let keys = try keyring.keys("doctor")
            let trusted = trust.isEmpty ? nil : TrustedSenders(try trust.map { try keyring.sender($0, in: keys) })
            let diagnosis = try keys.diagnose(
                Input.read(file, limit: Input.maximumPayloadFileByteCount), for: keyring.name(device),
                topic: TopicText.read(topic), trusting: trusted, allowsAnonymous: allowAnonymous)
            if json { try Output.json(diagnosis.json) } else { try show(diagnosis) }
            if diagnosis.refusal != nil { throw ExitCode(65) }
        }
    }

    private func show(_ diagnosis: PayloadDiagnosis) throws {
        for step in diagnosis.steps where step.outcome != .notReached {
            try Output.line("\(step.outcome == .passed ? "ok  " : "FAIL")  \(step.words)")
        }
        try Output.line("")
        try Output.line("\(diagnosis.code): \(diagnosis.advice)")
    }
}

extension PayloadDiagnosis {
    fileprivate var json: JSONValue {
        [
            "code": .string(code), "advice": .string(advice), "message": message?.json ?? .null,
            "steps": .array(
                steps.map { step in
                    [
                        "name": .string(step.name.rawValue), "outcome": .string(step.outcome.rawValue),
                        "words": .string(step.words),
                    ]
                }),
        ]
    }
}

extension PayloadDiagnosis.Message {
    fileprivate var json: JSONValue {
        func text(_ value: (some CustomStringConvertible)?) -> JSONValue {
            value.map { .string($0.description) } ?? .null
        }
        return [
            "id": text(id), "topic": text(topic), "sent": text(sent?.iso8601), "expires": text(expires?.iso8601),
            "recipient": text(recipient.keyID), "sender": text(sender?.keyID),
        ]
    }
}
