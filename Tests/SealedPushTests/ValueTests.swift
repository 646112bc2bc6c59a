import Foundation
import PushCore
import TestSupport
import Testing

@testable import SealedPush

@Suite("Hexadecimal text") struct HexTests {
    @Test("Hexadecimal text is lowercase, and comes back as the same bytes") func roundTrip() {
        let bytes = [UInt8](0...255)
        #expect(Hex.encode([0x00, 0x0f, 0xa5, 0xff]) == "000fa5ff")
        #expect(Hex.decode(Hex.encode(bytes)) == bytes)
        #expect(Hex.decode(Hex.encode(bytes).uppercased()) == bytes)
        #expect(Hex.decode("") == [])
    }

    @Test(
        "Hexadecimal text of odd length or with other characters is rejected",
        arguments: ["0", "0g", "g0", " 0", "0x", "-1", "٠٠", "é"])
    func refused(text: String) { #expect(Hex.decode(text) == nil) }
}

/// Specification 2.5.
@Suite("base64url") struct Base64URLTests {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

    @Test("base64url has RFC 4648's results, without their padding") func rfc4648() {
        let answers = [
            "": "", "f": "Zg", "fo": "Zm8", "foo": "Zm9v", "foob": "Zm9vYg", "fooba": "Zm9vYmE", "foobar": "Zm9vYmFy",
        ]
        for (bytes, text) in answers {
            #expect(Base64URL.encode(Array(bytes.utf8)) == text)
            #expect(decode(text) == Array(bytes.utf8))
        }
        #expect(Base64URL.encode([0xfb, 0xff, 0xbf]) == "-_-_")
    }

    @Test("base64url comes back at every length from 0 to 100, and agrees with Foundation") func everyLength() {
        var random = SeededGenerator()
        for count in 0...100 {
            let bytes = random.bytes(count)
            let text = Base64URL.encode(bytes)
            let theirs = Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")
            #expect(text == theirs)
            #expect(decode(text) == bytes)
            #expect(text.utf8.count == Base64URL.textByteCount(of: count))
            #expect(Base64URL.byteCount(fitting: text.utf8.count) == count)
        }
    }

    @Test("base64url with a last character whose unused bits are not zero is rejected, for every such character")
    func lastCharacter() {
        for (value, character) in Self.alphabet.enumerated() {
            #expect((decode("A\(character)") != nil) == value.isMultiple(of: 16))
            #expect((decode("AA\(character)") != nil) == value.isMultiple(of: 4))
            #expect(decode("AAA\(character)") == [0, 0, UInt8(value)])
        }
    }

    @Test("base64url with any byte outside the alphabet is rejected, wherever it is") func otherBytes() {
        let allowed = Set(String(Self.alphabet).utf8)
        var refused = 0
        for byte in 0...255 as ClosedRange<UInt8> where !allowed.contains(byte) {
            for place in 0..<8 {
                var text = Array("AAAAAAAA".utf8)
                text[place] = byte
                #expect(Base64URL.decode(text) == nil)
            }
            refused += 1
        }
        #expect(refused == 192)
    }

    @Test(
        "base64url with padding, white space, line ends, or the other alphabet is rejected",
        arguments: [
            "Zg==", "Zg=", "Zm8=", "Zm9v=", "=", " Zm9v", "Zm9v ", "Zm9v\n", "Zm\r\n9v", "Zm 9v", "+_8A", "-/8A",
            "Zm9v\0",
            "Ｚm9v", "Zm9vé",
        ])
    func strict(text: String) { #expect(decode(text) == nil) }

    private func decode(_ text: String) -> [UInt8]? { Base64URL.decode(text.utf8) }
}

@Suite("A timestamp") struct TimestampTests {
    private static let maximum: Int64 = 253_402_300_799

