import Testing

@testable import SealedPush

@Suite("What content says about receipts")
struct ReceiptRequestTests {
    private static let request = ReceiptRequest(
        address: ReceiptAddress(parsing: "https://push.example.com/r")!, id: ReceiptID(Array(0..<16)),
        key: Array(100..<132))

    @Test("is read from content as it was written into it")
    func roundTrip() throws {
        var content = Content(body: "Hello")
        content.receipt = Self.request
        try content.checkForSealing()
        let read = try Content(parsing: content.json)
        #expect(read.receipt == Self.request)
        content.receipt = nil
        #expect(!String(decoding: content.json, as: UTF8.self).contains("receipt"))
    }

    @Test("that does not read is nil, costs no text, and is not sealed")
    func damaged() throws {
        let good = try #require(Self.request.json.members)
        var bad: [JSONValue] = [.null, "r", [], 1, [:], .array([Self.request.json])]
        for name in ["url", "id", "key"] {
            var without = good
            without[name] = nil
            bad.append(.object(without))
            for value: JSONValue in [
                1, .null, "", "x", [], "AAAAAAAAAAAAAAAAAAAAAB", "https://a/#",
                .string(String(repeating: "A", count: 43) + "="),
            ] {
                bad.append(.object(good.merging([name: value]) { $1 }))
            }
        }
        #expect(bad.count == 33)
        for value in bad {
            var content = Content(body: "Hello")
            content.other = ["receipt": value]
            let read = try Content(opening: content.json)
            #expect(read.receipt == nil, "\(value)")
            #expect(read.alert.body == "Hello")
            let error = #expect(throws: ContentError.self) { try Content(parsing: content.json) }
            #expect("\(try #require(error))".contains("\"receipt"))
        }
    }

    @Test("may have more members, which a later version knows")
    func more() throws {
        let good = try #require(Self.request.json.members)
        #expect(try ReceiptRequest(.object(good.merging(["later": [1]]) { $1 })) == Self.request)
    }

    @Test("shows no key when it is printed")
    func hidden() {
        var dumped = ""
        dump([Self.request], to: &dumped)
        for shown in ["\(Self.request)", String(reflecting: Self.request), dumped] {
            #expect(shown.contains("push.example.com"))
            #expect(!shown.contains(Base64URL.encode(Self.request.key)))
            #expect(!shown.contains("100, 101") && !shown.contains("- 101"), "\(shown)")
        }
    }
}

extension JSONValue {
    fileprivate var members: [String: JSONValue]? {
        guard case .object(let members) = self else { return nil }
        return members
    }
}
