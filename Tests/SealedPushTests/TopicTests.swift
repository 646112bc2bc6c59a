import TestSupport
import Testing

@testable import SealedPush

@Suite("A topic")
struct TopicTests {
    @Test("is 1 to 155 bytes of letters, digits, dots and hyphens")
    func allowed() {
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

    @Test("that is empty, too long or has another character is refused")
    func refused() {
        for text in [
            "", String(repeating: "z", count: 156), "com.example.äpp", "a b", "a_b", "com.example\n", "\u{212a}",
        ] {
            #expect(Topic(parsing: text) == nil)
        }
    }

    @Test("is compared exactly: case counts")
    func exact() { #expect(Topic(parsing: "com.Example") != Topic(parsing: "com.example")) }

    @Test("in the source that is unusable stops the program")
    func literal() async {
        await #expect(processExitsWith: .failure) {
            dieQuietly()
            _ = "not a topic" as Topic
        }
    }
}