    @Test("A timestamp is between 1970 and the end of the year 9999", arguments: [0, 1, maximum])
    func inside(seconds: Int64) { #expect(Timestamp(secondsSince1970: seconds)?.secondsSince1970 == seconds) }

    @Test("A timestamp outside the range is rejected", arguments: [-1, maximum + 1, .min, .max])
    func outside(seconds: Int64) { #expect(Timestamp(secondsSince1970: seconds) == nil) }

    @Test("A timestamp moved beyond its range stays at its end, even if the sum would overflow") func moving() throws {
        let start = try #require(Timestamp(secondsSince1970: 1_000))
        let moves: [(by: Int64, to: Int64)] = [
            (0, 1_000), (1, 1_001), (-1_000, 0), (-1_001, 0), (.min, 0), (.max, Self.maximum),
            (Self.maximum, Self.maximum),
        ]
        for move in moves { #expect(start.advanced(bySeconds: move.by).secondsSince1970 == move.to) }
    }

    @Test("Timestamps can be subtracted and compared") func difference() throws {
        let first = try #require(Timestamp(secondsSince1970: 0))
        let last = try #require(Timestamp(secondsSince1970: Self.maximum))
        #expect(last.seconds(since: first) == Self.maximum)
        #expect(first.seconds(since: last) == -Self.maximum)
        #expect(first < last && !(last < first) && !(first < first))
    }

    @Test("The current time is in this century")
    func now() { #expect((1_700_000_000..<4_102_444_800).contains(Timestamp.now().secondsSince1970)) }
}

@Suite("A topic") struct TopicTests {
    @Test("A topic is 1 to 155 bytes of letters, digits, dots, and hyphens") func allowed() {
        for text in ["a", "com.example.App-2", ".", "-", String(repeating: "z", count: 155)] {
            #expect(Topic(parsing: text)?.description == text)
        }
        for byte in 0...127 as ClosedRange<UInt8> {
            let scalar = Unicode.Scalar(byte)
            let isAllowed =
                scalar.properties.isASCIIHexDigit || ("a"..."z").contains(scalar)
                || ("A"..."Z").contains(scalar) || scalar == "." || scalar == "-"
            #expect((Topic(parsing: "a\(scalar)b") != nil) == isAllowed)
        }
    }

    @Test("A topic that is empty, too long, or has another character is rejected") func refused() {
        for text in [
            "", String(repeating: "z", count: 156), "com.example.äpp", "a b", "a_b", "com.example\n", "\u{212a}",
        ] {
            #expect(Topic(parsing: text) == nil)
        }
    }

    @Test("Topics are compared exactly: case matters")
    func exact() { #expect(Topic(parsing: "com.Example") != Topic(parsing: "com.example")) }

    @Test("An invalid topic in the source stops the program") func literal() async {
        await #expect(processExitsWith: .failure) {
            dieQuietly()
            _ = "not a topic" as Topic
        }
    }
}

@Suite("A message ID") struct MessageIDTests {
    private static let text = "0123abcd-4567-4abc-8def-0123456789ab"

    @Test("A message ID is read as it is written, in any version") func roundTrip() throws {
        for text in [Self.text, "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"] {
            let id = try #require(MessageID(parsing: text))
            #expect(id.description == text)
        }
        let places = Self.text.indices.filter { Self.text[$0] != "-" }
        #expect(places.count == 32)
        for place in places {
            for digit in "0123456789abcdef" {
                let text = Self.text[..<place] + [digit] + Self.text[place...].dropFirst()
                #expect(MessageID(parsing: String(text))?.description == String(text))
            }
        }
        #expect(MessageID(parsing: Self.text) != MessageID(parsing: "0123abcd-4567-4abc-8def-0123456789ac"))
    }

    @Test("A message ID is random with the shape of a UUID version 4") func random() {
        let ids = (0..<200).map { _ in MessageID.random() }
        #expect(Set(ids).count == 200)
        for id in ids { expectShape(id, version: "4") }
        for index in [0, 20, 35] { #expect(Set(ids.map { Array($0.description)[index] }).count > 4) }
    }

    @Test("A custom message ID has the shape of a UUID version 8 and keeps all other bits") func version8() throws {
        for bytes in [[UInt8](repeating: 0, count: 16), [UInt8](repeating: 0xff, count: 16), Array(0..<16)] {
            let id = bytes.withUnsafeBytes { MessageID(bytes: $0, version: 8) }
            expectShape(id, version: "8")
            var expected = bytes
            expected[6] = expected[6] & 0x0f | 0x80
            expected[8] = expected[8] & 0x3f | 0x80
            #expect(Hex.decode(id.description.filter { $0 != "-" }) == expected)
            #expect(MessageID(parsing: id.description) == id)
        }
    }

    private func expectShape(_ id: MessageID, version: Character) {
        let text = Array(id.description)
        #expect(text.count == 36)
        #expect([8, 13, 18, 23].allSatisfy { text[$0] == "-" })
        #expect(text[14] == version)
        #expect("89ab".contains(text[19]))
        #expect(MessageID(parsing: id.description) == id)
    }

    @Test("A message ID with any other character in any place is rejected, even capitals") func everyPlace() {
        for index in Self.text.indices {
            for character in ["g", "A", "F", " ", "-", "0", "é"] {
                var altered = Self.text
                altered.replaceSubrange(index...index, with: character)
                let isHyphen = Self.text[index] == "-"
                #expect((MessageID(parsing: altered) != nil) == (isHyphen ? character == "-" : character == "0"))
            }
        }
    }

    @Test(
        "A message ID of another form is rejected",
        arguments: [
            "", "0123abcd45674abc8def0123456789ab", "{0123abcd-4567-4abc-8def-0123456789ab}", text.uppercased(),
            text + "0", " " + text, text + "\n", String(text.dropLast()), "0123abcd4-567-4abc-8def-0123456789ab",
        ])
    func refused(text: String) { #expect(MessageID(parsing: text) == nil) }
}

@Suite("Text for a terminal") struct TerminalTextTests {
    private static let unsafe: [UInt32] = [
        0x1b, 0x7f, 0x9b, 0x61c, 0x200e, 0x200f, 0x2028, 0x202e, 0x2066, 0x2069, 0x206f, 0xfeff, 0xfff9, 0xfffb,
        0xe0000, 0xe0001, 0xe0041, 0xe007f, 0xe0080, 0xe01f0, 0xe0fff,
    ]

    @Test("Terminal text has no characters that change direction, hide text, or move the cursor", arguments: unsafe)
    func hidden(_ value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        #expect(TerminalText.printable("a\(scalar)b") == "a b")
    }

    @Test("Such characters are escaped in JSON, which keeps its meaning", arguments: unsafe.filter { $0 > 0x1f })
    func json(_ value: UInt32) throws {
        let text = "a\(try #require(Unicode.Scalar(value)))b"
        let escaped = TerminalText.json("[\"\(text)\"]")
        #expect(escaped.unicodeScalars.allSatisfy { $0.isASCII })
        #expect(try JSONDecoder().decode([String].self, from: Data(escaped.utf8)) == [text])
    }

    @Test("Letters of every script, accents, and emoji are unchanged") func kept() {
        for text in ["Zoë ﷽ 日本語 नमस्ते", "👩‍👧‍👦 ❤️", "\u{200b}\u{200d}", "葛\u{e0100}城"] {
            #expect(TerminalText.printable(text) == text)
        }
    }
}
