import Foundation
import Testing

@testable import PushCore
@testable import SealedPush

/// Specification 6.1.
@Suite("An opener") struct OpenerTests {
    private let exchange = Exchange()

    @Test("An opener opens a trusted sender's message, and reports the sender and the key") func opens() throws {
        let content = exchange.content { $0.data = ["a": 1] }
        let envelope = try Envelope(parsing: exchange.seal(content).text)
        let opened = try exchange.opener().open(envelope, at: exchange.now)
        #expect(opened.content == content)
        #expect(opened.id == content.id)
        #expect(opened.topic == Exchange.topic)
        #expect(opened.sent == exchange.now)
        #expect(opened.sender == exchange.senderKey.sender)
        #expect(opened.recipient == exchange.identity.recipient)
    }

    @Test("An opener does not trust a store that returns keys that do not match") func carelessStore() {
        let store = FixedKeyStore(keys: [DeviceKey(DevicePrivateKey(), created: exchange.now)])
        #expect(refusal(exchange.opener(keys: store), exchange.seal(exchange.content())) == .unknownRecipient)
    }

    @Test("An opener reports whether the key store is locked or otherwise unavailable") func stores() {
        let envelope = exchange.seal(exchange.content())
        #expect(refusal(exchange.opener(keys: FixedKeyStore(error: .locked)), envelope) == .locked)
        let broken = FixedKeyStore(error: .unavailable("disk"))
        #expect(refusal(exchange.opener(keys: broken), envelope) == .keysUnavailable)
    }

    @Test("An opener follows the Specification's order: the first step that fails decides") func order() throws {
        let stranger = Exchange()
        var altered = exchange.seal(exchange.content()).bytes
        altered[altered.count - 1] ^= 1
        let broken = try Envelope(parsing: altered)
        let locked = exchange.opener(keys: FixedKeyStore(error: .locked), trusting: [])
        #expect(refusal(locked, broken) == .locked)
        #expect(refusal(locked, Envelope.sealingAnonymously([1], to: exchange.identity.recipient)) == .locked)
        #expect(refusal(exchange.opener(trusting: []), stranger.seal([1])) == .unknownRecipient)
        #expect(refusal(exchange.opener(), stranger.sealAnonymously(stranger.content())) == .unknownRecipient)
        #expect(refusal(exchange.opener(trusting: []), broken) == .unknownSender)
        #expect(refusal(exchange.opener(), broken) == .rejected)
        let box = Envelope.sealingAnonymously([0], to: exchange.identity.recipient)
        #expect(refusal(exchange.opener(), box) == .anonymousNotAllowed)
        #expect(refusal(exchange.opener(allowsAnonymous: true), box) == .malformedContent)
    }

    @Test("Many tasks can use an opener at the same time") func tasks() async {
        let opener = exchange.opener()
        let envelopes = (0..<20).map { _ in exchange.seal(exchange.content()) }
        let opened = await withTaskGroup(of: Bool.self) { group in
            for envelope in envelopes { group.addTask { refusal(opener, envelope) == nil } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(opened == 20)
    }

    @Test("An opener's refusals have stable codes") func codes() {
        #expect(
            OpenError.allCases.map(\.description) == [
                "malformed", "unknown-suite", "unknown-recipient", "locked", "keys-unavailable", "unknown-sender",
                "anonymous-not-allowed",
                "rejected", "malformed-content", "topic", "key-retired", "clock", "too-old", "expired", "replayed",
                "ledger-unavailable",
                "out-of-time",
            ])
    }
}

@Suite("An envelope that was altered on its way") struct TamperingTests {
    private let exchange = Exchange()

    /// A short envelope, so that each of its bits can be tried.
    private func short() -> Envelope { exchange.seal(exchange.content().json + [0x80]) }

