import Testing

@testable import PushSender
@testable import SealedPush

/// Specification 11.4.
@Suite("An enrolled device") struct EnrolledDeviceTests {
    private var enrolling = Enrolling()
    private let now = Enrolling.now

    private func prove(
        _ recipient: DevicePublicKey? = nil, in device: inout EnrolledDevice, by enrolling: Enrolling? = nil
    ) throws(ChallengeError) {
        let enrolling = enrolling ?? self.enrolling
        let challenge = enrolling.challenge(to: recipient)
        try device.prove(challenge, answer: try enrolling.answer(challenge.text), at: now)
    }

    private func recipient(_ device: EnrolledDevice, at now: Timestamp = Enrolling.now) throws(RecordError)
        -> DevicePublicKey
    { try device.recipient(at: now).recipient }

    @Test("Messages are sealed to a device once it has answered a challenge, and not before") func proving() throws {
        var device = try enrolling.device()
        #expect(device.unproven == enrolling.recipients)
        #expect(throws: RecordError.unproven) { try device.recipient(at: now) }
        try prove(in: &device)
        #expect(device.unproven.isEmpty)
        #expect(try recipient(device) == enrolling.recipients[0])
        // Answering again has no effect.
        try prove(in: &device)
        #expect(device.proven == Set(enrolling.recipients))
    }

    @Test("A device has its newest proven recipient, and forgets those that leave the record") func rotation() throws {
        var device = try enrolling.device()
        try prove(in: &device)
        let old = enrolling.recipients[0]
        var rotated = enrolling
        rotated.identities.append(DevicePrivateKey())
        let new = rotated.recipients[0]
        try device.accept(try rotated.record(counter: 8), at: now)
        #expect(try recipient(device) == old)
        #expect(device.unproven == [new])
        try prove(new, in: &device, by: rotated)
        #expect(try recipient(device) == new)
        try device.accept(try rotated.record(of: [new], counter: 9), at: now)
        #expect(device.proven == [new])
        #expect(try recipient(device) == new)
        // A recipient that left must be proven again when it returns.
        try device.accept(try rotated.record(of: [old], counter: 10), at: now)
        #expect(device.unproven == [old])
        #expect(throws: RecordError.unproven) { try device.recipient(at: now) }
    }

    @Test("A device is unchanged if a record is rejected, or is the one it has") func refusals() throws {
        var device = try enrolling.device()
        try prove(in: &device)
        let before = device
        let wrong: [(DeviceRecord, RecordError)] = [
            (try Enrolling().record(of: enrolling.recipients, counter: 8), .foreignSigner),
            (try enrolling.record(topic: "com.example.other", counter: 8), .otherTopic),
            (try enrolling.record(counter: 6), .rolledBack),
        ]
        for (record, code) in wrong {
            #expect(throws: code) { try device.accept(record, at: now) }
            #expect(device == before)
        }
        try device.accept(try enrolling.record(), at: now)
        #expect(device == before)
    }

    @Test("A device is enrolled only with a record for the app, in its time") func pinning() throws {
        let record = try enrolling.record()
        #expect(throws: RecordError.otherTopic) { try EnrolledDevice(pinning: record, topic: "a", at: now) }
        let late = record.expires.advanced(bySeconds: 1)
        #expect(throws: RecordError.expired) { try EnrolledDevice(pinning: record, topic: Enrolling.topic, at: late) }
    }

    @Test("Messages are not sealed to a device whose record has expired, proven or not") func expiry() throws {
        var device = try enrolling.device()
        try prove(in: &device)
        let end = device.record.expires
        #expect(try recipient(device, at: end) == enrolling.recipients[0])
        #expect(throws: RecordError.expired) { try device.recipient(at: end.advanced(bySeconds: 1)) }
    }

