import FuzzSupport
import SealedPush

/// An envelope's bytes and its text: parsed ones print as the same, and all others are rejected with the reason that
/// Specification 2.5 and 3.1 to 3.3 require.
func fuzzEnvelope(_ input: inout Input) {
    let bytes = input.bytes
    tryBytes(bytes)
    if let text = String(validating: bytes, as: UTF8.self) { tryText(text) }
}

private func tryBytes(_ bytes: [UInt8]) {
    let reason = reason(against: bytes)
    do {
        let envelope = try Envelope(parsing: bytes)
        demand(reason == nil, "bytes parse that should be rejected with \(String(describing: reason))")
        demand(envelope.bytes == bytes, "the envelope has other bytes")
        demand(envelope.plaintextByteCount > 0, "the envelope has no plaintext")
        demand(try Envelope(parsing: envelope.text) == envelope, "the envelope's text is another envelope")
        demand(Base64URLRule.decode(envelope.text) == bytes, "the envelope's text is not its base64url")
        checkHeader(of: envelope)
    } catch { demand(error == reason, "\(error), where \(String(describing: reason)) is due") }
}

private func tryText(_ text: String) {
    let bytes = Base64URLRule.decode(text)
    do {
        let envelope = try Envelope(parsing: text)
        demand(envelope.text.utf8.elementsEqual(text.utf8), "the envelope prints another text")
        demand(envelope.bytes == bytes, "the envelope's bytes are not those of the text")
    } catch {
        switch bytes {
        case _ where text.utf8.count > 4_096: demand(error == .tooLong, "\(error), but the text is too long")
        case nil: demand(error == .notBase64URL, "\(error), but the text is not base64url")
        case let bytes?: demand(error == reason(against: bytes), "text and bytes have different reasons")
        }
    }
}

/// Returns nil if the bytes are an envelope.
private func reason(against bytes: [UInt8]) -> EnvelopeError? {
    if bytes.count > 3_072 { return .tooLong }
    guard let suite = bytes.first else { return .empty }
    guard let minimum = [1: 70, 2: 54, 3: 1_158][suite] else { return .unknownSuite(suite) }
    if bytes.count < minimum { return .tooShort(byteCount: bytes.count, minimum: minimum) }
    return suite != 2 && !X25519Rule.isSafe(Array(bytes[9..<41])) ? .unsafeEncapsulatedKey : nil
}

private func checkHeader(of envelope: Envelope) {
    let bytes = envelope.bytes
    demand(hexadecimal(envelope.recipientHint) == Array(bytes[1..<5]), "wrong recipient hint")
    let isAuthenticated = bytes[0] != 2
    demand(
        envelope.senderHint.map(hexadecimal) == (isAuthenticated ? Array(bytes[5..<9]) : nil), "wrong sender hint")
    demand(envelope.number == (isAuthenticated ? Array(bytes[41..<53]) : nil), "another number")
    demand(
        envelope.plaintextByteCount == bytes.count - (bytes[0] == 3 ? 1_157 : isAuthenticated ? 69 : 53),
        "another length")
}

private func hexadecimal(_ hint: KeyHint) -> [UInt8] { Hexadecimal.bytes(hint.description) }
