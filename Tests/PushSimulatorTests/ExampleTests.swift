import Foundation
import PushService
import TestPrograms
import TestSupport
import Testing

@testable import PushSimulator

/// The phone with the published test keys, which the examples trust, and with one example as its app's extension.
struct ExamplePhone {
    /// A copy of the published test keys that other users can't read; Git keeps only part of a file's mode.
    private static let keyring = Result {
        let folder = try TemporaryFolder()
        try folder.write(
            try Checkout.text(Checkout.folder.appending(path: "Tests/Data/Keyring/keyring.txt")), to: "keyring.txt")
        return folder
    }
    static var keys: String { get throws { try keyring.get().path } }

    let folder: TemporaryFolder
    private let program: String
    private let topic: String

    init(running program: String, topic: String = "com.example.app") throws {
        folder = try TemporaryFolder()
        (self.program, self.topic) = (program, topic)
    }

    var state: URL { folder.appending("Phone") }

    /// Seals content as a server does. Returns the path of the push.
    func seal(_ content: String, for topic: String? = nil, _ more: [String] = []) throws -> String {
        try seal(file: folder.write(content, to: "content.json"), for: topic, more)
    }

    /// Seals the content of a file. Returns the path of the push.
    func seal(file: String, for topic: String? = nil, _ more: [String] = []) throws -> String {
        let push = folder.appending(UUID().uuidString).path
        let sealed = try Program("sealedpush").run(
            ["seal", file, "--from", "test-newsroom", "--to", "test-phone", "--topic", topic ?? self.topic]
                + ["--keyring", try Self.keys, "--output", push] + more)
        try #require(sealed.status == 0, "\(sealed.errors)")
        return push
    }

    /// - Parameter blocks: The limit, in blocks of 512 bytes, for each file of the simulator and the extension.
    func deliver(
        _ push: String, _ more: [String] = [], limitingFilesTo blocks: Int? = nil
    ) throws -> Device.Delivered {
        try #require(try deliverAll([push], more, limitingFilesTo: blocks).first)
    }

    func deliverAll(
        _ pushes: [String], _ more: [String] = [], limitingFilesTo blocks: Int? = nil
    ) throws -> [Device.Delivered] {
        let words =
            ["deliver"] + pushes + ["--device", "test-phone", "--topic", topic, "--keyring", try Self.keys]
            + ["--extension", Program(program).executable.path, "--state", state.path, "--json"] + more
        let simulator = Program("device-simulator")
        let result =
            if let blocks {
                // With the signal ignored, writing beyond the limit is an error and doesn't end the process.
                try Program(at: "/bin/sh").run(
                    ["-c", "trap '' XFSZ; ulimit -f \(blocks); exec \"$0\" \"$@\"", simulator.executable.path] + words)
            } else { try simulator.run(words) }
        try #require(result.status == 0 && result.objects.count == pushes.count, "\(result.errors)")
        return result.objects.map { Device.Delivered(object: $0) }
    }

    /// Stores an encrypted file on the server, and adds its address to the content.
    func attach(
        _ file: URL, to content: String, on server: MisbehavingServer,
        _ serve: ([UInt8]) -> MisbehavingServer.Manner
    ) throws {
        let stored = folder.appending(UUID().uuidString)
        let name = file.lastPathComponent
        let attached = try Program("sealedpush").run(
            "attach", file.path, "--url", "http://127.0.0.1:\(server.port)/\(name)", "--output", stored.path,
            "--content", content)
        try #require(attached.status == 0, "\(attached.errors)")
        _ = server.url(name, serve(Array(try Data(contentsOf: stored))))
    }
}

extension Device.Delivered {
    fileprivate var names: [String] { attachments.compactMap { $0["identifier"] as? String } }

    /// Whether the extension used less memory than this; always true with a sanitizer, whose own memory would count.
    fileprivate func isSmaller(than byteCount: Int) throws -> Bool {
        let memory = try #require(object["peakMemoryBytes"] as? Int)
        return memory < byteCount || !ProcessMemory.isMeaningful
    }
}

