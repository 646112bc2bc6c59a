internal import ArgumentParser
internal import CommandSupport
internal import PushKeyring
internal import SealedPush

/// `sealedpush keys fingerprint`
struct FingerprintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fingerprint",
        abstract: "Shows a public key in a form to compare by eye or aloud: digits and words.",
        discussion: """
            Both ends show the same. Compare all groups, or all words, on a way that an attacker can't write to.

            Examples:
              sealedpush keys fingerprint newsroom --keyring Keys
              sealedpush keys fingerprint pushsender1...

            Of a device that signs records, it is the enrolment key's: the one that stays.
            """)

    @Argument(help: "A name in the keyring, or a public key.")
    var key: String

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var keyring: KeyringOptions

    func run() throws {
        try Failure.reporting {
            let fingerprint = try fingerprint()
            if json {
                return try Output.json([
                    "digits": .string(fingerprint.description),
                    "words": .array(fingerprint.words.map { .string($0) }),
                ])
            }
            try Output.line(fingerprint.description)
            try Output.line(fingerprint.words.prefix(6).joined(separator: " "))
            try Output.line(fingerprint.words.dropFirst(6).joined(separator: " "))
        }
    }

    private func fingerprint() throws -> Fingerprint {
        if key.lowercased().hasPrefix("pushenrolment1") {
            do { return Fingerprint(of: try Enrolment(parsing: key)) } catch { throw Failure.input("\(error)") }
        }
        switch try KeyReference(reading: key) {
        case .text(let text): return try text.parsed(AnyPublicKey.init(parsing:)).fingerprint
        case .name(let name):
            let entry = try keyring.keys("keys fingerprint").authenticEntry(named: name)
            return entry.enrolment.map { Fingerprint(of: $0) } ?? entry.key.fingerprint
        }
    }
}
