import TestSupport
import Testing

@testable import SealedPush

/// ContentParts 19.4.
@Suite("The group of a message") struct GroupTests {
    private func bytes(_ group: String, person: Bool = true) -> [UInt8] {
        let author = person ? #""person":{"name":"Nina","id":"user-17"},"# : ""
        return Array(#"{"alert":{"body":"b"},\#(author)"group":\#(group)}"#.utf8)
    }

    @Test("A group with everything comes back the same, under the Specification's names") func roundTrip() throws {
        var content = Content(body: "b")
        content.person = Content.Person(name: "Nina", id: "user-17")
        content.group = Content.Group(
            name: "Lunch club", image: .bytes([0x89]), recipients: [.init(name: "Ole", id: "user-18")], count: 5)
        try content.checkForSealing()
        let json = #"{"count":5,"image-data":"iQ","name":"Lunch club","recipients":[{"id":"user-18","name":"Ole"}]}"#
        #expect(String(decoding: content.json, as: UTF8.self).hasSuffix(#""group":\#(json)}"#))
        #expect(try Content(parsing: bytes(json)) == content)
        #expect(try Content(opening: content.json) == content)
        content.group?.count = nil
        content.group?.recipients = []
        #expect(try Content(parsing: content.json) == content)
    }

    @Test(
        "What breaks a rule is refused when sealing, and costs a device that part of the group, never the text",
        arguments: [
            (#""Lunch""#, "group", nil), (#"{"name":" "}"#, "group.name", nil), (#"{"count":2}"#, "group.name", nil),
            (#"{"name":"L","count":1}"#, "group.count", "L"), (#"{"name":"L","count":"2"}"#, "group.count", "L"),
            (#"{"name":"L","recipients":{}}"#, "group.recipients", "L"),
            (#"{"name":"L","recipients":[{"name":"O","id":"o"},{"name":"O"}]}"#, "group.recipients[1].id", "L"),
            (#"{"name":"L","image":""}"#, "group.image", "L"),
        ] as [(String, String, String?)])
    func broken(group: String, fault: String, name: String?) throws {
        let bytes = bytes(group)
        let error = refusal { () throws(ContentError) in _ = try Content(parsing: bytes) }
        #expect(error == .invalid(fault) || error == .missing(fault))
        let opened = try Content(opening: bytes)
        #expect(opened.alert.body == "b" && opened.person?.name == "Nina")
        #expect(opened.group == name.map { Content.Group(name: $0) })
    }

    @Test("A group needs a person, and its picture names an attachment that is one") func checked() throws {
        var content = Content(body: "b")
        content.group = Content.Group(name: "Lunch club")
        #expect(throws: ContentError.invalid("group")) { try content.checkForSealing() }
        content.person = Content.Person(name: "Nina", id: "user-17")
        content.group?.image = .attachment("missing")
        #expect(throws: ContentError.invalid("group.image")) { try content.checkForSealing() }
        #expect(try Content(opening: bytes(#"{"name":"L"}"#, person: false)).group?.name == "L")
    }
}
