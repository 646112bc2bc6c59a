internal import CommandSupport
internal import PushCore
internal import SealedPush

/// Payload files named on the command line.
enum Input {
    /// Returns the envelope from a payload, or from a file that contains only an envelope's text.
    static func envelope(
        _ bytes: [UInt8], from file: String
    ) throws -> (envelope: Envelope, payload: (members: [String: JSONValue], byteCount: Int)?) {
        let trimmed = bytes.trimmingSpace
        var text = String(decoding: trimmed, as: UTF8.self)
        var members: [String: JSONValue]?
        if trimmed.first == UInt8(ascii: "{") || bytes.hasByteOrderMark {
            do throws(JSONFault) {
                members = try JSONReader.members(bytes, maximumDepth: JSONReader.maximumPayloadDepth).dictionary
            } catch { throw CommandFailure.input("malformed: \(file) is not one JSON object: \(error)") }
            guard let field = members?[Envelope.fieldName]?.string
            else { throw CommandFailure.input("malformed: \(file) has no text under \"\(Envelope.fieldName)\"") }
            text = field
        }
        do throws(EnvelopeError) { return (try Envelope(parsing: text), members.map { ($0, trimmed.count) }) } catch {
            throw CommandFailure.input("\(OpenError(error)): \(error)")
        }
    }

    /// The maximum size of a payload file.
    static let maximumPayloadFileByteCount = 65_536
}
