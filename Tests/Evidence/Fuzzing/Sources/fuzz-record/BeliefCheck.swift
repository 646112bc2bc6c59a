import FuzzSupport
import SealedPush

/// Checks whether a record is accepted for any pinned and known records: steps 6 to 11 of Specification 11.3.1.
func checkBelief(_ input: inout Input) {
    let isDevice = input.bool()
    let record = MadeRecord(&input, isDevice: isDevice)
    let known = input.bool() ? MadeRecord(&input, isDevice: isDevice) : nil
    let pinned = Int(input.byte() & 1)
    let topic = Parties.topics[input.byte() & 3 == 3 ? 1 : 0]
    let now = moment(&input, for: record)
    let recordRule = rule(of: record)
    let knownRule = known.map(rule)
    let due = recordRule.reason(
        pinned: Parties.signers[pinned], topic: topic.description, now: now.secondsSince1970, known: knownRule)
    let error = failure { () throws(RecordError) in
        if let device = record.device {
            try device.check(pinned: Parties.enrollments[pinned], topic: topic, replacing: known?.device, at: now)
        }
        if let set = record.set {
            let authority = Parties.authorityKeys[pinned].authority
            try set.check(pinned: authority, topic: topic, replacing: known?.set, at: now)
        }
    }
    demand(error == due, "\(error?.rawValue ?? "believed"), where \(due?.rawValue ?? "belief") is due")
    if let set = record.set {
        checkTrusted(set, recordRule, known: known?.set, knownRule, pinned: pinned, topic: topic, at: now)
    }
}

/// Checks the same with a list of authorities: a known set counts only while its authority is in the list.
private func checkTrusted(
    _ set: SenderSet, _ rule: RecordRule, known: SenderSet?, _ knownRule: RecordRule?, pinned: Int, topic: Topic,
    at now: Timestamp
) {
    for pins in [[pinned], [0, 1], []] {
        let trusted = TrustedSenders([], authorities: pins.map { Parties.authorityKeys[$0].authority })
        let signers = pins.map { Parties.signers[$0] }
        let counting = knownRule.flatMap { signers.contains($0.signer) ? $0 : nil }
        let due =
            signers.contains(rule.signer)
            ? rule.reason(pinned: rule.signer, topic: topic.description, now: now.secondsSince1970, known: counting)
            : .foreignSigner
        let error = failure { () throws(RecordError) in try trusted.check(set, topic: topic, replacing: known, at: now)
        }
        demand(error == due, "a list of \(pins.count) authorities judges a set differently")
    }
}

private func rule(of record: MadeRecord) -> RecordRule {
    required { try RecordRule.read(record.text, type: record.set == nil ? 1 : 2).get() }
}

/// Returns the usual time, or one around a limit of the record.
func moment(_ input: inout Input, for record: MadeRecord) -> Timestamp {
    let created = record.device?.created ?? record.set?.created ?? Parties.now
    let expires = record.device?.expires ?? record.set?.expires ?? Parties.now
    let moments = [
        Parties.now, created, expires, expires.advanced(bySeconds: 1), created.advanced(bySeconds: -93_600),
        created.advanced(bySeconds: -93_601),
    ]
    return moments[Int(input.byte()) % moments.count]
}

func failure<Failure: Error>(_ call: () throws(Failure) -> Void) -> Failure? {
    do {
        try call()
        return nil
    } catch { return error }
}
