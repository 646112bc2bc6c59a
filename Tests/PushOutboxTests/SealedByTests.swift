import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushOutbox

@Suite("Purging by sender key", .overForms) struct SealedByTests {
    private let fixture: Fixture
    private let other = SenderPrivateKey()

    init() async throws { fixture = try await Fixture() }

    private func enqueue(by sealer: Sealer, _ count: Int) async throws {
        for number in 0..<count {
            try await fixture.outbox.enqueue(
                OutgoingMessage(Content(body: "Hello \(number)")), to: .device("phone"), from: sealer,
                includingUnverified: true)
        }
    }

    @Test("the sender keys of waiting pushes and dead letters are counted, even after a retry") func told() async throws
    {
        try await fixture.addDevice("phone")
        try await enqueue(by: fixture.sealer, 1)
        try await fixture.deliver(ScriptedTransport(refusing: 413, "PayloadTooLarge"), until: .empty)
        try await enqueue(by: Sealer(sender: other, topic: Fixture.topic, safeDefault: "You have a new message!"), 2)
        try await enqueue(by: Sealer(anonymousFor: Fixture.topic, safeDefault: "You have a new message!"), 1)
        let own = SealedBy.sender(fixture.sender.sender)
        var status = try await fixture.reopened().status()
        #expect(status.waitingBySender == [.sender(other.sender): 2, .anonymous: 1])
        #expect(status.deadLettersBySender == [own: 1])
        #expect(try await fixture.outbox.retry() == 1)
        status = try await fixture.outbox.status()
        #expect(status.waitingBySender == [.sender(other.sender): 2, .anonymous: 1, own: 1])
        #expect(status.deadLettersBySender.isEmpty)
    }

    @Test("a purge after a theft deletes exactly the pushes of the stolen key") func purged() async throws {
        try await fixture.addDevice("phone")
        let others = Sealer(sender: other, topic: Fixture.topic, safeDefault: "You have a new message!")
        try await enqueue(by: others, 1)
        try await fixture.deliver(ScriptedTransport(refusing: 413, "PayloadTooLarge"), until: .empty)
        try await enqueue(by: fixture.sealer, 2)
        try await enqueue(by: others, 1_003)
        #expect(try await fixture.outbox.purge(.sealed(by: .sender(SenderPrivateKey().sender))) == 0)
        #expect(try await fixture.outbox.purge(.sealed(by: .sender(other.sender))) == 1_004)
        let status = try await fixture.outbox.status()
        #expect(status.waitingBySender == [.sender(fixture.sender.sender): 2])
        #expect(status.deadLettersBySender.isEmpty)
        #expect(try await fixture.deliver(until: .empty).acceptedCount == 2)
    }

    @Test("a sender key is parsed from its description") func text() throws {
        for sealedBy in [SealedBy.sender(other.sender), .anonymous] {
            #expect(SealedBy(parsing: sealedBy.description) == sealedBy)
        }
        for text in ["", "unknown", DevicePrivateKey().recipient.description] {
            #expect(SealedBy(parsing: text) == nil)
        }
    }
}
