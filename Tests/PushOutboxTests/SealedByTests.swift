import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushOutbox

@Suite("By whose key what waits was sealed", .overStores) struct SealedByTests {
    private let fixture: Fixture
    private let other = SenderPrivateKey()

    init() async throws { fixture = try await Fixture() }

    private func enqueue(by sealer: Sealer, _ count: Int) async throws {
        for number in 0..<count {
            try await fixture.outbox.enqueue(
                Content(body: "Hello \(number)"), to: .device("phone"), from: sealer, includingUnverified: true)
        }
    }

    @Test("is told, of what waits and of dead letters, through a retry, too") func told() async throws {
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

    @Test("decides what is thrown away after a theft, and nothing else is") func purged() async throws {
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

    @Test("is read as it is shown") func text() throws {
        for sealedBy in [SealedBy.sender(other.sender), .anonymous] {
            #expect(SealedBy(parsing: sealedBy.description) == sealedBy)
        }
        for text in ["", "unknown", DevicePrivateKey().recipient.description] {
            #expect(SealedBy(parsing: text) == nil)
        }
    }
}
