import Foundation
import PushCore
import TestSupport
import Testing

@testable import SealedPush

@Suite("An attachment's entry") struct AttachmentEntryTests {
    private static let hash = String(repeating: "A", count: 43)
    private static let entry =
        #"{"id":"a","url":"https://example.com/f","size":141,"hash":"\#(hash)","key":"\#(hash)","type":"image/png"}"#

    private static func json(_ attachments: String) -> [UInt8] {
        Array(#"{"alert":{"body":"b"},"attachments":\#(attachments)}"#.utf8)
    }

    @Test("An entry with every member comes back the same") func roundTrip() throws {
        let file = RemoteFile(
            url: URL(string: "https://example.com/a%20b?c=d")!, byteCount: 141, hash: (0..<32).map { $0 },
            key: AttachmentKey())
        var content = Content(body: "b")
        content.attachments = [
            Content.Attachment(
                id: "é", file: file, type: .jpeg,
                thumbnail: AttachmentThumbnail(
                    isHidden: true, clip: .init(x: 0, y: 0.25, width: 1, height: 0.5), time: 1.5)),
            Content.Attachment(
                id: "plain",
                file: RemoteFile(url: file.url, byteCount: 5_000_000, hash: file.hash, key: nil), type: .mp3),
        ]
        content.overflow = Overflow(file: file)
        let read = try Content(parsing: content.json)
        #expect(read.attachments == content.attachments)
        #expect(read.overflow == content.overflow)
        #expect(throws: Never.self) { try read.checkForSealing() }
    }

    @Test(
        "An unreadable entry is dropped alone and can't be sealed: the error names the member",
        arguments: [
            (#""id":"a""#, #""id":"""#, "id"), (#""id":"a","#, "", "-id"), (#""size":141"#, #""size":0"#, "size"),
            (#""size":141,"#, "", "-size"), (#""size":141,"#, #""size":40,"#, "size"),
            (#""size":141,"#, #""size":99999999,"#, "size"), ("https://", "ftp://", "url"),
            ("https://", "https://u:p@", "url"), ("https://example.com/f", "https:///f", "url"),
            ("image/png", "image/webp", "type"), (#""key""#, #""kex""#, "-key"),
            (#""key":"A"#, #""plain":true,"key":"A"#, "key"), (#""key":""#, #""key":"A"#, "key"),
            (#""hash":""#, #""hash":"B"#, "hash"),
            (#""type""#, #""thumbnail":{"clip":[0,0,2,1]},"type""#, "thumbnail.clip"),
            (#""type""#, #""thumbnail":1,"type""#, "thumbnail"),
            (#""type""#, #""thumbnail":{"time":-1},"type""#, "thumbnail.time"),
        ])
    func unreadable(part: String, change: String, member: String) throws {
        let broken = Self.entry.replacingOccurrences(of: part, with: change)
        #expect(broken != Self.entry)
        let second = Self.entry.replacingOccurrences(of: #""id":"a""#, with: #""id":"second""#)
        let content = try Content(opening: Self.json("[\(second),\(broken)]"))
        #expect(content.attachments.map { $0.id } == ["second"], "\(broken)")
        let error =
            member.hasPrefix("-")
            ? ContentError.missing("attachments[1].\(member.dropFirst())") : .invalid("attachments[1].\(member)")
        #expect(throws: error) { try Content(parsing: Self.json("[\(second),\(broken)]")) }
        #expect(content.alert.body == "b")
    }

    @Test("An entry that is created with a wrong value can't be sealed: the error names the member")
    func made() throws {
        let good = try Content(parsing: Self.json("[\(Self.entry)]"))
        try good.checkForSealing()
        let changes: [(String, (inout Content.Attachment) -> Void)] = [
            ("id", { $0.id = "" }), ("url", { $0.file.url = URL(string: "file:///f")! }), ("size", { $0.type = .mp3 }),
            ("size", { $0.file.byteCount = 0 }), ("hash", { $0.file.hash = [1] }),
            ("thumbnail.time", { $0.thumbnail = AttachmentThumbnail(time: .infinity) }),
        ]
        for (member, change) in changes {
            var content = good
            content.attachments[0].file.byteCount = 6_000_000
            content.attachments[0].file.key = nil
            change(&content.attachments[0])
            #expect(throws: ContentError.invalid("attachments[0].\(member)")) { try content.checkForSealing() }
        }
    }

    @Test("An empty list of attachments is the same as none") func emptyList() throws {
        let content = try Content(parsing: Self.json("[]"))
        #expect(content == Content(body: "b"))
        #expect(try Content(opening: Self.json("[]")) == content)
        try content.checkForSealing()
    }

    @Test("IDs are compared by their bytes, and so is that of a person's picture") func equivalentIDs() throws {
        let entries = ["\u{e9}", "e\u{301}"].map {
            Self.entry.replacingOccurrences(of: #""id":"a""#, with: "\"id\":\"\($0)\"")
        }
        let json = Self.json("[\(entries.joined(separator: ","))]")
        #expect(try Content(opening: json).attachments.count == 2)
        var content = try Content(parsing: json)
        try content.checkForSealing()
        content.person = Content.Person(name: "Nina", id: "u", image: .attachment("e\u{301}"))
        try content.checkForSealing()
        content.attachments.removeLast()
        #expect(throws: ContentError.invalid("person.image")) { try content.checkForSealing() }
    }

    @Test("An entry with a duplicate ID, or after the sixteenth, is dropped") func tooMany() throws {
        let json = Self.json("[\(Self.entry),\(Self.entry)]")
        let twice = try Content(opening: json)
        #expect(twice.attachments.count == 1)
        #expect(throws: ContentError.invalid("attachments[1].id")) { try Content(parsing: json) }
        let file = try #require(twice.attachments.first)
        var many = Content(body: "b")
        many.attachments = (0..<17).map {
            Content.Attachment(
                id: "\($0)", file: RemoteFile(url: file.file.url, byteCount: 9, hash: file.file.hash, key: nil),
                type: .gif)
        }
        #expect(throws: ContentError.invalid("attachments")) { try many.checkForSealing() }
        #expect(throws: ContentError.invalid("attachments")) { try Content(parsing: many.json) }
        #expect(try Content(opening: many.json).attachments.map { $0.id } == (0..<16).map(String.init))
        many.attachments.removeLast()
        try many.checkForSealing()
    }

    @Test(
        "Attachments that are not a list, or contain invalid entries, don't affect the rest",
        arguments: [("1", ""), ("{}", ""), ("[1,null,[]]", "[0]"), ("\"x\"", "")])
    func noList(text: String, place: String) throws {
        let content = try Content(opening: Self.json(text))
        #expect(content.attachments.isEmpty)
        #expect(content.alert.body == "b")
        #expect(throws: ContentError.invalid("attachments\(place)")) { try Content(parsing: Self.json(text)) }
    }

    @Test("An overflow that is not encrypted, or too large, is ignored") func overflow() throws {
        func overflow(_ text: String) throws -> Overflow? {
            let json = Array(#"{"alert":{"body":"b"},"overflow":\#(text)}"#.utf8)
            let opened = try Content(opening: json).overflow
            #expect((try? Content(parsing: json).overflow) == opened)
            return opened
        }
        let good = #"{"url":"https://example.com/f","size":65577,"hash":"\#(Self.hash)","key":"\#(Self.hash)"}"#
        #expect(try overflow(good)?.file.contentByteCount == 65_536)
        #expect(try overflow(good.replacingOccurrences(of: "65577", with: "65595")) == nil)
        #expect(try overflow(good.replacingOccurrences(of: #""key":"\#(Self.hash)""#, with: #""plain":true"#)) == nil)
    }

    @Test("Each file type is recognized by its name extension, and by its first bytes alone") func kinds() {
        let starts: [(MediaType, [UInt8])] = [
            (.png, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]), (.gif, Array("GIF89a......".utf8)),
            (.jpeg, [0xff, 0xd8, 0xff, 0xe0, 0, 16, 74, 70, 73, 70, 0, 1]), (.wave, Array("RIFF....WAVE".utf8)),
            (.avi, Array("RIFF....AVI ".utf8)), (.aiff, Array("FORM....AIFC".utf8)), (.mp3, Array("ID3.........".utf8)),
            (.mp3, [0xff, 0xfb, 0x90, 0x64, 0, 0, 0, 0, 0, 0, 0, 0]), (.mpeg4, Array("....ftypisom".utf8)),
            (.mpeg4Audio, Array("....ftypM4A ".utf8)), (.mpeg, [0, 0, 1, 0xba, 0x44, 0, 0, 0, 0, 0, 0, 0]),
            (.mpeg2, [0, 0, 1, 0xb3, 0x44, 0, 0, 0, 0, 0, 0, 0]),
        ]
        for (type, start) in starts {
            #expect(type.matches(start), "\(type)")
            for other in MediaType.allCases where other != type && other.matches(start) {
                // These two pairs share their containers.
                let pairs: [Set<MediaType>] = [[.mpeg, .mpeg2], [.mpeg4, .mpeg4Audio]]
                #expect(pairs.contains([type, other]), "\(type) passes for \(other)")
            }
            for type in MediaType.allCases { #expect(!type.matches([])) }
            for name in type.filenameExtensions { #expect(MediaType(filenameExtension: name.uppercased()) == type) }
        }
        #expect(MediaType(filenameExtension: "webp") == nil)
    }
}

@Suite("The vectors of encrypted files") struct AttachmentVectorTests {
    @Test("Each file in Tests/Vectors/Attachments has the result that it specifies") func vectors() throws {
        var outcomes: [String: Int] = [:]
        for file in try Checkout.files(in: "Tests/Vectors/Attachments", ending: ".txt") {
            let vector = try NamedLines(file)
            let stored = try #require(Hex.decode(try vector.required("stored")))
            let outcome = try outcome(try vector.required("entry"), stored)
            #expect(outcome.code == vector["outcome"], "\(vector.testDescription)")
            #expect(outcome.plaintext.map(Hex.encode) == vector["plaintext"], "\(vector.testDescription)")
            outcomes[outcome.code, default: 0] += 1
        }
        #expect(
            outcomes == [
                "opens": 34, "altered": 10, "cut": 1, "too-large": 1, "unreadable": 106, "wrong-type": 1,
            ])
    }

    private func outcome(_ entry: String, _ stored: [UInt8]) throws -> (code: String, plaintext: [UInt8]?) {
        let content = try Content(opening: Array(#"{"alert":{"body":"b"},"attachments":[\#(entry)]}"#.utf8))
        guard let attachment = content.attachments.first else { return ("unreadable", nil) }
        do throws(AttachmentError) {
            let plaintext = try SealedFileTests.open(attachment.file, stored)
            guard attachment.type.matches(plaintext) else { return ("wrong-type", nil) }
            return ("opens", plaintext)
        } catch {
            return (error.rawValue, nil)
        }
    }
}