    @Test("An envelope does not open with any single bit changed", arguments: [true, false])
    func everyBit(isAuthenticated: Bool) {
        let envelope =
            isAuthenticated
            ? short() : Envelope.sealingAnonymously(exchange.content().json + [0x80], to: exchange.identity.recipient)
        let opener = exchange.opener(allowsAnonymous: true)
        #expect(refusal(opener, envelope) == nil)
        for bit in 0..<envelope.bytes.count * 8 {
            var bytes = envelope.bytes
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            guard let altered = try? Envelope(parsing: bytes) else { continue }
            let expected: OpenError =
                switch bit / 8 {
                case 1..<5: .unknownRecipient
                case 5..<9 where isAuthenticated: .unknownSender
                // The hints are computed over `enc`.
                case 9..<41 where isAuthenticated, 5..<37 where !isAuthenticated: .unknownRecipient
                default: .rejected
                }
            // The suite's own bits select the other suite, under which it doesn't open.
            if bit / 8 > 0 {
                #expect(refusal(opener, altered) == expected)
            } else {
                #expect(refusal(opener, altered) != nil)
            }
        }
    }
}

/// Specification 3.6.4.
@Suite("An anonymous envelope") struct AnonymousTests {
    private let exchange = Exchange()

    private func open(_ change: (inout Content) -> Void) throws -> OpenedContent {
        try exchange.opener(allowsAnonymous: true)
            .open(exchange.sealAnonymously(exchange.content(change)), at: exchange.now)
    }

    @Test("An anonymous message has no sender, and its ordinary parts are unchanged") func ordinary() throws {
        let content = exchange.content { content in
            content.badge = 4
            content.sound = .named("bell.caf")
            content.data = [1]
            content.other = ["new": 1]
            content.relevanceScore = 1
            content.disclosure = .generic
        }
        let opened = try exchange.opener(allowsAnonymous: true)
            .open(exchange.sealAnonymously(content), at: exchange.now)
        #expect(opened.sender == nil)
        #expect(opened.content == content)
        #expect(opened.recipient == exchange.identity.recipient)
    }

    @Test("An anonymous message is never above active") func level() throws {
        let levels: [(Content.InterruptionLevel?, Content.InterruptionLevel?)] = [
            (nil, nil), (.passive, .passive), (.active, .active), (.timeSensitive, .active), (.critical, .active),
        ]
        for (sealed, shown) in levels {
            #expect(try open { $0.interruptionLevel = sealed }.content.interruptionLevel == shown)
        }
    }

    @Test("An anonymous message can't pass a Focus filter, which an authenticated one can") func filterCriteria() throws
    {
        let opened = try open { ($0.filterCriteria, $0.targetContentID) = ("friends", "room-7") }
        #expect(opened.content.filterCriteria == nil && opened.content.targetContentID == "room-7")
        let content = exchange.content { $0.filterCriteria = "friends" }
        let authentic = try exchange.opener().open(exchange.seal(content), at: exchange.now)
        #expect(authentic.content.filterCriteria == "friends")
    }

    @Test("An anonymous message's critical sound becomes an ordinary one") func sound() throws {
        let opened = try open { $0.sound = .critical(name: "bell.caf", volume: 1) }
        #expect(opened.content.sound == .named("bell.caf"))
    }

    @Test("An anonymous message loses all parts that fetch, report, or draw, which an authenticated one keeps")
    func reserved() throws {
        let file = RemoteFile(
            url: URL(string: "https://example.com/f")!, byteCount: 141, hash: [UInt8](repeating: 1, count: 32),
            key: AttachmentKey())
        let add: (inout Content) -> Void = { content in
            content.attachments = [Content.Attachment(id: "a", file: file, type: .png)]
            content.overflow = Overflow(file: file)
            content.chart = PushChart(.line, points: [1])
            content.isTemplate = true
            content.person = Content.Person(name: "Nina", id: "user-17")
            content.group = Content.Group(name: "Lunch club")
            content.alert.titleTranslation = Content.Translation(key: "FROM", arguments: ["Nina"])
            content.alert.subtitleTranslation = Content.Translation(key: "TODAY")
            content.alert.bodyTranslation = Content.Translation(key: "LUNCH")
            content.receipt = ReceiptRequest(
                address: ReceiptAddress(parsing: "https://example.com/r")!,
                id: ReceiptID([UInt8](repeating: 1, count: 16)), key: [UInt8](repeating: 1, count: 32))
        }
        let content = try open(add).content
        #expect(content.attachments.isEmpty && content.overflow == nil && content.chart == nil)
        #expect(content.receipt == nil && !content.isTemplate && content.other == [:])
        #expect(content.alert.titleTranslation == nil && content.alert.subtitleTranslation == nil)
        #expect(content.alert.bodyTranslation == nil && content.person == nil && content.group == nil)
        let envelope = exchange.seal(exchange.content(add))
        let authenticated = try exchange.opener().open(envelope, at: exchange.now).content
        #expect(authenticated.attachments.count == 1 && authenticated.overflow?.file == file)
        #expect(authenticated.chart != nil && authenticated.receipt != nil && authenticated.isTemplate)
        #expect(authenticated.alert.titleTranslation?.arguments == ["Nina"])
        #expect(authenticated.group?.name == "Lunch club")
    }
}

@Suite("Content that lay in a file") struct WholeContentTests {
    private let exchange = Exchange()
    private let receipt = ReceiptRequest(
        address: ReceiptAddress(parsing: "https://push.example.com/r")!, id: ReceiptID(Array(0..<16)),
        key: Array(100..<132))

