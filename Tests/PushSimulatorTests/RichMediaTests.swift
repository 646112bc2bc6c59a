import Foundation
import TestPrograms
import TestSupport
import Testing

@testable import PushSimulator

@Suite("The example RichMedia, the file an app would ship", .serialized, .blocking) struct RichMediaTests {
    private let phone: ExamplePhone
    private let files: MisbehavingServer

    init() throws {
        phone = try ExamplePhone(running: "rich-media-example")
        files = try MisbehavingServer()
    }

    /// Content with four media, of which the second and fourth are served as `slow` says.
    private func content(_ slow: ([UInt8]) -> MisbehavingServer.Manner) throws -> String {
        let content = try phone.folder.write(
            #"{"alert":{"title":"Storm","body":"The harbour."}}"#, to: "\(UUID().uuidString).json")
        let media: [(name: String, start: [UInt8])] = [
            ("one.png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), ("two.mp4", Array("....ftypmp42".utf8)),
            ("three.mp3", Array("ID3".utf8)), ("four.gif", Array("GIF89a".utf8)),
        ]
        for (index, (name, start)) in media.enumerated() {
            let file = phone.folder.appending(name)
            try Data(start + (0..<90_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }).write(to: file)
            let stored = phone.folder.appending(UUID().uuidString)
            let attached = try Program("sealedpush").run(
                "attach", file.path, "--url", "http://127.0.0.1:\(files.port)/\(name)", "--output", stored.path,
                "--content", content)
            try #require(attached.status == 0, "\(attached.errors)")
            let bytes = Array(try Data(contentsOf: stored))
            _ = files.url(name, index.isMultiple(of: 2) ? .serves(bytes) : slow(bytes))
        }
        return content
    }

    private func names(_ shown: [String: Any]) -> [String] {
        (shown["attachments"] as? [[String: Any]] ?? []).compactMap { $0["identifier"] as? String }
    }

    @Test("the example RichMedia shows all four media in their order if the servers are quick") func quick() throws {
        let shown = try phone.show(file: try content { .serves($0) })
        #expect(shown["outcome"] as? String == "opened")
        #expect(shown["body"] as? String == "The harbour.")
        #expect(names(shown) == ["one.png", "two.mp4", "three.mp3", "four.gif"])
        let memory = try #require(shown["peakMemoryBytes"] as? Int)
        #expect(memory < 24_000_000 || !ProcessMemory.isMeaningful)
    }

    @Test("the content extension of RichMedia shows the story with its media, in a process of its own")
    func expanded() throws {
        let content = try content { .serves($0) }
        let text = try Checkout.text(URL(filePath: content))
        func expand(_ category: String) throws -> [String: Any] {
            let changed = text.replacing(
                "{\"alert\"", with: #"{"category":"\#(category)","data":{"credit":"Ann"},"alert""#)
            let file = try phone.folder.write(changed, to: "\(UUID().uuidString).json")
            return try #require(try phone.show(file: file, deliveredWith: ["--expanded"])["expanded"] as? [String: Any])
        }
        let story = try expand("story")
        #expect(story["system"] as? Bool == false)
        let rows = try #require(story["rows"] as? [[String: String]])
        #expect(rows.compactMap { $0["text"] } == ["Storm", "The harbour.", "Pictures: Ann"])
        #expect(rows.compactMap { $0["file"] }.map { URL(filePath: $0).pathExtension } == ["png", "mp4", "mp3", "gif"])
        // No view is for this category.
        let other = try expand("other")
        #expect(other["system"] as? Bool == true && other["note"] is NSNull)
        #expect((other["rows"] as? [Any])?.count == 6)
    }

    @Test("a carrier's push that names the category is not shown as the app's own") func forged() throws {
        for userInfo in [#""x":1"#, #""sealed-push":{"outcome":"opened","data":"{}"}"#] {
            let push = try phone.folder.write(
                #"{"aps":{"alert":"WIRE","category":"story"},\#(userInfo)}"#, to: "forged")
            let expanded = try #require(try phone.deliver(push, ["--expanded"])["expanded"] as? [String: Any])
            #expect(expanded["system"] as? Bool == true)
            #expect(expanded["note"] as? String == "the service module has not opened this notification")
        }
    }

    @Test("the example RichMedia shows two of four media when time is up, with the text, and leaves no file behind")
    func slow() throws {
        try lengthening(.seconds(5), "two of four") { limit in
            let shown = try phone.show(
                file: try content { .drips($0, after: 60_000, every: .seconds(60)) },
                deliveredWith: ["--time-limit", "\(limit / .seconds(1))"])
            return shown["outcome"] as? String == "opened" && shown["title"] as? String == "Storm"
                && names(shown) == ["one.png", "three.mp3"]
        }
        let left = try FileManager.default.subpathsOfDirectory(atPath: phone.state.path).filter {
            $0.contains("tmp/") && ($0.contains("unfinished") || $0.contains("attachment."))
        }
        #expect(left == [])
    }

    @Test("RichMedia shows the text without pictures on a full disk, and all four in the 12 MB of an old device")
    func limits() throws {
        // A sanitizer's own files may be no larger either then.
        guard ProcessMemory.isMeaningful else { return }
        let content = try content { .serves($0) }
        // No file may grow beyond 50 KB: to a program it is as a full disk.
        let full = try phone.show(file: content, limitingFilesTo: 100)
        #expect(full["outcome"] as? String == "opened")
        #expect(full["title"] as? String == "Storm")
        #expect(names(full) == [])
        let small = try phone.show(file: content, deliveredWith: ["--memory-limit", "12"])
        #expect(small["outcome"] as? String == "opened")
        #expect(names(small) == ["one.png", "two.mp4", "three.mp3", "four.gif"])
        let left = try FileManager.default.subpathsOfDirectory(atPath: phone.state.path).filter {
            $0.contains("unfinished")
        }
        #expect(left == [])
    }
}