    @Test("A device loads as it was stored, and its record is checked against the pin") func loading() throws {
        var device = try enrolling.device()
        try prove(in: &device)
        let loaded = try EnrolledDevice(loading: device.enrollment, record: device.record, proven: device.proven)
        #expect(loaded == device)
        #expect(throws: RecordError.foreignSigner) {
            try EnrolledDevice(loading: EnrollmentPrivateKey().enrollment, record: device.record, proven: [])
        }
        // Proofs for keys that aren't in the record are ignored.
        let strange = try EnrolledDevice(
            loading: device.enrollment, record: device.record, proven: [DevicePrivateKey().recipient])
        #expect(strange.proven.isEmpty)
        // An expired record is accepted, but messages aren't sealed to it.
        let old = try enrolling.record(created: Timestamp(clamping: 1), expires: Timestamp(clamping: 2))
        let expired = try EnrolledDevice(loading: enrolling.enrollment, record: old, proven: enrolling.recipients)
        #expect(throws: RecordError.expired) { try expired.recipient(at: now) }
    }

    @Test("A device is stored as one value, and loads from it as it was") func state() throws {
        var device = try enrolling.device()
        #expect(try EnrolledDevice(state: device.state) == device)
        try prove(in: &device)
        let state = device.state
        #expect(state.hasPrefix(#"{"enrollment":"pushenrollment1"#) && !state.contains("\n"))
        #expect(try EnrolledDevice(state: state) == device)
        // Open challenges, which other languages keep there, and what a later version adds are ignored.
        let more = state.dropLast() + #","challenges":[{"recipient":"x"}],"later":1}"#
        #expect(try EnrolledDevice(state: String(more)) == device)
        let foreign = state.replacing(
            device.enrollment.description, with: EnrollmentPrivateKey().enrollment.description)
        #expect(throws: RecordError.foreignSigner) { try EnrolledDevice(state: foreign) }
    }

    @Test("A stored state that was cut or changed is refused or means the same, and never traps") func damagedState()
        throws
    {
        var device = try enrolling.device()
        try prove(in: &device)
        let state = device.state
        for count in 0..<state.utf8.count {
            let cut = String(decoding: state.utf8.prefix(count), as: UTF8.self)
            #expect(throws: RecordError.malformedState) { try EnrolledDevice(state: cut) }
        }
        var bytes = Array(state.utf8)
        for place in bytes.indices {
            for bit in 0..<8 {
                bytes[place] ^= 1 << bit
                // A flipped bit may hide the member `proven`. Other than that, nothing loads differently.
                if let loaded = try? EnrolledDevice(state: String(decoding: bytes, as: UTF8.self)) {
                    #expect(loaded == device || loaded.proven.isEmpty, "byte \(place), bit \(bit)")
                }
                bytes[place] ^= 1 << bit
            }
        }
        let (record, pinned) = (device.record.description, device.enrollment.description)
        for wrong in [
            "", "[]", "null", "{}", #"{"enrollment":"\#(pinned)"}"#, #"{"record":"\#(record)"}"#,
            #"{"enrollment":"\#(pinned)","record":1}"#,
            #"{"enrollment":"\#(pinned)","record":"\#(record)","proven":"x"}"#,
            #"{"enrollment":"\#(pinned)","record":"\#(record)","proven":[1]}"#,
            state + state, state + String(repeating: " ", count: 131_072), String(repeating: "[", count: 100_000),
        ] {
            #expect(throws: RecordError.malformedState) { try EnrolledDevice(state: wrong) }
        }
    }

    @Test("A device isn't proven by a challenge of another enrollment, or for a recipient not in its record")
    func otherChallenges() throws {
        var device = try enrolling.device()
        let before = device
        // The key is known to both devices, and the challenge was the other's.
        var other = Enrolling()
        other.identities = enrolling.identities
        #expect(throws: ChallengeError.foreignEnrollment) { try prove(in: &device, by: other) }
        var newer = enrolling
        newer.identities = [DevicePrivateKey()]
        #expect(throws: ChallengeError.notInRecord) { try prove(in: &device, by: newer) }
        #expect(device == before)
    }
}
