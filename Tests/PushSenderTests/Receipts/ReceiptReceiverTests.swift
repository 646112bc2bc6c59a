import Foundation
import PushCore
import SealedPush
import TestSupport
import Testing

@testable import PushSender

@Suite("The receiver of receipts") struct ReceiptReceiverTests {
    private let sender = SenderPrivateKey()
    private let phone = DevicePrivateKey()
    private let now = Timestamp.now()
    private let address = ReceiptAddress(parsing: "https://push.example.com/receipts")!

    private func opened(_ sealer: Sealer, _ content: Content = Content(body: "Hello")) throws -> Content {
        let payload = try sealer.seal(content, toUnverified: phone.recipient)
        let opener = Opener(
            topic: sealer.topic, keys: InMemoryKeyStore([DeviceKey(phone, created: now)]), trusting: [sender.sender],
            allowsAnonymous: true)
        return try opener.open(payload.envelope, at: .now()).content
    }

    private func sealer(receipts: ReceiptAddress?) -> Sealer {
        Sealer(sender: sender, topic: "com.example.app", safeDefault: "New", receipts: receipts)
    }

    private func body(
        _ request: ReceiptRequest, created: Timestamp, message: MessageID = .random(), counts: [OpenError: UInt16] = [:]
    ) -> [UInt8] {
        var all = [UInt16](repeating: 0, count: ReceiptBody.reasonCount)
        for (reason, count) in counts { all[Int(reason.facts.number) - 1] = count }
        return ReceiptBody(
            id: request.id, number: ReceiptBody.number(of: message, key: request.key), created: created,
            elapsedMilliseconds: 310, counts: all
        ).bytes(key: request.key)
    }

    @Test("the receiver accepts receipts from devices without storing anything for them")
    func wholeWay() throws {
        let content = try opened(sealer(receipts: address))
        let request = try #require(content.receipt)
        #expect(request.address == address)
        let id = try #require(content.id)
        let receiver = ReceiptReceiver(keys: [
            ReceiptKey(of: SenderPrivateKey(), for: "com.example.app"), ReceiptKey(of: sender, for: "com.example.app"),
        ])
        let bytes = body(request, created: now, message: id, counts: [.unknownRecipient: 2, .expired: 1])
        let receipt = try receiver.receive(bytes, at: now)
        #expect(receipt.id == ReceiptKey(of: sender, for: "com.example.app").id(of: phone.recipient))
        #expect(receipt.failures == [.unknownRecipient: 2, .expired: 1])
        #expect(receipt.otherFailureCount == 0)
        #expect(receipt.elapsed == .milliseconds(310))
        #expect(receipt.created == now)
        // A second receipt for the same message has the same number.
        let again = try receiver.receive(body(request, created: now.advanced(bySeconds: 9), message: id), at: now)
        #expect(again.number == receipt.number)
    }

    @Test("the receiver rejects other senders' devices, and a device that uses another's ID") func strangers() throws {
        let request = ReceiptKey(of: sender, for: "com.example.app").request(phone.recipient, to: address)
        let other = ReceiptKey(of: sender, for: "com.example.app").request(DevicePrivateKey().recipient, to: address)
        #expect(throws: ReceiptError.rejected) {
            try ReceiptReceiver(keys: [ReceiptKey(of: SenderPrivateKey(), for: "com.example.app")]).receive(
                body(request, created: now), at: now)
        }
        #expect(throws: ReceiptError.rejected) {
            try ReceiptReceiver(keys: []).receive(body(request, created: now), at: now)
        }
        let mixed = ReceiptRequest(address: address, id: other.id, key: request.key)
        #expect(throws: ReceiptError.rejected) {
            try ReceiptReceiver(keys: [ReceiptKey(of: sender, for: "com.example.app")]).receive(
                body(mixed, created: now), at: now)
        }
    }

    @Test("the receiver accepts receipts of the last seven days, and none from the future") func times() throws {
        let request = ReceiptKey(of: sender, for: "com.example.app").request(phone.recipient, to: address)
        let receiver = ReceiptReceiver(keys: [ReceiptKey(of: sender, for: "com.example.app")])
        let week: Int64 = 7 * 86_400
        for (seconds, error) in [
            (0, nil), (-week, nil), (-week - 1, ReceiptError.tooOld), (26 * 3_600, nil), (26 * 3_600 + 1, .clock),
        ] {
            let bytes = body(request, created: now.advanced(bySeconds: seconds))
            let result = Result { () throws(ReceiptError) in try receiver.receive(bytes, at: now) }
            switch result {
            case .success: #expect(error == nil, "\(seconds)")
            case .failure(let found): #expect(found == error, "\(seconds)")
            }
        }
    }

    @Test("the receiver counts the reasons of later versions together") func laterReasons() throws {
        let request = ReceiptKey(of: sender, for: "com.example.app").request(phone.recipient, to: address)
        let counts = [UInt16](repeating: 0, count: 17) + [UInt16](repeating: 2, count: 8)
        let bytes = ReceiptBody(
            id: request.id, number: Array(0..<16), created: now, elapsedMilliseconds: .max, counts: counts
        ).bytes(key: request.key)
        let receipt = try ReceiptReceiver(keys: [ReceiptKey(of: sender, for: "com.example.app")]).receive(
            bytes, at: now)
        #expect(receipt.failures.isEmpty)
        #expect(receipt.otherFailureCount == 16)
    }

    @Test("content that is sealed without an address or a sender contains no receipt request") func without() throws {
        #expect(try opened(sealer(receipts: nil)).receipt == nil)
        var content = Content(body: "Hello")
        content.receipt = ReceiptKey(of: sender, for: "com.example.app").request(phone.recipient, to: address)
        let anonymous = Sealer(anonymousFor: "com.example.app", safeDefault: "New")
        #expect(try opened(anonymous, content).receipt == nil)
        // Content that has its own receipt request is left unchanged.
        let other = ReceiptKey(of: SenderPrivateKey(), for: "com.example.app").request(phone.recipient, to: address)
        content.receipt = other
        #expect(try opened(sealer(receipts: address), content).receipt == other)
    }

    @Test("a receipt request takes at most as many bytes of a push as documented") func size() throws {
        var content = Content(body: "Hello")
        let before = content.json.count
        content.receipt = ReceiptKey(of: sender, for: "com.example.app").request(phone.recipient, to: address)
        #expect(content.json.count - before == 103 + address.description.utf8.count)
    }
}
