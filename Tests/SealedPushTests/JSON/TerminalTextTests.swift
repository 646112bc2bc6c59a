import Foundation
import PushCore
import SealedPush
import Testing

@Suite("Text for a terminal")
struct TerminalTextTests {
    private static let unsafe: [UInt32] = [
        0x1b, 0x7f, 0x9b, 0x61c, 0x200e, 0x200f, 0x2028, 0x202e, 0x2066, 0x2069, 0x206f, 0xfeff, 0xfff9, 0xfffb,
        0xe0000,
        0xe0001, 0xe0041, 0xe007f, 0xe0080, 0xe01f0, 0xe0fff,
    ]

    @Test("lets nothing through that turns a line around, hides a text or moves a cursor", arguments: unsafe)
    func hidden(_ value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        #expect(TerminalText.printable("a\(scalar)b") == "a b")
    }

    @Test("escapes such characters in JSON, which means the same", arguments: unsafe.filter { $0 > 0x1f })
    func json(_ value: UInt32) throws {
        let text = "a\(try #require(Unicode.Scalar(value)))b"
        let escaped = TerminalText.json("[\"\(text)\"]")
        #expect(escaped.unicodeScalars.allSatisfy { $0.isASCII })
        #expect(try JSONDecoder().decode([String].self, from: Data(escaped.utf8)) == [text])
    }

    @Test("leaves letters of every script, accents and emoji as they are")
    func kept() {
        for text in ["Zoë ﷽ 日本語 नमस्ते", "👩‍👧‍👦 ❤️", "\u{200b}\u{200d}", "葛\u{e0100}城"] {
            #expect(TerminalText.printable(text) == text)
        }
    }

    @Test("a braille pattern without a dot shows nothing; one with a dot does")
    func braille() {
        #expect(!VisibleText.isVisible("\u{2800}"))
        #expect(!VisibleText.isVisible(" \u{2800}\u{2800}\u{200d}"))
        #expect(VisibleText.isVisible("\u{2800}\u{2801}"))
    }
}
