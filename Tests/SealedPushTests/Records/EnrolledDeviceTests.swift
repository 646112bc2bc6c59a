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

    @Test("is sealed to once it has answered a challenge, and not before") func proving() throws {
        var device = try enrolling.device()
        #expect(device.unproven == enrolling.recipients)
        #expect(throws: RecordError.unproven) { try device.recipient(at: now) }
        try prove(in: &device)
        #expect(device.unproven.isEmpty)
        #expect(try recipient(device) == enrolling.recipients[0])
        // Once more changes nothing.
        try prove(in: &device)
        #expect(device.proven == Set(enrolling.recipients))
    }

    @Test("gives its newest proven recipient, and forgets those that leave the record") func rotation() throws {
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
        // One that left has to prove itself again when it comes back.
        try device.accept(try rotated.record(of: [old], counter: 10), at: now)
        #expect(device.unproven == [old])
        #expect(throws: RecordError.unproven) { try device.recipient(at: now) }
    }

    @Test("stays as it was where a record is refused, or is the one that it has") func refusals() throws {
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

    @Test("is enrolled with a record for the app, in its time, only") func pinning() throws {
        let record = try enrolling.record()
        #expect(throws: RecordError.otherTopic) { try EnrolledDevice(pinning: record, topic: "a", at: now) }
        let late = record.expires.advanced(bySeconds: 1)
        #expect(throws: RecordError.expired) { try EnrolledDevice(pinning: record, topic: Enrolling.topic, at: late) }
    }

    @Test("is not sealed to once its record has expired, proven or not") func expiry() throws {
        var device = try enrolling.device()
        try prove(in: &device)
        let end = device.record.expires
        #expect(try recipient(device, at: end) == enrolling.recipients[0])
        #expect(throws: RecordError.expired) { try device.recipient(at: end.advanced(bySeconds: 1)) }
    }

    @Test("loads as it was stored, with its record checked against the pin") func loading() throws {
        var device = try enrolling.device()
        try prove(in: &device)
        let loaded = try EnrolledDevice(loading: device.enrollment, record: device.record, proven: device.proven)
        #expect(loaded == device)
        #expect(throws: RecordError.foreignSigner) {
            try EnrolledDevice(loading: EnrollmentPrivateKey().enrollment, record: device.record, proven: [])
        }
        // What is not in the record is proven in vain.
        let strange = try EnrolledDevice(
            loading: device.enrollment, record: device.record, proven: [DevicePrivateKey().recipient])
        #expect(strange.proven.isEmpty)
        // An expired one is taken, and not sealed to.
        let old = try enrolling.record(created: Timestamp(clamping: 1), expires: Timestamp(clamping: 2))
        let expired = try EnrolledDevice(loading: enrolling.enrollment, record: old, proven: enrolling.recipients)
        #expect(throws: RecordError.expired) { try expired.recipient(at: now) }
    }

    @Test("is proven by no challenge of another enrollment or for a recipient that is not in its record")
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
