import FuzzSupport
import PushSender

/// Opening: only sealed messages open, and they open or are rejected as Specification 6.4 requires. The input is an
/// envelope, one whose header is made to match the keys, an envelope's plaintext, or content to seal and a bit to flip.
func fuzzOpening(_ input: inout Input) {
    let choice = input.byte()
    let other = Int(choice >> 3)
    switch choice % 8 {
    case 0: openUnsealed(input.bytes)
    case 1: openUnsealed(withAuthenticatedHeader(input.bytes, key: other))
    case 2: openUnsealed(withAnonymousHeader(input.bytes, key: other))
    case 3: openBox(of: input.bytes, time: other)
    case 4: sealParsed(&input, isAnonymous: false, time: other)
    case 5: sealParsed(&input, isAnonymous: true, time: other)
    case 6: sealMade(&input, isAnonymous: false, time: other)
    default: sealMade(&input, isAnonymous: true, time: other)
    }
}

/// Unsealed bytes don't open, and the reasons don't reveal why. The test vectors do open.
private func openUnsealed(_ bytes: [UInt8]) {
    guard let envelope = try? Envelope(parsing: bytes), !Parties.knownEnvelopes.contains(bytes) else { return }
    checkRefusal(of: envelope)
}

private func checkRefusal(of envelope: Envelope) {
    do {
        _ = try Parties.opener.open(envelope, at: Parties.now)
        fatalError("an envelope opens that wasn't sealed")
    } catch {
        let reasons: [OpenError] = [.unknownRecipient, .unknownSender, .rejected]
        demand(reasons.contains(error), "\(error), but the tag can't be valid")
    }
}

private func withAuthenticatedHeader(_ bytes: [UInt8], key: Int) -> [UInt8] {
    guard bytes.count > 41 else { return bytes }
    var bytes = bytes
    // With the top bit cleared, nearly every `enc` is a safe key.
    bytes[40] &= 0x7f
    bytes.replaceSubrange(0..<9, with: Parties.suiteAndHints(key, enc: bytes[9..<41]))
    return bytes
}

private func withAnonymousHeader(_ bytes: [UInt8], key: Int) -> [UInt8] {
    guard bytes.count > 37 else { return bytes }
    return [2] + Parties.anonymousHint(key, enc: bytes[5..<37]) + bytes[5...]
}

/// Opens any plaintext, even one that a sealer wouldn't seal.
private func openBox(of plaintext: [UInt8], time: Int) {
    let box = RawSealedBox.seal(plaintext, to: Parties.recipientBytes)
    guard let envelope = try? Envelope(parsing: [2] + Parties.anonymousHint(0, enc: box[..<32]) + box) else {
        demand(plaintext.isEmpty || plaintext.count > 3_019, "a sealed box is not an envelope")
        return
    }
    Verdict(on: Verdict.content(of: plaintext), isAnonymous: true, time: time).check(envelope)
}

private func sealParsed(_ input: inout Input, isAnonymous: Bool, time: Int) {
    let bit = input.number(below: 65_536)
    guard let content = try? Content(parsing: input.bytes) else { return }
    seal(content, isAnonymous: isAnonymous, time: time, flipping: bit)
}

/// Seals content as an app creates it, including values that JSON can't represent.
private func sealMade(_ input: inout Input, isAnonymous: Bool, time: Int) {
    let bit = input.number(below: 65_536)
    seal(MadeContent.content(&input), isAnonymous: isAnonymous, time: time, flipping: bit)
}

private func seal(_ content: Content, isAnonymous: Bool, time: Int, flipping bit: Int) {
    var content = content
    // The sealer would use the clock's time, which differs each time.
    content.sent = content.sent ?? Parties.now
    let sealer = isAnonymous ? Parties.anonymousSealer : Parties.sealer
    // ML-KEM's randomness isn't repeatable, but the checks don't depend on it.
    let recipient = !isAnonymous && time >= 16 ? Parties.hybridRecipient : Parties.recipient
    guard let payload = try? sealer.seal(content, toUnverified: recipient) else { return }
    demand(payload.json.count <= 4_096, "a payload of \(payload.json.count) bytes")
    content.id = payload.messageID
    content.topic = payload.topic
    Verdict(on: content, isAnonymous: isAnonymous, time: time).check(payload.envelope, to: recipient)

    var bytes = payload.envelope.bytes
    bytes[bit / 8 % bytes.count] ^= 1 << (bit % 8)
    if let flipped = try? Envelope(parsing: bytes) { checkRefusal(of: flipped) }
}
