import Testing

@testable import PushCrypto
@testable import SealedPush

/// Specification 7.2.
@Suite("A ledger key")
struct LedgerKeyTests {
    private let exchange = Exchange()

    private func ledgerKey(_ envelope: Envelope) throws -> [UInt8] {
        try exchange.opener(allowsAnonymous: true).open(envelope, at: exchange.now).ledgerKey
    }

    @Test("of an authenticated envelope is the Specification's hash")
    func authenticated() throws {
        let envelope = exchange.seal(exchange.content(), number: 0x0102_0304)
        let bytes =
            [0x01] + exchange.identity.recipient.bytes + exchange.senderKey.sender.bytes
            + envelope.bytes[9..<45]
        #expect(Array(envelope.bytes[41..<45]) == [1, 2, 3, 4])
        #expect(try ledgerKey(envelope) == BLAKE2b.hash(bytes, byteCount: 32))
    }

    @Test("of an anonymous envelope is the Specification's hash")
    func anonymous() throws {
        let envelope = exchange.sealAnonymously(exchange.content())
        let bytes = [0x02] + exchange.identity.recipient.bytes + envelope.bytes[5...]
        #expect(try ledgerKey(envelope) == BLAKE2b.hash(bytes, byteCount: 32))
    }

    @Test("is the same for each copy of an envelope")
    func copies() throws {
        for envelope in [exchange.seal(exchange.content()), exchange.sealAnonymously(exchange.content())] {
            #expect(try ledgerKey(envelope) == ledgerKey(Envelope(parsing: envelope.text)))
        }
    }

    @Test("differs between messages, also with the same content")
    func messages() throws {
        let content = exchange.content()
        let context = exchange.context()
        let inOneContext = (0..<10).map { number in
            Envelope.sealing(
                exchange.padded(content.json), to: exchange.identity.recipient, from: exchange.senderKey.sender,
                in: context,
                sequenceNumber: number)
        }
        let envelopes =
            inOneContext + [exchange.seal(content), exchange.seal(content), exchange.sealAnonymously(content)]
        #expect(try Set(envelopes.map(ledgerKey)).count == 13)
    }

    @Test("is one for one number of one context, whatever was sealed under it")
    func sameNumber() throws {
        let context = exchange.context()
        let keys = try ["a", "b"].map { body in
            try ledgerKey(
                Envelope.sealing(
                    exchange.padded(exchange.content { $0.alert.body = body }.json), to: exchange.identity.recipient,
                    from: exchange.senderKey.sender, in: context, sequenceNumber: 5))
        }
        #expect(keys[0] == keys[1])
    }
}
