import Foundation
import SealedPush
import Testing

@testable import PushSender

@Suite("Persons") struct PersonTests {
    private func person(_ json: String, opening: Bool = false) throws(ContentError) -> Content.Person? {
        let bytes = Array(#"{"alert":{"body":"b"},"person":\#(json)}"#.utf8)
        return opening ? try Content(opening: bytes).person : try Content(parsing: bytes).person
    }

    @Test("A person comes back the same, with each kind of picture or none") func roundTrip() throws {
        var content = Content(body: "b")
        for image in [nil, .bytes([0x89, 0x50]), .attachment("avatar")] as [Content.Person.Image?] {
            content.person = Content.Person(name: "Nina", id: "user-17", image: image)
            #expect(try Content(parsing: content.json).person == content.person)
            #expect(try Content(opening: content.json).person == content.person)
        }
        #expect(
            try person(#"{"id":"u","image-data":"iVA","name":"Nina"}"#)
                == Content.Person(name: "Nina", id: "u", image: .bytes([0x89, 0x50])))
    }

    @Test(
        "An invalid person is refused when sealing; when opening, only the person or the picture is dropped",
        arguments: [
            ("{}", "person.name", false), (#"{"name":"Nina"}"#, "person.id", false),
            (#"{"name":" ","id":"u"}"#, "person.name", false), (#"{"name":"Nina","id":""}"#, "person.id", false),
            (#"{"name":"Nina","id":7}"#, "person.id", false), (#""Nina""#, "person", false),
            (#"{"name":"Nina","id":"u","image":7}"#, "person.image", true),
            (#"{"name":"Nina","id":"u","image":""}"#, "person.image", true),
            (#"{"name":"Nina","id":"u","image-data":""}"#, "person.image-data", true),
            (#"{"name":"Nina","id":"u","image-data":"A"}"#, "person.image-data", true),
            (#"{"name":"Nina","id":"u","image-data":"iVB="}"#, "person.image-data", true),
            (#"{"name":"Nina","id":"u","image":"a","image-data":"iVA"}"#, "person.image-data", true),
        ])
    func broken(json: String, path: String, keepsPerson: Bool) throws {
        let expected: [ContentError] = [.invalid(path), .missing(path)]
        let error = #expect(throws: ContentError.self) { _ = try person(json) }
        #expect(error.map(expected.contains) == true, "\(json)")
        let opened = try person(json, opening: true)
        #expect(opened == (keepsPerson ? Content.Person(name: "Nina", id: "u") : nil), "\(json)")
    }

    @Test("A person's texts have at most 128 bytes, and a picture has at most 2,048") func limits() throws {
        for (count, fits) in [(128, true), (129, false)] {
            let text = String(repeating: "x", count: count)
            #expect(((try? person(#"{"name":"\#(text)","id":"u"}"#)) != nil) == fits)
            #expect(((try? person(#"{"name":"Nina","id":"\#(text)"}"#)) != nil) == fits)
        }
        for (count, fits) in [(2_048, true), (2_049, false)] {
            var content = Content(body: "b")
            content.person = Content.Person(name: "Nina", id: "u", image: .bytes(Array(repeating: 1, count: count)))
            #expect(((try? content.checkForSealing()) != nil) == fits)
        }
    }

    @Test("If the text is too long for one push, the picture moves to the whole content") func overflow() throws {
        var content = Content(title: "t", body: String(repeating: "x", count: 6_000))
        content.person = Content.Person(name: "Nina", id: "u", image: .bytes(Array(repeating: 1, count: 2_048)))
        let sealer = Sealer(sender: SenderPrivateKey(), topic: "com.example.app", safeDefault: "wire")
        let url = try #require(URL(string: "https://example.com/x"))
        let moved = try #require(try sealer.moveOverflow(of: content, at: url))
        #expect(moved.content.person == Content.Person(name: "Nina", id: "u"))
    }

    @Test("A person's picture must be among the attachments, as an image") func attachments() throws {
        var content = Content(body: "b")
        content.person = Content.Person(name: "Nina", id: "u", image: .attachment("a"))
        #expect(throws: ContentError.invalid("person.image")) { try content.checkForSealing() }
    }
}
