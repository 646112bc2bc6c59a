internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushKeyring
internal import PushSender

struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Show what anyone can see in a payload; no key needed.",
        discussion: "Example:\n  sealedpush inspect push.apns --keyring Keys")

    @Argument(help: "A payload file, or a file with just an envelope's text; - for standard input.") var file: String

    @Option(help: .value("folder", "A keyring to look up the payload's hints in.")) var keyring: String?

    @Flag(help: "Print one JSON object.") var json = false

    func run() throws {
        let bytes = try InputFile.read(file, limit: PayloadInput.maximumByteCount)
        let (envelope, payload) = try Input.envelope(bytes, from: file)
        let matched = try keyring.map { folder in
            try KeyringOptions.mustBeThere(folder)
            return try Keyring(folder: URL(filePath: folder), command: "inspect").keys(matching: envelope)
        }
        let start = payload.flatMap { StartFault(payload: $0.members) }
        let (plaintext, buckets) = (envelope.plaintextByteCount, envelope.suite.bucketByteCounts)
        let facts: [(name: String, label: String, value: JSONValue)] = [
            ("suite", "suite", .text(envelope.suite.name)),
            ("recipientHint", "recipient hint", .text(envelope.recipientHint)),
            ("device", "its device", .text(matched?.device)),
            ("recipientKeyID", "its key ID", .text(matched?.recipient?.keyID)),
            ("senderHint", "sender hint", .text(envelope.senderHint)),
            ("sender", "its sender", .text(matched?.senderName)),
            ("senderKeyID", "its key ID", .text(matched?.sender?.keyID)),
            ("number", "number", .text(envelope.number.map(Hex.encode))),
            ("envelopeBytes", "envelope, bytes", .count(envelope.bytes.count)),
            ("plaintextBytes", "plaintext, bytes", .count(plaintext)),
            // The bucket that this many bytes fill exactly, if there is one.
            ("paddingBucket", "padding bucket", .count(buckets.contains(plaintext) ? plaintext : nil)),
            ("payloadBytes", "payload, bytes", .count(payload?.byteCount)),
            ("bytesLeft", "bytes left", .count(payload.map { SizePlan.maximumPayloadByteCount - $0.byteCount })),
            ("startFault", "on an iPhone", start.map { .string($0.description) } ?? .null),
        ]
        if json { return try Output.json(.object(Dictionary(uniqueKeysWithValues: facts.map { ($0.name, $0.value) }))) }
        for fact in facts {
            let label = TerminalWidth.padded("\(fact.label):", to: 22)
            switch fact.value {
            case .string(let text): try Output.line(label + text)
            case .integer(let number): try Output.line("\(label)\(number)")
            case .null, .bool, .number, .array, .object: continue
            }
        }
    }
}
