import Foundation
import Testing

@testable import PushCore
@testable import SealedPush

/// Specification 3.6.4.
@Suite("An anonymous envelope")
struct AnonymousTests {
    private let exchange = Exchange()

    private func open(_ change: (inout Content) -> Void) throws -> OpenedContent {
        try exchange.opener(allowsAnonymous: true)
            .open(exchange.sealAnonymously(exchange.content(change)), at: exchange.now)
    }

    @Test("is refused unless the app has allowed it")
    func notAllowed() {
        let envelope = exchange.sealAnonymously(exchange.content())
        #expect(refusal(exchange.opener(), envelope) == .anonymousNotAllowed)
        #expect(refusal(exchange.opener(allowsAnonymous: true), envelope) == nil)
        #expect(refusal(exchange.opener(trusting: [], allowsAnonymous: true), envelope) == nil)
    }

    @Test("has no sender, and leaves the ordinary parts as they are")
    func ordinary() throws {
        let content = exchange.content { content in
            content.badge = 4
            content.sound = .named("bell.caf")
            content.data = [1]
            content.other = ["new": 1]
            content.relevanceScore = 1
        }
        let opened = try exchange.opener(allowsAnonymous: true)
            .open(exchange.sealAnonymously(content), at: exchange.now)
        #expect(opened.sender == nil)
        #expect(opened.content == content)
        #expect(opened.recipient == exchange.identity.recipient)
    }

    @Test("is never above active")
    func level() throws {
        let levels: [(Content.InterruptionLevel?, Content.InterruptionLevel?)] = [
            (nil, nil), (.passive, .passive), (.active, .active), (.timeSensitive, .active), (.critical, .active),
        ]
        for (sealed, shown) in levels {
            #expect(try open { $0.interruptionLevel = sealed }.content.interruptionLevel == shown)
        }
    }

    @Test("has its critical sound played as an ordinary one")
    func sound() throws {
        let opened = try open { $0.sound = .critical(name: "bell.caf", volume: 1) }
        #expect(opened.content.sound == .named("bell.caf"))
    }

    @Test("has all dropped that fetches, tells or draws, which an authenticated one keeps")
    func reserved() throws {
        let file = RemoteFile(
            url: URL(string: "https://example.com/f")!, byteCount: 141, hash: [UInt8](repeating: 1, count: 32),
            key: AttachmentKey())
        let add: (inout Content) -> Void = { content in
            content.attachments = [Content.Attachment(id: "a", file: file, type: .png)]
            content.overflow = Overflow(file: file)
            content.chart = PushChart(.line, points: [1])
            content.isTemplate = true
            content.receipt = ReceiptRequest(
                address: ReceiptAddress(parsing: "https://example.com/r")!,
                id: ReceiptID([UInt8](repeating: 1, count: 16)), key: [UInt8](repeating: 1, count: 32))
        }
        let content = try open(add).content
        #expect(content.attachments.isEmpty && content.overflow == nil && content.chart == nil)
        #expect(content.receipt == nil && !content.isTemplate && content.other == [:])
        let envelope = exchange.seal(exchange.content(add))
        let authenticated = try exchange.opener().open(envelope, at: exchange.now).content
        #expect(authenticated.attachments.count == 1 && authenticated.overflow?.file == file)
        #expect(authenticated.chart != nil && authenticated.receipt != nil && authenticated.isTemplate)
    }
}
