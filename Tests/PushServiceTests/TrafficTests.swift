import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushService

@Suite("Keys that change under traffic")
struct TrafficTests {
    private func device(_ phone: Phone) throws -> TrafficDevice {
        _ = try phone.device.enroll(at: Phone.start)
        return TrafficDevice(phone: phone)
    }

    @Test(
        "a sender goes on sealing while the device rotates: what was sealed in time opens exactly once, nothing else does"
    )
    func rotation() throws {
        let phone = try Phone()
        var traffic = try Traffic(phone, try device(phone))
        for _ in 0..<Thoroughness.count(120, thorough: 400) { try traffic.step() }
        // By chance too little may have happened so far, or none may have come too late: then a while longer.
        for _ in 0..<4_000 where !traffic.counts.isEnough || traffic.counts.late == 0 {
            try traffic.step()
        }
        try traffic.drain()
        let counts = traffic.counts
        #expect(counts.isEnough, "\(counts)")
        #expect(counts.inTime > Thoroughness.count(15, thorough: 60), "\(counts)")
        #expect(counts.late > 0, "\(counts)")

        // And when all of it is erased, nothing of it is left.
        let now = traffic.now.advanced(bySeconds: 32 * 86_400)
        let recipients = Set(try traffic.device.record(at: now).recipients)
        let (gone, kept) = (
            traffic.keys.filter { !recipients.contains($0.recipient) },
            traffic.keys.filter { recipients.contains($0.recipient) }
        )
        #expect(gone.count > 3 && !kept.isEmpty)
        let before = try traffic.device.storedBytes()
        #expect(kept.allSatisfy { $0.isFound(in: before) }, "the search finds nothing at all")
        try traffic.device.maintain(at: now)
        let bytes = try traffic.device.storedBytes()
        #expect(bytes.count > 100)
        for identity in gone {
            #expect(!identity.isFound(in: bytes))
            #expect(try traffic.device.store.keys(for: identity.recipient.keyID).isEmpty)
        }
        let opener = Opener(
            topic: Phone.topic, keys: traffic.device.store, trusting: [phone.sender.sender])
        for message in traffic.messages.prefix(60) where !recipients.contains(message.recipient) {
            #expect(throws: OpenError.unknownRecipient) { try opener.open(message.envelope, at: now) }
        }
    }

    @Test("a new key every day for sixty days, with a message every hour: nothing is lost")
    func everyDay() throws {
        let phone = try Phone()
        var traffic = try Traffic(phone, try device(phone))
        for hour in 1...60 * 24 { try traffic.step(after: 3_600, rotating: hour % 24 == 0, workersLag: false) }
        try traffic.drain()
        let counts = traffic.counts
        #expect(counts.rotated >= 59, "\(counts)")
        #expect(counts.late == 0, "\(counts)")
        #expect(counts.inTime == traffic.messages.count { !$0.isLost }, "\(counts)")
        #expect(counts.underRetired > 0, "\(counts)")
    }

    @Test("a stolen retired key forges nothing that is dated later than two hours after its retirement")
    func thief() throws {
        let phone = try Phone()
        let device = try device(phone)
        let hour: Int64 = 3_600
        func at(_ seconds: Int64) -> Timestamp { Phone.start.advanced(bySeconds: seconds) }
        let old = try #require(try device.record(at: at(0)).recipients.first)
        let stolen = try #require(try device.store.keys(for: old.keyID).first).identity
        try device.rotate(at: at(hour))
        let new = try device.record(at: at(hour)).recipients[0]
        device.markers.mark(new, at: at(2 * hour))
        try FileManager.default.createDirectory(
            at: phone.folder.appending("SealedPush"), withIntermediateDirectories: true)
        device.markers.mark(new, at: at(2 * hour))
        try device.maintain(at: at(3 * hour))
        let retired = at(2 * hour)
        let opener = Opener(topic: Phone.topic, keys: device.store, trusting: [phone.sender.sender])
        func forge(sent: Timestamp) throws -> Envelope {
            try forgery(with: stolen, inTheNameOf: phone.sender.sender, sent: sent)
        }
        // That it is one that opens shows that the rest is no accident: any HPKE in mode_auth is like that.
        _ = try opener.open(try forge(sent: retired.advanced(bySeconds: 2 * hour)), at: at(5 * hour))
        var random = SeededGenerator()
        for step in 0..<Thoroughness.count(40, thorough: 200) {
            let lead = step == 0 ? 1 : Int64.random(in: 1...(40 * 86_400), using: &random)
            let sent = retired.advanced(bySeconds: 2 * hour + lead)
            // Whenever it is delivered.
            let now = sent.advanced(bySeconds: Int64.random(in: -25 * hour...30 * 86_400, using: &random))
            let forged = try forge(sent: sent)
            #expect(throws: OpenError.keyRetired) { try opener.open(forged, at: max(now, at(3 * hour))) }
        }
        try device.maintain(at: at(40 * 86_400))
        let forged = try forge(sent: retired)
        #expect(throws: OpenError.unknownRecipient) { try opener.open(forged, at: retired) }
    }

    /// With the identity alone, the thief computes what the sender would have computed (Specification 3.4.10).
    private func forgery(with stolen: DevicePrivateKey, inTheNameOf sender: SenderPublicKey, sent: Timestamp) throws
        -> Envelope
    {
        let ephemeral = X25519PrivateKey.random()
        let context = HPKEContext(
            receiving: ephemeral.publicKey, with: stolen.x25519, from: sender.x25519,
            info: HPKEInfo(Envelope.info(topic: Phone.topic)))
        let content = """
            {"id":"5b0f6c1e-8d3a-4f57-9a61-2f4c8e7d1b09","topic":"\(Phone.topic)","sent":\(sent.secondsSince1970),\
            "alert":{"body":"forged"}}
            """
        return .sealing(
            Array(content.utf8) + [0x80], to: stolen.recipient, from: sender, in: context, sequenceNumber: 0)
    }
}
