import Foundation
import TestSupport
import Testing

@testable import SealedPush

/// Specification 4.6.
@Suite("Content as JSON") struct ContentJSONTests {
    /// Content with a value for every key.
    static var full: Content {
        var content = Content(title: "Title", subtitle: "Subtitle", body: "Body \"quoted\"\n😀")
        content.id = MessageID(parsing: "0123abcd-4567-4abc-8def-0123456789ab")
        content.topic = "com.example.app"
        content.sent = Timestamp(secondsSince1970: 1_760_000_000)
        content.expires = Timestamp(secondsSince1970: 253_402_300_799)
        content.collapseID = "match-7"
        content.badge = 3
        content.sound = .critical(name: "bell.caf", volume: 0.5)
        content.threadID = "thread"
        content.category = "category"
        content.interruptionLevel = .timeSensitive
        content.relevanceScore = 0.25
        content.disclosure = .sender
        content.filterCriteria = "friends"
        content.targetContentID = "room-7"
        content.data = ["nothing": .null, "list": [1, 2.5, true], "text": "x"]
        content.other = ["future": ["a": .null], "x": 1]
        let file = RemoteFile(
            url: URL(string: "https://a/f")!, byteCount: 9, hash: [UInt8](repeating: 0, count: 32), key: nil)
        content.attachments = [Content.Attachment(id: "a", file: file, type: .png)]
        content.chart = PushChart(.line, points: [1, nil])
        content.receipt = ReceiptRequest(
            address: ReceiptAddress(parsing: "https://a/r")!, id: ReceiptID([UInt8](repeating: 0, count: 16)),
            key: [UInt8](repeating: 0, count: 32))
        return content
    }

    @Test("Content with every key comes back the same") func roundTrip() throws {
        let content = Self.full
        try content.checkForSealing()
        #expect(try Content(parsing: content.json) == content)
        #expect(try Content(parsing: content.json).json == content.json)
    }

    @Test("Content has the Specification's names, in a fixed order") func names() {
        let expected = """
            {"id":"0123abcd-4567-4abc-8def-0123456789ab","topic":"com.example.app","sent":1760000000,\
            "expires":253402300799,"collapse-id":"match-7",\
            "alert":{"title":"Title","subtitle":"Subtitle","body":"Body \\"quoted\\"\\n😀"},"badge":3,\
            "sound":{"critical":1,"name":"bell.caf","volume":0.5},"thread-id":"thread","category":"category",\
            "interruption-level":"time-sensitive","relevance-score":0.25,\
            "filter-criteria":"friends","target-content-id":"room-7",\
            "data":{"list":[1,2.5,true],"nothing":null,"text":"x"},\
            "attachments":[{"hash":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","id":"a","plain":true,"size":9,\
            "type":"image/png","url":"https://a/f"}],\
            "chart":{"kind":"line","points":[1,null]},"receipt":{"id":"AAAAAAAAAAAAAAAAAAAAAA",\
            "key":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","url":"https://a/r"},"disclosure":"sender","future":{"a":null},"x":1}
            """
        #expect(String(decoding: Self.full.json, as: UTF8.self) == expected)
    }

    @Test("Unknown keys are kept in `other`, and reserved ones are not") func unknownKeys() throws {
        let content = try open(
            #""new":[1],"New":null,"aps":{},"attachments":7,"overflow":{},"chart":null,"receipt":"r","loc-key":"k""#)
        #expect(content.other == ["new": [1], "New": .null, "aps": [:], "loc-key": "k"])
        #expect(
            content.attachments.isEmpty && content.overflow == nil && content.chart == nil && content.receipt == nil)
        for member in [#""attachments":7"#, #""overflow":{}"#, #""chart":null"#, #""receipt":"r""#] {
            #expect(throws: ContentError.self) { try parse(member) }
        }
    }

    @Test("Unknown keys inside alert and sound are dropped") func innerKeys() throws {
        let content = try Content(
            parsing: Array(
                #"{"alert":{"body":"x","launch-image":"k","action":1},"sound":{"name":"a","new":1}}"#.utf8))
        #expect(content.alert == Content.Alert(body: "x"))
        #expect(content.sound == .named("a"))
        #expect(content.other == [:])
    }

    @Test("Unknown keys that look misspelled are reported as the vectors specify") func suspects() throws {
        let text = try Checkout.text(Checkout.folder.appending(path: "Tests/Vectors/Members/suspects.tsv"))
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines.count == 11)
        for line in lines {
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false)
            let members = try JSONReader.members(Array(parts[0].utf8))
            #expect(Content.suspectMembers(in: members) == parts[1].split(separator: " ").map(String.init), "\(line)")
        }
    }

    @Test("Each form of a sound is read") func sounds() throws {
        let forms: [(String, Content.Sound)] = [
            (#""default""#, .named("default")), ("{}", .named("default")), (#"{"critical":0}"#, .named("default")),
            (#"{"critical":0,"name":"a","volume":0.1}"#, .named("a")), (#"{"name":"b"}"#, .named("b")),
            (#"{"critical":1}"#, .critical(name: "default", volume: 1)),
            (#"{"critical":1,"name":"c","volume":0}"#, .critical(name: "c", volume: 0)),
        ]
        for (text, sound) in forms { #expect(try parse(#""sound":"# + text).sound == sound) }
    }

    private func parse(_ member: String) throws -> Content {
        try Content(parsing: Array(#"{"alert":{"body":"x"},\#(member)}"#.utf8))
    }

    private func open(_ member: String) throws -> Content {
        try Content(opening: Array(#"{"alert":{"body":"x"},\#(member)}"#.utf8))
    }
}
