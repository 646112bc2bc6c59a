import Foundation
import TestPrograms
import TestSupport
import Testing
import UserNotifications

@testable import PushSimulator

@Suite("Attachments after the extension has returned", .serialized, .blocking) struct AttachmentTests {
    private let device: Device

    init() throws { device = try Device() }

    private func deliver(_ what: String, _ more: [String] = []) throws -> Device.Delivered {
        let outside = device.folder.appending("Outside")
        let payload = #"{"aps":{"alert":"attach \#(what)","mutable-content":1},"outside":"\#(outside.path)"}"#
        return try device.deliver(
            try device.folder.write(payload, to: "push"),
            ["--extension", Program("misbehaving-extension").executable.path] + more)
    }

    private var stored: [String] {
        let store = device.folder.appending("State").appending(path: "attachments")
        let found = FileManager.default.enumerator(at: store, includingPropertiesForKeys: [.isRegularFileKey])
        return (found?.compactMap { $0 as? URL } ?? []).filter { !$0.hasDirectoryPath }.map(\.path).sorted()
    }

    @Test("a valid file is moved into the device's own store, and shown with all its properties")
    func good() throws {
        let shown = try deliver("good")
        #expect(shown.outcome == "modified")
        let attachment = try #require(shown.attachments.first)
        let expected: NSDictionary = [
            "identifier": "picture", "type": "public.png", "kind": "image", "name": "good.png", "bytes": 12,
            "thumbnailHidden": true, "thumbnailClippingRect": NSNull(), "thumbnailTime": 3,
            "file": try #require(stored.first),
        ]
        #expect(expected == attachment as NSDictionary)
        #expect(stored.count == 1)
        #expect(shown.remarks.isEmpty)
        // Moved, not copied.
        let left = FileManager.default.enumerator(atPath: device.folder.appending("State/tmp").path)
        #expect(left?.contains { ($0 as? String)?.hasSuffix("good.png") == true } == false)
    }

    @Test(
        "if a file is invalid, the text is shown with the reason that the file isn't",
        arguments: [
            ("missing", "doesn't exist"), ("large", "10000001 bytes"), ("empty", "empty"), ("text", "first bytes"),
            ("jpeg", "first bytes"), ("link", "isn't a regular file"), ("folder", "isn't a regular file"),
            ("pipe", "isn't a regular file"), ("outside", "outside the folders"),
        ])
    func bad(what: String, reason: String) throws {
        let shown = try deliver(what)
        #expect(shown.outcome == "modified" && shown.body == "from the extension" && shown.attachments.isEmpty)
        #expect(shown.remarks.count == 1)
        #expect(shown.remarks.first?.contains(reason) == true, "\(shown.remarks)")
        #expect(stored.isEmpty)
    }

    @Test(
        "valid attachments are shown in order, even one of the largest size; one file can't be shown twice"
    )
    func several() throws {
        #expect(try deliver("largest").attachments.first?["bytes"] as? Int == 10_000_000)
        let several = try deliver("several")
        #expect(several.attachments.map { $0["identifier"] as? String } == ["picture", "picture"])
        #expect(several.attachments.map { ($0["file"] as? String)?.hasSuffix("1.png") } == [true, false])
        #expect(several.remarks.count == 1)
        let twice = try deliver("one-file-twice")
        #expect(twice.attachments.count == 1)
        #expect(twice.remarks.count == 1)
    }

    @Test("a replaced notification's files are removed; others' files stay, and no other notification can use them")
    func replacing() throws {
        _ = try deliver("good", ["--identifier", "other"])
        let first = try deliver("good", ["--identifier", "one"]).attachments.first?["file"] as? String
        let second = try deliver("good", ["--identifier", "one"]).attachments.first?["file"] as? String
        #expect(first != second)
        #expect(stored.count == 2)
        #expect(stored.contains(try #require(second)))
        #expect(try deliver("missing", ["--identifier", "one"]).attachments.isEmpty)
        #expect(stored.count == 1)
        let others = try deliver("another's")
        #expect(others.remarks.count == 1)
        #expect(others.remarks.first?.contains("outside the folders") == true)
        #expect(stored.count == 1)
    }

    @Test("the text screen lists attachments, and no file name moves the terminal's cursor") func screen() throws {
        var shown = ShownNotification(WireNotification(["aps": ["alert": "b"], "x": 1]).content)
        shown.attachments = [
            ShownAttachment(
                identifier: "a", type: "public.png", file: URL(filePath: "/f"), name: "a\u{1b}[2J.png",
                byteCount: 12_345, thumbnail: ThumbnailOptions())
        ]
        let lines = LockScreen.lines(DeliveredPush(outcome: .opened, shown: shown), on: "phone")
        #expect(lines.contains { $0.contains("[image a [2J.png, 12 kB]") }, "\(lines)")
        #expect(!lines.joined().contains("\u{1b}"))
    }
}
