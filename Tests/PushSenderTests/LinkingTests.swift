import PushCore
import PushSender
import SealedPush
import Testing

/// Links between a phone's pushes that are visible in the payloads alone (Specification 3.2, ThreatModel 6).
@Suite("A thousand payloads") struct LinkingTests {
    private static let contextCount = 20
    private static let windowByteCount = 8

    /// Envelopes from one sender to one phone, each with the context it was sealed under.
    private func envelopes(_ phone: DevicePublicKey) throws -> [(context: Int, envelope: Envelope)] {
        let sender = SenderPrivateKey()
        return try (0..<Self.contextCount).flatMap { context in
            let sealer = Sealer(sender: sender, topic: "com.example.app", safeDefault: "New")
            return try (0..<50).map { _ in
                (context, try sealer.seal(Content(body: "Hello"), toUnverified: phone).envelope)
            }
        }
    }

    @Test("payloads to one phone share bytes only within a context, and only in the header", arguments: [false, true])
    func shared(isHybrid: Bool) throws {
        let phone = isHybrid ? DevicePrivateKey(.hybrid) : DevicePrivateKey()
        let pushes = try envelopes(phone.recipient)
        let headerByteCount = 53 + (isHybrid ? 1_088 : 0)
        let byteCount = pushes[0].envelope.bytes.count
        var joined: Set<Int> = []
        for offset in stride(from: 1, through: byteCount - Self.windowByteCount, by: 4) {
            var contexts: [ArraySlice<UInt8>: Int] = [:]
            for (context, envelope) in pushes {
                let window = envelope.bytes[offset..<offset + Self.windowByteCount]
                guard let earlier = contexts.updateValue(context, forKey: window) else { continue }
                joined.insert(context)
                #expect(earlier == context, "two contexts share bytes at \(offset)")
                #expect(offset < headerByteCount, "two pushes share sealed bytes at \(offset)")
            }
        }
        #expect(joined.count == Self.contextCount)
        // Checks each hint alone, because bytes across both would hide a hint that is always the same.
        #expect(Set(pushes.map(\.envelope.recipientHint.bytes)).count == Self.contextCount)
        #expect(Set(pushes.map(\.envelope.senderHint?.bytes)).count == Self.contextCount)
    }
}
