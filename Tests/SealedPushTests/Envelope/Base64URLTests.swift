import Foundation
import TestSupport
import Testing

@testable import SealedPush

/// Specification 2.5.
@Suite("base64url")
struct Base64URLTests {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

    @Test("gives RFC 4648's answers, without their padding")
    func rfc4648() {
        let answers = [
            "": "", "f": "Zg", "fo": "Zm8", "foo": "Zm9v", "foob": "Zm9vYg", "fooba": "Zm9vYmE", "foobar": "Zm9vYmFy",
        ]
        for (bytes, text) in answers {
            #expect(Base64URL.encode(Array(bytes.utf8)) == text)
            #expect(decode(text) == Array(bytes.utf8))
        }
        #expect(Base64URL.encode([0xfb, 0xff, 0xbf]) == "-_-_")
    }

    @Test("comes back at every length from 0 to 100, and agrees with Foundation")
    func everyLength() {
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

    @Test("with a last character whose unused bits are not zero is refused, every one")
    func lastCharacter() {
        for (value, character) in Self.alphabet.enumerated() {
            #expect((decode("A\(character)") != nil) == value.isMultiple(of: 16))
            #expect((decode("AA\(character)") != nil) == value.isMultiple(of: 4))
            #expect(decode("AAA\(character)") == [0, 0, UInt8(value)])
        }
    }

    @Test("with any byte outside the alphabet is refused, wherever it stands")
    func otherBytes() {
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
        "with padding, white space, line ends or the other alphabet is refused",
        arguments: [
            "Zg==", "Zg=", "Zm8=", "Zm9v=", "=", " Zm9v", "Zm9v ", "Zm9v\n", "Zm\r\n9v", "Zm 9v", "+_8A", "-/8A",
            "Zm9v\0",
            "Ｚm9v", "Zm9vé",
        ])
    func strict(text: String) { #expect(decode(text) == nil) }

    private func decode(_ text: String) -> [UInt8]? { Base64URL.decode(text.utf8) }
}