@Suite("The example extensions, as an app would ship them", .serialized, .blocking) struct ExampleTests {
    private static let lunch = #"{"alert":{"title":"Nina","body":"Lunch at one?"}}"#

    @Test("the example Messages opens a message, and refuses its replay") func messages() throws {
        let phone = try ExamplePhone(running: "messages-example")
        let push = try phone.seal(Self.lunch)
        let shown = try phone.deliverAll([push, push])
        #expect(shown.map(\.outcome) == ["opened", "safe-default"])
        #expect(shown[0].body == "Lunch at one?" && shown[1].reason == "replayed")
    }

    @Test("the example app's extension trusts no sender until it's set up, and accepts no plain push")
    func app() throws {
        let phone = try ExamplePhone(running: "app-example", topic: "com.example.app")
        let plain = try phone.folder.write(
            #"{"aps":{"alert":{"title":"News","body":"From another"},"mutable-content":1},"campaign":7}"#,
            to: "plain.apns")
        let shown = try phone.deliverAll([phone.seal(Self.lunch), plain])
        #expect(shown.map(\.body) == ["You have a new message!", "You have a new message!"])
        #expect(shown.map(\.reason) == ["unknown-sender", "malformed"])
    }

    @Test("the example DailyQuote shows the quote that the app stored, or its own text if there is none")
    func quote() throws {
        let phone = try ExamplePhone(running: "daily-quote-example")
        let content = """
            {"alert":{"title":"{{name}}","subtitle":"For {{name|you}}","body":"{{quote}}"},"template":true}
            """
        let first = try phone.deliver(phone.seal(content))
        #expect(first.outcome == "opened" && first.title == nil && first.body == "Your quote for today is here.")
        #expect(first.object["subtitle"] as? String == "For you")
        // Store the quote as the app does.
        let values = try #require(SharedValues(container: .folder(phone.state)))
        try values.replaceAll(with: ["quote": "Less, but better.", "name": "Nina"])
        let second = try phone.deliver(phone.seal(content))
        #expect(second.title == "Nina" && second.body == "Less, but better.")
        #expect(second.object["subtitle"] as? String == "For Nina")
        #expect(try second.isSmaller(than: 8_000_000))
        // Braces in a text that isn't a template.
        #expect(try phone.deliver(phone.seal(#"{"alert":{"body":"{{quote}}"}}"#)).body == "{{quote}}")
    }

