import Foundation
import PushService
import TestSupport
import Testing

@testable import PushSimulator

@Suite("The example DailyQuote, the file an app would ship", .serialized, .blocking) struct DailyQuoteTests {
    private let phone: ExamplePhone

    init() throws { phone = try ExamplePhone(running: "daily-quote-example") }

    private let content = """
        {"alert":{"title":"{{name}}","subtitle":"For {{name|you}}","body":"{{quote}}"},"template":true}
        """

    @Test("the example DailyQuote shows what the app has left for it, and its own text as long as there is nothing")
    func quote() throws {
        let first = try phone.show(content)
        #expect(first["outcome"] as? String == "opened")
        #expect(first["title"] is NSNull)
        #expect(first["subtitle"] as? String == "For you")
        #expect(first["body"] as? String == "Your quote for today is here.")
        // As the app does it.
        let values = try #require(SharedValues(container: .folder(phone.state)))
        try values.replaceAll(with: ["quote": "Less, but better.", "name": "Nina"])
        let second = try phone.show(content)
        #expect(second["title"] as? String == "Nina")
        #expect(second["subtitle"] as? String == "For Nina")
        #expect(second["body"] as? String == "Less, but better.")
        let memory = try #require(second["peakMemoryBytes"] as? Int)
        print("DailyQuote: \(memory) bytes of memory, \(second["elapsedMilliseconds"] ?? "-") ms")
        #expect(memory < 8_000_000 || !ProcessMemory.isMeaningful)
    }

    @Test("the example DailyQuote shows braces as they are in a message that is no template") func noTemplate() throws {
        #expect(try phone.show(#"{"alert":{"body":"{{quote}}"}}"#)["body"] as? String == "{{quote}}")
    }
}
