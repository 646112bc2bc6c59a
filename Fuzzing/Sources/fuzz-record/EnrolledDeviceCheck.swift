import FuzzSupport
import SealedPush

/// Random acts on what a server knows of a device, next to a second statement of it (Specification 11.4 and 11.5.6).
func checkEnrolledDevice(_ input: inout Input) {
    let first = MadeRecord(&input, isDevice: true)
    let now = moment(&input, for: first)
    guard let record = first.device else { return }
    var known = RecordCheck.rule(of: first, isDevice: true)
    let topic = String(decoding: known.topic, as: UTF8.self)
    let due = known.reason(pinned: known.signer, topic: topic, now: now.secondsSince1970, known: nil)
    var device: EnrolledDevice
    do {
        device = try EnrolledDevice(pinning: record, topic: record.topic, at: now)
        demand(due == nil, "a device is enrolled where \(due?.rawValue ?? "") is due")
    } catch {
        demand(error == due, "\(error.rawValue), where \(due?.rawValue ?? "enrolment") is due")
        return
    }
    let pinned = known.signer
    var proven: Set<[UInt8]> = []
    for _ in 0..<12 where !input.rest.isEmpty {
        switch input.byte() % 4 {
        case 0, 1:
            let newer = MadeRecord(&input, isDevice: true)
            let now = moment(&input, for: newer)
            let rule = RecordCheck.rule(of: newer, isDevice: true)
            let due = rule.reason(pinned: pinned, topic: topic, now: now.secondsSince1970, known: known)
            let error = failure { () throws(RecordError) in
                if let record = newer.device { try device.accept(record, at: now) }
            }
            demand(error == due, "\(error?.rawValue ?? "accepted"), where \(due?.rawValue ?? "nothing") is due")
            if due == nil {
                demand(rule.counter >= known.counter, "a counter falls")
                known = rule
                proven.formIntersection(rule.keys)
            }
        case 2: prove(&device, &proven, known, &input)
        default: checkRecipient(of: device, proven, known, pinned, topic, at: moment(&input, for: first))
        }
        demand(Bech32Rule.bytes(ofKey: "\(device.enrolment)") == pinned, "another key is pinned")
        demand(device.record.counter == known.counter, "another counter")
        demand(Set(device.proven.map { Bech32Rule.bytes(ofKey: "\($0)") }) == proven, "other recipients are proven")
        demand(proven.isSubset(of: known.keys), "a recipient is proven that is not in the record")
    }
}

/// A challenge to one of the recipients, about this device or another, answered rightly or not, in time or not.
private func prove(
    _ device: inout EnrolledDevice, _ proven: inout Set<[UInt8]>, _ known: RecordRule, _ input: inout Input
) {
    let act = input.byte()
    let recipient = Int(act & 3)
    let isOther = act & 0x0c == 0x0c
    let asked = isOther ? Parties.enrolments.first { $0 != device.enrolment } ?? device.enrolment : device.enrolment
    let challenge = PendingChallenge(
        to: Parties.recipients[recipient], of: asked, topic: Parties.topics[0], from: Parties.senderKeys[0],
        at: Parties.now)
    guard let right = ChallengeCheck.rightAnswer(to: challenge, recipient: recipient) else {
        fatalError("a right challenge is not answered")
    }
    let isAltered = act & 0x30 == 0x30
    let answer = isAltered ? Array(Alteration.ofBytes(Array(right.utf8), &input)) : Array(right.utf8)
    let text = String(decoding: answer, as: UTF8.self)
    let isLate = act & 0xc0 == 0xc0
    let now = Parties.now.advanced(bySeconds: isLate ? 601 : 600)
    let bytes = Parties.recipientBytes[recipient]
    let due: ChallengeError? =
        switch (isOther, known.keys.contains(bytes), isLate) {
        case (true, _, _): .foreignEnrolment
        case (_, false, _): .notInRecord
        case (_, _, true): .late
        default: ChallengeCheck.reason(against: text, right: right)
        }
    let error = failure { () throws(ChallengeError) in try device.prove(challenge, answer: text, at: now) }
    demand(error == due, "\(error?.rawValue ?? "proven"), where \(due?.rawValue ?? "nothing") is due")
    if due == nil { proven.insert(bytes) }
}

private func checkRecipient(
    of device: EnrolledDevice, _ proven: Set<[UInt8]>, _ known: RecordRule, _ pinned: [UInt8], _ topic: String,
    at now: Timestamp
) {
    var due = known.reason(pinned: pinned, topic: topic, now: now.secondsSince1970, known: nil)
    let newest = known.keys.first(where: proven.contains)
    if due == nil, newest == nil { due = .unproven }
    do {
        let recipient = try device.recipient(at: now).recipient
        demand(due == nil && Bech32Rule.bytes(ofKey: "\(recipient)") == newest, "sealed to another recipient")
    } catch {
        demand(error == due, "\(error.rawValue), where \(due?.rawValue ?? "a recipient") is due")
    }
    demand(
        device.unproven.map { Bech32Rule.bytes(ofKey: "\($0)") } == known.keys.filter { !proven.contains($0) },
        "other recipients are unproven")
}
