import PushCore
import Testing

@testable import SealedPush

@Suite("A message ID")
struct MessageIDTests {
    private static let text = "0123abcd-4567-4abc-8def-0123456789ab"

    @Test("is read as it is written, in any version")
    func roundTrip() throws {
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

    @Test("is random with the shape of a UUID version 4")
    func random() {
        let ids = (0..<200).map { _ in MessageID.random() }
        #expect(Set(ids).count == 200)
        for id in ids { expectShape(id, version: "4") }
        for index in [0, 20, 35] { #expect(Set(ids.map { Array($0.description)[index] }).count > 4) }
    }

    @Test("of our own making has the shape of a UUID version 8 and keeps all other bits")
    func version8() throws {
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

    @Test("with any other character at any place is refused, capitals too")
    func everyPlace() {
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
        "of another form is refused",
        arguments: [
            "", "0123abcd45674abc8def0123456789ab", "{0123abcd-4567-4abc-8def-0123456789ab}", text.uppercased(),
            text + "0", " " + text, text + "\n", String(text.dropLast()), "0123abcd4-567-4abc-8def-0123456789ab",
        ])
    func refused(text: String) { #expect(MessageID(parsing: text) == nil) }
}
