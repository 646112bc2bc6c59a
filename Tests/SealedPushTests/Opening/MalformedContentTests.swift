import Testing

@testable import SealedPush

/// Specification 4.3, 4.4 and 4.8: sealed for real by a trusted sender, and yet refused.
@Suite("Malformed content inside a sound envelope")
struct MalformedContentTests {
    private let exchange = Exchange()
    private static let required: [(key: String, member: String)] = [
        ("id", #""id":"0123abcd-4567-4abc-8def-0123456789ab""#), ("topic", #""topic":"com.example.app""#),
        ("sent", #""sent":1760000000"#), ("alert", #""alert":{"body":"x"}"#),
    ]

    private func outcome(_ plaintext: [UInt8]) -> OpenError? { refusal(exchange.opener(), exchange.seal(plaintext)) }

    private func outcome(json text: String) -> OpenError? { outcome(exchange.padded(Array(text.utf8))) }

    private func json(without missing: String? = nil, adding member: String? = nil) -> String {
        let members = Self.required.filter { $0.key != missing }.map(\.member) + (member.map { [$0] } ?? [])
        return "{" + members.joined(separator: ",") + "}"
    }

    @Test("is none where the content is right, padded to any length")
    func control() {
        let content = Array(json().utf8)
        #expect(outcome(json: json()) == nil)
        for zeros in [0, 1, 17, 1_000] {
            #expect(outcome(content + [0x80] + [UInt8](repeating: 0, count: zeros)) == nil)
        }
    }

    @Test("is padding that is not there, or around nothing")
    func padding() {
        let content = Array(json().utf8)
        for plaintext in [
            content, content + [0], content + [0x81], content + [0x80, 1], content + [0x80, 0x80], [0x80],
            [0x80, 0, 0],
            [0], [UInt8](repeating: 0, count: 256), [0x01],
        ] {
            #expect(outcome(plaintext) == .malformedContent)
        }
    }

    @Test("is anything that is no JSON object in UTF-8")
    func form() {
        for text in ["", "null", "[]", "{}", "\u{feff}" + json(), json() + "x", json() + json(), "{" + json()] {
            #expect(outcome(json: text) == .malformedContent)
        }
        for wrong in [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0x00]] as [[UInt8]] {
            let text = Array(json(adding: #""x":""#).utf8.dropLast()) + wrong + Array(#""}"#.utf8)
            #expect(outcome(exchange.padded(text)) == .malformedContent)
        }
    }

    @Test("is what lies more than 16 levels deep")
    func depth() {
        func nested(_ levels: Int) -> String {
            #""data":"# + String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        #expect(outcome(json: json(adding: nested(15))) == nil)
        #expect(outcome(json: json(adding: nested(16))) == .malformedContent)
        #expect(outcome(json: json(adding: #""data":"# + String(repeating: "[", count: 2_000))) == .malformedContent)
    }

    @Test("is what lacks a required key", arguments: ["id", "topic", "sent", "alert"])
    func missing(key: String) {
        #expect(outcome(json: json(without: key)) == .malformedContent)
        #expect(outcome(json: json(without: key, adding: "\"\(key)\":null")) == .malformedContent)
    }

    @Test("is a wrong value of a known key, but not of a reserved or an unknown one")
    func wrongValues() {
        for member in [#""badge":-1"#, #""sound":"""#, #""expires":null"#, #""interruption-level":"loud""#] {
            #expect(outcome(json: json(adding: member)) == .malformedContent)
        }
        for member in [#""receipt":null"#, #""chart":"x""#, #""attachments":-1"#, #""new":null"#] {
            #expect(outcome(json: json(adding: member)) == nil)
        }
    }

    @Test("is an alert that nobody can see")
    func invisible() {
        let invisible = json(without: "alert", adding: "\"alert\":{\"body\":\" \u{200b}\"}")
        #expect(outcome(json: invisible) == .malformedContent)
    }

    @Test("comes before the topic, also in an anonymous envelope")
    func anonymous() {
        let envelope = Envelope.sealingAnonymously([UInt8](repeating: 0, count: 64), to: exchange.identity.recipient)
        #expect(refusal(exchange.opener(allowsAnonymous: true), envelope) == .malformedContent)
    }
}
