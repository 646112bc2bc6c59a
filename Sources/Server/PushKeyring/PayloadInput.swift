internal import PushCore
package import SealedPush

/// The input of a command that examines a push: a payload's JSON, or its field's text alone.
package struct PayloadInput {
    /// The text that should be an envelope.
    package let field: String
    /// The payload's members. Nil if the input is the field's text alone.
    package let members: [String: JSONValue]?

    /// The maximum size of the input.
    package static let maximumByteCount = 65_536

    /// - Parameter bytes: The input from a person, possibly with white space around it.
    package init(parsing bytes: [UInt8]) throws(PayloadDiagnosis.FieldError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong(maximumByteCount: Self.maximumByteCount) }
        if let text = String(strictUTF8: bytes.trimmingSpace),
            !["{", "[", "\"", "\u{feff}"].contains(text.unicodeScalars.first)
        {
            (field, members) = (text, nil)
            return
        }
        // Parses every value, not only this field, because the system that delivers a push rejects it as a whole.
        let payload: [String: JSONValue]
        do throws(JSONFault) {
            payload = try JSONReader.members(bytes, maximumDepth: JSONReader.maximumPayloadDepth).dictionary
        } catch { throw .notJSON(error) }
        guard case .string(let text)? = payload[Envelope.fieldName] else { throw .noField(Envelope.fieldName) }
        (field, members) = (text, payload)
    }
}