    @Test("the example DynamicChart shows the text and, within 8 MB, the chart; if drawing fails, only the text")
    func chart() throws {
        let phone = try ExamplePhone(running: "dynamic-chart-example")
        let content = """
            {"alert":{"title":"Resting pulse","body":"61 today"},"chart":{"kind":"line",
            "points":[67,66,68,null,64,63,61],"suffix":" bpm","color":"trend",
            "labels":["Mon","Tue","Wed","Thu","Fri","Sat","Sun"]}}
            """
        let shown = try phone.deliver(phone.seal(content))
        #expect(shown.outcome == "opened" && shown.body == "61 today" && shown.names == ["chart"])
        let picture = try #require(shown.attachments.first)
        #expect(picture["type"] as? String == "public.png")
        #expect((picture["thumbnailClippingRect"] as? [Double])?.count == 4)
        let file = try Data(contentsOf: URL(filePath: try #require(picture["file"] as? String)))
        // PNG's signature, and the width and height in its header: 360 by 180 points.
        #expect(file.starts(with: [0x89, 0x50, 0x4e, 0x47]))
        #expect(Array(file[16..<24]) == [0, 0, 4, 56, 0, 0, 2, 28])
        #expect(try Checkout.allFiles(in: phone.state.appending(path: "tmp")).isEmpty)
        #expect(try shown.isSmaller(than: 8_000_000))
        // A file in place of the drawing's folder.
        let scratch = phone.state.appending(path: "tmp/sealed-push")
        try? FileManager.default.removeItem(at: scratch)
        try Data().write(to: scratch)
        let plain = try phone.deliver(phone.seal(content))
        #expect(plain.outcome == "opened" && plain.body == "61 today" && plain.names == [])
    }
}

@Suite("The example RichMedia, as an app would ship it", .serialized, .blocking) struct RichMediaTests {
    private let phone: ExamplePhone
    private let server: MisbehavingServer
    private static let all = ["one.png", "two.mp4", "three.mp3", "four.gif"]

    init() throws {
        phone = try ExamplePhone(running: "rich-media-example")
        server = try MisbehavingServer()
    }

    /// Returns content with four media, of which the second and fourth are served in the manner `slow`.
    private func content(_ slow: ([UInt8]) -> MisbehavingServer.Manner) throws -> String {
        let content = try phone.folder.write(
            #"{"alert":{"title":"Storm","body":"The harbour."}}"#, to: "\(UUID().uuidString).json")
        let starts: [[UInt8]] = [
            [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], Array("....ftypmp42".utf8), Array("ID3".utf8),
            Array("GIF89a".utf8),
        ]
        for (index, start) in starts.enumerated() {
            let file = phone.folder.appending(Self.all[index])
            try Data(start + (0..<90_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }).write(to: file)
            try phone.attach(file, to: content, on: server) { index.isMultiple(of: 2) ? .serves($0) : slow($0) }
        }
        return content
    }

    @Test("the example RichMedia shows all four media in order if the servers are fast") func quick() throws {
        let shown = try phone.deliver(phone.seal(file: content { .serves($0) }))
        #expect(shown.outcome == "opened" && shown.body == "The harbour." && shown.names == Self.all)
        #expect(try shown.isSmaller(than: 24_000_000))
    }

    @Test("the content extension of RichMedia shows the story with its media, in a separate process")
    func expanded() throws {
        let text = try Checkout.text(URL(filePath: content { .serves($0) }))
        func expand(_ category: String) throws -> [String: Any] {
            let members = #"{"category":"\#(category)","data":{"credit":"Ann"},"alert""#
            let push = try phone.seal(text.replacing("{\"alert\"", with: members))
            return try #require(phone.deliver(push, ["--expanded"]).object["expanded"] as? [String: Any])
        }
        let story = try expand("story")
        #expect(story["system"] as? Bool == false)
        let rows = try #require(story["rows"] as? [[String: String]])
        #expect(rows.compactMap { $0["text"] } == ["Storm", "The harbour.", "Pictures: Ann"])
        #expect(rows.compactMap { $0["file"] }.map { URL(filePath: $0).pathExtension } == ["png", "mp4", "mp3", "gif"])
        // This category has no view.
        let other = try expand("other")
        #expect(other["system"] as? Bool == true && other["note"] is NSNull)
        #expect((other["rows"] as? [Any])?.count == 6)
    }

    @Test("a carrier's push with the category isn't shown in the app's own view") func forged() throws {
        for userInfo in [#""x":1"#, #""sealed-push":{"outcome":"opened","data":"{}"}"#] {
            let push = try phone.folder.write(
                #"{"aps":{"alert":"WIRE","category":"story"},\#(userInfo)}"#, to: "forged")
            let expanded = try #require(phone.deliver(push, ["--expanded"]).object["expanded"] as? [String: Any])
            #expect(expanded["system"] as? Bool == true)
            #expect(expanded["note"] as? String == "the service module didn't open this notification")
        }
    }

    @Test("the example RichMedia shows the text and two of four media when time is up, and leaves no file behind")
    func slow() throws {
        try lengthening(.seconds(5), "two of four") { limit in
            let push = try phone.seal(file: content { .drips($0, after: 60_000, every: .seconds(60)) })
            let shown = try phone.deliver(push, ["--time-limit", "\(limit / .seconds(1))"])
            return shown.outcome == "opened" && shown.title == "Storm" && shown.names == ["one.png", "three.mp3"]
        }
        #expect(try left().filter { $0.contains("unfinished") || $0.contains("attachment.") } == [])
    }

    @Test(
        "RichMedia shows only the text on a full disk, and all four pictures in the 12 MB of an old device",
        .enabled(if: ProcessMemory.isMeaningful, "The limits would apply to a sanitizer's memory and files, too."))
    func limits() throws {
        let content = try content { .serves($0) }
        // No file may exceed 50 KB, which to a program is like a full disk.
        let full = try phone.deliver(phone.seal(file: content), limitingFilesTo: 100)
        #expect(full.outcome == "opened" && full.title == "Storm" && full.names == [])
        let small = try phone.deliver(phone.seal(file: content), ["--memory-limit", "12"])
        #expect(small.outcome == "opened" && small.names == Self.all)
        #expect(try left().filter { $0.contains("unfinished") } == [])
    }

    /// Returns the files in the extension's temporary folder.
    private func left() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: phone.state.path).filter { $0.contains("tmp/") }
    }
}

@Suite("The example ImageAndReceipt, as an app would ship it", .serialized, .blocking) struct ImageAndReceiptTests {
    private let phone: ExamplePhone
    private let server: MisbehavingServer
    private let picture = Checkout.folder.appending(path: "Tests/PushChartsTests/Golden/sparkline-dark.png")

    init() throws {
        phone = try ExamplePhone(running: "image-and-receipt-example")
        server = try MisbehavingServer()
    }

    /// Seals content with a title and the picture that asks for receipts.
    private func seal(
        receipts: String, _ serve: ([UInt8]) -> MisbehavingServer.Manner
    ) throws -> String {
        let content = try phone.folder.write(#"{"alert":{"title":"Nina sent a picture"}}"#, to: "content.json")
        try phone.attach(picture, to: content, on: server, serve)
        return try phone.seal(file: content, ["--receipts", receipts])
    }

    @Test("the example ImageAndReceipt shows title, body, and picture, and the server gets a receipt of each push")
    func wholeWay() throws {
        let push = try phone.folder.write(
            #"{"aps":{"alert":"x","mutable-content":1},"custom-encrypted-message":"AQAA"}"#, to: "bad.apns")
        #expect(try phone.deliver(push).body == "You have a new picture!")
        // Before the first unlock, the message doesn't open, but it's counted anyway.
        #expect(try phone.deliver(phone.seal(#"{"alert":{"title":"Nina"}}"#), ["--locked"]).reason == "locked")
        try ReceiptListener.run(in: phone.folder.url, keyring: ExamplePhone.keys, sender: "test-newsroom") { listener in
            let shown = try phone.deliver(seal(receipts: listener.url) { .serves($0) })
            #expect(shown.outcome == "opened" && shown.title == "Nina sent a picture")
            #expect(shown.body == "Touch and hold to see it.")
            #expect(shown.attachments.count == 1)
            let file = try #require(shown.attachments.first?["file"] as? String)
            #expect(try Data(contentsOf: URL(filePath: file)) == Data(contentsOf: picture))
            // On a busy machine, the process may be suspended before it posts; the receipt then goes with the next one.
            var rounds = 0
            while try listener.counted().shown == 0, rounds < 20 {
                rounds += 1
                _ = try phone.deliver(phone.seal(#"{"alert":{"body":"another"}}"#))
            }
            #expect(try listener.counted() == (1, ["malformed": 1, "locked": 1]))
        }
    }

    @Test("the example ImageAndReceipt shows the text if the picture's server is broken, and keeps the receipt")
    func broken() throws {
        let shown = try phone.deliver(seal(receipts: "http://127.0.0.1:1/") { .cuts($0, after: 100) })
        #expect(shown.title == "Nina sent a picture" && shown.body == "Touch and hold to see it.")
        #expect(shown.attachments.isEmpty)
        let waiting = try FileManager.default.contentsOfDirectory(
            atPath: phone.state.appending(path: "SealedPush/receipts").path)
        #expect(waiting.count == 1)
    }
}
