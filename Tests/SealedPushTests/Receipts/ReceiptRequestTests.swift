import PushCore
import TestSupport
import Testing

@testable import SealedPush

@Suite("The receipt request in content") struct ReceiptRequestTests {
    private static let request = ReceiptRequest(
        address: ReceiptAddress(parsing: "https://push.example.com/r")!, id: ReceiptID(Array(0..<16)),
        key: Array(100..<132))

    @Test("A request is read from content as it was written") func roundTrip() throws {
        var content = Content(body: "Hello")
        content.receipt = Self.request
        try content.checkForSealing()
        let read = try Content(parsing: content.json)
        #expect(read.receipt == Self.request)
        content.receipt = nil
        #expect(!String(decoding: content.json, as: UTF8.self).contains("receipt"))
    }

    /// The vectors define which requests can't be read.
    @Test("Content with an unreadable request is not sealed: the error names it") func damaged() throws {
        for (value, error) in [
            (.null, .null("receipt")), (["url": "https://a/#"], .invalid("receipt.url")),
            (["url": "https://a/"], .missing("receipt.id")),
        ] as [(JSONValue, ContentError)] {
            var content = Content(body: "Hello")
            content.other = ["receipt": value]
            #expect(throws: error) { try Content(parsing: content.json) }
        }
    }

    @Test("A request shows no key when it is printed") func hidden() {
        var dumped = ""
        dump([Self.request], to: &dumped)
        for shown in ["\(Self.request)", String(reflecting: Self.request), dumped] {
            #expect(shown.contains("push.example.com"))
            #expect(!shown.contains(Base64URL.encode(Self.request.key)))
            #expect(!shown.contains("100, 101") && !shown.contains("- 101"), "\(shown)")
        }
    }
}

/// The vectors contain most of them.
@Suite("A receipt address") struct ReceiptAddressTests {
    @Test("Receipts go to https, or http on this machine", arguments: ["https://10.0.0.1/", "http://localhost:1/"])
    func read(text: String) { #expect(ReceiptAddress(parsing: text)?.description == text) }

    @Test(
        "Any other receipt address is rejected",
        arguments: [
            " https://a/", "https://a:+80/", "https://[::1]x/", "https://a\\b/", "https://a%41/", "https://a/\u{7f}",
            "file:///etc/passwd",
        ])
    func others(text: String) { #expect(ReceiptAddress(parsing: text) == nil, "\(text)") }
}

@Suite("A receipt's bytes") struct ReceiptBodyTests {
    private static let key: [UInt8] = Array(1...32)
    private static let body = ReceiptBody(
        id: ReceiptID(Array(16..<32)), number: Array(32..<48), created: Timestamp(clamping: 1_760_000_003),
        elapsedMilliseconds: 412, counts: [0, 3, 0, 0, 0, 0, 65_535] + [UInt16](repeating: 0, count: 17) + [9])

    private func parse(_ bytes: [UInt8], key: [UInt8] = Self.key) throws -> ReceiptBody {
        try key.withUnsafeBytes { try ReceiptBody(parsing: bytes, key: $0) }
    }

    @Test("A receipt's bytes are 128, and read as they were written") func roundTrip() throws {
        let bytes = Self.body.bytes(key: Self.key)
        #expect(bytes.count == 128)
        #expect(try parse(bytes) == Self.body)
        #expect(try ReceiptBody.claimedID(of: bytes) == Self.body.id)
    }

    @Test("A receipt's bytes are rejected at every other length") func lengths() {
        let bytes = Self.body.bytes(key: Self.key)
        for count in Array(0..<128) + [129, 256, 4_096] {
            let other = count < 128 ? Array(bytes.prefix(count)) : bytes + [UInt8](repeating: 0, count: count - 128)
            #expect(throws: ReceiptError.wrongSize) { try parse(other) }
        }
    }

    @Test("A receipt's bytes are rejected with any bit flipped, and under any other key") func flipped() {
        let bytes = Self.body.bytes(key: Self.key)
        for bit in 0..<(128 * 8) {
            var other = bytes
            other[bit / 8] ^= 1 << (bit % 8)
            let expected: ReceiptError = bit < 8 ? .unknownVersion : .rejected
            #expect(throws: expected) { try parse(other) }
        }
        for bit in 0..<256 {
            var key = Self.key
            key[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: ReceiptError.rejected) { try parse(bytes, key: key) }
        }
    }

    @Test("A receipt's bytes count each reason in its own place") func reasons() {
        let numbers = OpenError.allCases.map { $0.facts.number }
        #expect(numbers.sorted() == Array(1...17))
        for reason in OpenError.allCases { #expect(OpenError(receiptNumber: reason.facts.number) == reason) }
        for number: UInt8 in [0, 18, 25, 255] { #expect(OpenError(receiptNumber: number) == nil) }
    }
}
