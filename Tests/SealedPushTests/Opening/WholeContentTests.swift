import Foundation
import PushCore
import Testing

@testable import SealedPush

@Suite("Content that lay in a file")
struct WholeContentTests {
    private let exchange = Exchange()
    private let receipt = ReceiptRequest(
        address: ReceiptAddress(parsing: "https://push.example.com/r")!, id: ReceiptID(Array(0..<16)),
        key: Array(100..<132))

    private func opened(_ change: (inout Content) -> Void = { _ in }) throws -> OpenedContent {
        try exchange.opener().open(exchange.seal(exchange.content(change)), at: exchange.now)
    }

    /// The whole content of a message, with changes.
    private func whole(of opened: OpenedContent, _ change: (inout Content) -> Void = { _ in }) -> [UInt8] {
        var content = opened.content
        content.alert.body = "The whole message"
        content.receipt = nil
        change(&content)
        return content.json
    }

    @Test("takes the place of what was in the push, and keeps the rest of it")
    func completes() throws {
        let opened = try opened { $0.receipt = receipt }
        let completed = try #require(opened.completed(by: whole(of: opened)))
        #expect(completed.content.alert.body == "The whole message")
        #expect(completed.content.receipt == receipt)
        #expect(completed.id == opened.id && completed.topic == opened.topic && completed.sent == opened.sent)
        #expect(completed.sender == opened.sender && completed.ledgerKey == opened.ledgerKey)
    }

    @Test("is refused where it is another message's, another app's, of another time, or no content")
    func others() throws {
        let opened = try opened()
        #expect(opened.completed(by: whole(of: opened)) != nil)
        #expect(opened.completed(by: whole(of: opened) { $0.id = .random() }) == nil)
        #expect(opened.completed(by: whole(of: opened) { $0.topic = "com.example.other" }) == nil)
        #expect(opened.completed(by: whole(of: opened) { $0.sent = exchange.now.advanced(bySeconds: 1) }) == nil)
        #expect(opened.completed(by: []) == nil)
    }

    @Test("names no further file, and brings no receipt of its own")
    func nested() throws {
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
