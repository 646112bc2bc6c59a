internal import CommandSupport
internal import PushCore
internal import PushKeyring
internal import SealedPush

/// Payload files named on the command line.
enum Input {
    /// Returns the envelope from a payload, or from a file that contains only an envelope's text.
    static func envelope(
        _ bytes: [UInt8], from file: String
    ) throws -> (envelope: Envelope, payload: (members: [String: JSONValue], byteCount: Int)?) {
        let input: PayloadInput
        do throws(PayloadDiagnosis.FieldError) { input = try PayloadInput(parsing: bytes) } catch {
            throw CommandFailure.input("malformed: \(file) \(words(error))")
        }
        do throws(EnvelopeError) {
            return (try Envelope(parsing: input.field), input.members.map { ($0, bytes.trimmingSpace.count) })
        } catch { throw CommandFailure.input("\(OpenError(error)): \(error)") }
    }

    private static func words(_ error: PayloadDiagnosis.FieldError) -> String {
        switch error {
        case .tooLong(let limit): "is larger than \(limit) bytes"
        case .notJSON(let fault): "is not one JSON object: \(fault)"
        case .noField(let name): "has no text under \"\(name)\""
        }
    }
}
