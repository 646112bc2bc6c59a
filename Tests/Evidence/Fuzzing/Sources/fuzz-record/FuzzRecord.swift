import FuzzSupport
import SealedPush

/// Signed records, and the challenge and its answer, against a second implementation of Specification 11. Parsed text prints
/// as the same, and each error is the right one. Bytes altered after signing never parse, no type replaces the other, and
/// only the right text is an answer.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzzRecord(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    RepeatableRandom.restart()
    ChallengeCheck.prepare()
    var input = Input(start, count)
    let choice = input.byte()
    switch choice % 7 {
    case 0: checkAnyText(input.bytes)
    case 1: checkRecord(RecordRule.text(of: input.bytes))
    case 2: checkRecord(RecordRule.text(of: signed(input.bytes, choice: choice >> 3)))
    case 3: alterRecord(&input)
    case 4: alterText(&input)
    case 5: checkBelief(&input)
    default: checkChallenge(&input)
    }
    return 0
}

private func checkAnyText(_ bytes: [UInt8]) {
    guard let text = String(validating: bytes, as: UTF8.self) else { return }
    checkRecord(text)
    ChallengeCheck.isNeverAnswered(text)
    ChallengeCheck.isNeverTheAnswer(text)
}

/// Returns bytes up to the signature, with a valid signature. Bit 0: who signs; bit 1: whether the record names that signer.
private func signed(_ bytes: [UInt8], choice: UInt8) -> [UInt8] {
    var bytes = bytes
    let signer = Int(choice & 1)
    if choice & 2 == 0, bytes.count >= 34 { bytes.replaceSubrange(2..<34, with: Parties.signers[signer]) }
    return bytes + RawSigning.sign(RecordRule.message(bytes), with: Parties.signerSeeds[signer])
}

/// Alters a valid record: its checksum matches, but its signature can't.
private func alterRecord(_ input: inout Input) {
    let made = MadeRecord(&input)
    demand(checkRecord(made.text), "a signed record doesn't parse")
    let bytes = made.bytes
    let altered = Alteration.ofBytes(bytes, &input)
    guard altered != bytes else { return }
    demand(!checkRecord(RecordRule.text(of: altered)), "a record parses although it was altered after signing")
}

private func alterText(_ input: inout Input) {
    let text = MadeRecord(&input).text
    let altered = String(decoding: Alteration.ofBytes(Array(text.utf8), &input), as: UTF8.self)
    guard !altered.utf8.elementsEqual(text.utf8) else { return }
    demand(!checkRecord(altered), "an altered text parses")
}

/// Whether the text is a record of either type, by the rules and by the project.
@discardableResult func checkRecord(_ text: String) -> Bool {
    let device = Result { () throws(RecordError) in try DeviceRecord(parsing: text) }
    let set = Result { () throws(RecordError) in try SenderSet(parsing: text) }
    let isDevice = check(device, text, type: 1)
    let isSet = check(set, text, type: 2)
    demand(!(isDevice && isSet), "one record is of both types")
    if case .success(let record) = device, case .success(let rule) = RecordRule.read(text, type: 1) {
        demand(record.recipients.map { Bech32Rule.bytes(ofKey: "\($0)") } == rule.keys, "other recipients")
        demand(Bech32Rule.bytes(ofKey: "\(record.enrollment)") == rule.signer, "another enrollment")
        demand(record.counter == rule.counter, "another counter")
        demand(record.topic.description.utf8.elementsEqual(rule.topic), "another topic")
        demand(record.created.secondsSince1970 == rule.created, "another time")
        demand(record.expires.secondsSince1970 == rule.expires, "another end")
    }
    if case .success(let set) = set, case .success(let rule) = RecordRule.read(text, type: 2) {
        demand(set.senders.map { Bech32Rule.bytes(ofKey: "\($0)") } == rule.keys, "other senders")
        demand(Bech32Rule.bytes(ofKey: "\(set.authority)") == rule.signer, "another authority")
    }
    return isDevice || isSet
}

private func check<Record: CustomStringConvertible>(
    _ result: Result<Record, RecordError>, _ text: String, type: UInt8
) -> Bool {
    switch (result, RecordRule.read(text, type: type)) {
    case (.success(let record), .success):
        demand(record.description.utf8.elementsEqual(text.utf8), "a record prints another text")
        return true
    case (.failure(let error), .failure(let due)):
        demand(error == due, "\(error.rawValue), where \(due.rawValue) is due")
        return false
    case (.success, .failure(let due)): fatalError("a record parses, but \(due.rawValue) is expected")
    case (.failure(let error), .success): fatalError("a valid record is rejected: \(error.rawValue)")
    }
}
