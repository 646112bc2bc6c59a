import Foundation
import PushCore
import PushSender
import PushServiceTesting
import SealedPush
import TestSupport
import Testing

@testable import PushService

@Suite("A stolen key")
struct StolenKeyTests {
    @Test("A stolen retired key can't forge messages dated more than two hours after its retirement")
    func thief() throws {
        let phone = try Phone()
        let hour: Int64 = 3_600
        func at(_ seconds: Int64) -> Timestamp { Phone.start.advanced(bySeconds: seconds) }
        let device = phone.device
        let keys = DeviceKeys(phone.items)
        let old = try #require(try device.enroll(at: at(0)).recipients.first)
        let stolen = try #require(try keys.keys { $0 == old }.first).identity
        let new = try device.rotate(at: at(hour)).recipients[0]
        try FileManager.default.createDirectory(
            at: phone.folder.appending("SealedPush"), withIntermediateDirectories: true)
        phone.markers.mark(new, at: at(2 * hour))
        _ = try device.maintain(at: at(3 * hour))
        let retired = at(2 * hour)
        let opener = Opener(topic: Phone.topic, keys: keys, trusting: [phone.sender.sender])
        func forge(sent: Timestamp) throws -> Envelope {
            try forgery(with: stolen, inTheNameOf: phone.sender.sender, sent: sent)
        }
        // A forgery within the two hours opens, so the others fail because of their date: any HPKE in mode_auth allows them.
        _ = try opener.open(try forge(sent: retired.advanced(bySeconds: 2 * hour)), at: at(5 * hour))
        var random = SeededGenerator()
        for step in 0..<Thoroughness.count(40, thorough: 200) {
            let lead = step == 0 ? 1 : Int64.random(in: 1...(40 * 86_400), using: &random)
            let sent = retired.advanced(bySeconds: 2 * hour + lead)
            // Whenever it's delivered.
            let now = sent.advanced(bySeconds: Int64.random(in: -25 * hour...30 * 86_400, using: &random))
            let forged = try forge(sent: sent)
            #expect(throws: OpenError.keyRetired) { try opener.open(forged, at: max(now, at(3 * hour))) }
        }
        _ = try device.maintain(at: at(40 * 86_400))
        let forged = try forge(sent: retired)
        #expect(throws: OpenError.unknownRecipient) { try opener.open(forged, at: retired) }
    }

    /// With only the identity, the thief computes what the sender would have computed (Specification 3.4.10).
    private func forgery(with stolen: DevicePrivateKey, inTheNameOf sender: SenderPublicKey, sent: Timestamp) throws
        -> Envelope
    {
        let ephemeral = X25519PrivateKey.random()
        let shared = AuthenticatedKEM.decapsulate(ephemeral.publicKey, with: stolen.x25519, from: sender.x25519)
        let context = HPKEContext(
            enc: ephemeral.publicKey.bytes, sharedSecret: shared, info: EnvelopeInfo(topic: Phone.topic).classical,
            isSending: true)
        let content = """
            {"id":"5b0f6c1e-8d3a-4f57-9a61-2f4c8e7d1b09","topic":"\(Phone.topic)","sent":\(sent.secondsSince1970),\
            "alert":{"body":"forged"}}
            """
        return SealingContext(context, to: stolen.recipient, from: sender).seal(Array(content.utf8) + [0x80])
    }
}
