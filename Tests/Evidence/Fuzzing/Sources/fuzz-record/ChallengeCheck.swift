import FuzzSupport
import PushSender
import SealedPush

/// A challenge to any key, from any sender, about any device; altered or not. Specification 11.5.3.
func checkChallenge(_ input: inout Input) {
    let who = input.byte()
    let recipient = Int(who & 3)
    let sender = Int(who >> 2 & 3) % 3
    let isForeign = who & 0x10 != 0
    let isOtherTopic = who & 0x20 != 0
    let challenge = PendingChallenge(
        to: Parties.recipients[recipient], of: Parties.enrollments[isForeign ? 1 : 0],
        topic: Parties.topics[isOtherTopic ? 1 : 0], from: Parties.senderKeys[sender], at: Parties.now)
    let bytes = Array(challenge.text.utf8)
    if who & 0x40 != 0 {
        let altered = alteredText(challenge.text, isText: who & 0x80 != 0, &input)
        if !altered.utf8.elementsEqual(bytes) { ChallengeCheck.isNeverAnswered(altered) }
        return
    }
    // The second recipient is retired, and the third isn't the device's; the third sender is untrusted.
    let due: ChallengeError? =
        switch (recipient, sender) {
        case (1, _), (2, _): .unknownRecipient
        case (_, 2): .unknownSender
        default: isOtherTopic ? .rejected : isForeign ? .foreignEnrollment : nil
        }
    let error = failure { () throws(ChallengeError) in _ = try ChallengeCheck.answer(challenge.text) }
    demand(error == due, "\(error?.rawValue ?? "answered"), where \(due?.rawValue ?? "an answer") is due")
}

/// Alters the text itself, or the envelope in it.
private func alteredText(_ text: String, isText: Bool, _ input: inout Input) -> String {
    if isText { return String(decoding: Alteration.ofBytes(Array(text.utf8), &input), as: UTF8.self) }
    let prefix = "pushchallenge."
    let envelope = Base64URLRule.decode(String(text.dropFirst(prefix.count))) ?? []
    return prefix + Base64URLRule.encode(Alteration.ofBytes(envelope, &input))
}

enum ChallengeCheck {
    /// Creates the values before the input, so that lasting allocations are the same for each.
    static func prepare() { _ = (pending, right, device) }

    /// Returns the device's own answer.
    static func answer(_ text: String) throws(ChallengeError) -> String {
        try Challenge.answer(
            text, enrollment: Parties.enrollments[0], topic: Parties.topics[0], keys: Parties.store,
            trusting: Array(Parties.senders[..<2]))
    }

    /// Text that wasn't sealed is not answered; until the tag is valid, the reasons don't reveal why.
    static func isNeverAnswered(_ text: String) {
        let error = failure { () throws(ChallengeError) in _ = try answer(text) }
        let reasons: [ChallengeError] = [.malformed, .unknownRecipient, .unknownSender, .rejected]
        demand(error.map(reasons.contains) == true, "an altered challenge is answered, or reveals more than allowed")
    }

    /// Only the right text is an answer. Specification 11.5.6, steps 4 and 5.
    static func isNeverTheAnswer(_ text: String) {
        guard !text.utf8.elementsEqual(right.utf8) else { return }
        let prefix = "pushanswer."
        let bytes = Base64URLRule.decode(String(decoding: text.utf8.dropFirst(prefix.utf8.count), as: UTF8.self))
        let due = text.utf8.starts(with: prefix.utf8) && bytes?.count == 32 ? ChallengeError.wrongAnswer : .malformed
        var copy = device
        let error = failure { () throws(ChallengeError) in try copy.prove(pending, answer: text, at: Parties.now) }
        demand(error == due, "a wrong answer is accepted, or rejected for another reason")
        demand(copy == device, "a wrong answer has an effect")
    }

    private static let pending = PendingChallenge(
        to: Parties.recipients[0], of: Parties.enrollments[0], topic: Parties.topics[0], from: Parties.senderKeys[0],
        at: Parties.now)
    private static let right = required { try answer(pending.text) }
    private static let device = required {
        let record = try DeviceRecord(
            of: [Parties.recipients[0]], topic: Parties.topics[0], counter: 1, created: Parties.now,
            expires: Parties.now.advanced(bySeconds: 1_000), signedBy: Parties.enrollmentKeys[0])
        return try EnrolledDevice(pinning: record, topic: Parties.topics[0], at: Parties.now)
    }
}
