internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushSender
internal import SealedPush

/// `sealedpush inspect`
struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Show what anyone can see of a payload; needs no key.",
        discussion: "Example:\n  sealedpush inspect push.apns --json")

    @Argument(help: "A payload file, or a file with an envelope's text alone; - for standard input.") var file: String

    @Flag(help: "Print one JSON object.") var json = false

    func run() throws {
        try Failure.reporting {
            let bytes = try Input.read(file, limit: Input.maximumPayloadFileByteCount)
            let field = try Input.envelopeText(bytes, from: file)
            let envelope: Envelope
            do { envelope = try Envelope(parsing: field.text) } catch { throw Failure.input("malformed: \(error)") }
            let facts = facts(envelope, payloadByteCount: field.payloadByteCount)
            if json {
                return try Output.json(.object(Dictionary(uniqueKeysWithValues: facts.map { ($0.name, $0.value) })))
            }
            for fact in facts where fact.value != .null {
                try Output.line("\(fact.label):".padding(toLength: 22, withPad: " ", startingAt: 0) + fact.text)
            }
        }
    }

    private struct Fact {
        let name: String
        let label: String
        let value: JSONValue

        var text: String {
            switch value {
            case .string(let text): text
            case .integer(let number): String(number)
            case .null, .bool, .number, .array, .object: ""
            }
        }
    }

    private func facts(_ envelope: Envelope, payloadByteCount: Int?) -> [Fact] {
        let sender = envelope.senderKeyID.map { JSONValue.string($0.description) } ?? .null
        let number = envelope.sequenceNumber.map { JSONValue.integer(Int64($0)) } ?? .null
        func count(_ value: Int?) -> JSONValue { value.map { .integer(Int64($0)) } ?? .null }
        return [
            Fact(name: "suite", label: "suite", value: .string("\(envelope.suite.name)")),
            Fact(
                name: "recipientKeyID", label: "recipient key ID", value: .string(envelope.recipientKeyID.description)),
            Fact(name: "senderKeyID", label: "sender key ID", value: sender),
            Fact(name: "sequenceNumber", label: "sequence number", value: number),
            Fact(name: "envelopeBytes", label: "envelope, bytes", value: count(envelope.bytes.count)),
            Fact(name: "plaintextBytes", label: "plaintext, bytes", value: count(envelope.plaintextByteCount)),
            Fact(name: "paddingBucket", label: "padding bucket", value: bucket(envelope.plaintextByteCount)),
            Fact(name: "payloadBytes", label: "payload, bytes", value: count(payloadByteCount)),
            Fact(
                name: "bytesLeft", label: "bytes left",
                value: count(payloadByteCount.map { SizePlan.maximumPayloadByteCount - $0 })),
        ]
    }

    /// The bucket that this many bytes fill, where they fill one.
    private func bucket(_ plaintextByteCount: Int) -> JSONValue {
        PaddingPolicy.bucketByteCounts.contains(plaintextByteCount) ? .integer(Int64(plaintextByteCount)) : .null
    }
}