    private func opened(_ change: (inout Content) -> Void = { _ in }) throws -> OpenedContent {
        try exchange.opener().open(exchange.seal(exchange.content(change)), at: exchange.now)
    }

    /// Returns the whole content of a message, with changes.
    private func whole(of opened: OpenedContent, _ change: (inout Content) -> Void = { _ in }) -> [UInt8] {
        var content = opened.content
        content.alert.body = "The whole message"
        content.receipt = nil
        change(&content)
        return content.json
    }

    @Test("The whole content replaces the push's content, and keeps everything else") func completes() throws {
        let opened = try opened { $0.receipt = receipt }
        let completed = try #require(opened.completed(by: whole(of: opened)))
        #expect(completed.content.alert.body == "The whole message")
        #expect(completed.content.receipt == receipt)
        #expect(completed.id == opened.id && completed.topic == opened.topic && completed.sent == opened.sent)
        #expect(completed.sender == opened.sender && completed.ledgerKey == opened.ledgerKey)
    }

    @Test("The whole content is rejected if it belongs to another message, app, or time, or isn't content")
    func others() throws {
        let opened = try opened()
        #expect(opened.completed(by: whole(of: opened)) != nil)
        #expect(opened.completed(by: whole(of: opened) { $0.id = .random() }) == nil)
        #expect(opened.completed(by: whole(of: opened) { $0.topic = "com.example.other" }) == nil)
        #expect(opened.completed(by: whole(of: opened) { $0.sent = exchange.now.advanced(bySeconds: 1) }) == nil)
        #expect(opened.completed(by: []) == nil)
        let withdrawing = whole(of: opened) { $0.withdrawal = Content.Withdrawal(.thread("nina")) }
        #expect(opened.completed(by: withdrawing) == nil)
        // It has opened with the first part, so an end of its own changes nothing.
        let ended = whole(of: opened) { $0.expires = exchange.now.advanced(bySeconds: -86_400) }
        #expect(opened.completed(by: ended) != nil)
    }

    @Test("The whole content is as private as the stricter of both parts") func disclosure() throws {
        for first in Content.Disclosure.allCases {
            let opened = try opened { $0.disclosure = first }
            for second in Content.Disclosure.allCases {
                let json = whole(of: opened) { $0.disclosure = second }
                #expect(try #require(opened.completed(by: json)).content.disclosure == max(first, second))
            }
        }
    }

    @Test("The whole content names no further file, and has no receipt of its own") func nested() throws {
        let opened = try opened()
        let file = RemoteFile(
            url: URL(string: "https://example.com/file")!, byteCount: 141, hash: [UInt8](repeating: 1, count: 32),
            key: AttachmentKey())
        let json = whole(of: opened) {
            $0.overflow = Overflow(file: file)
            $0.receipt = receipt
        }
        let completed = try #require(opened.completed(by: json))
        #expect(completed.content.overflow == nil)
        #expect(completed.content.receipt == nil)
    }
}
