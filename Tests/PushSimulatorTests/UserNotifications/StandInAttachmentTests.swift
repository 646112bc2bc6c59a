import Foundation
import Testing
import UserNotifications

@Suite("An attachment") final class StandInAttachmentTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func file(_ name: String) throws -> URL {
        let url = folder.appendingPathComponent(name)
        try Data("bytes".utf8).write(to: url)
        return url
    }

    @Test(
        "an attachment takes its type from the file's extension",
        arguments: [
            ("a.aiff", "public.aiff-audio", 5), ("a.wav", "com.microsoft.waveform-audio", 5),
            ("a.mp3", "public.mp3", 5), ("a.m4a", "public.mpeg-4-audio", 5), ("a.JPG", "public.jpeg", 10),
            ("a.gif", "com.compuserve.gif", 10), ("a.png", "public.png", 10), ("a.mpg", "public.mpeg", 50),
            ("a.m2v", "public.mpeg-2-video", 50), ("a.mp4", "public.mpeg-4", 50), ("a.avi", "public.avi", 50),
        ])
    func typeFromExtension(name: String, type: String, megabytes: Int) throws {
        let url = try file(name)
        let attachment = try UNNotificationAttachment(identifier: "image", url: url, options: nil)
        #expect(attachment.identifier == "image")
        #expect(attachment.url == url)
        #expect(attachment.type == type)
        #expect(attachment.maximumByteCount == megabytes * 1_000_000)
    }

    @Test("an attachment believes a type hint more than the extension") func typeHint() throws {
        let options = [UNNotificationAttachmentOptionsTypeHintKey: "public.png"]
        #expect(try UNNotificationAttachment(identifier: "", url: file("a.mov"), options: options).type == "public.png")
        let hint = [UNNotificationAttachmentOptionsTypeHintKey: "public.plain-text" as NSString]
        #expect(try refusal(file("a.png"), options: hint) == .attachmentUnrecognizedType)
    }

    @Test("an attachment needs a file URL of a readable regular file") func invalidURL() throws {
        let folderWithExtension = folder.appendingPathComponent("folder.png")
        try FileManager.default.createDirectory(at: folderWithExtension, withIntermediateDirectories: false)
        let web = try #require(URL(string: "https://example.com/a.png"))
        for url in [web, folder.appendingPathComponent("none.png"), folderWithExtension] {
            #expect(refusal(url) == .attachmentInvalidURL)
        }
    }

    @Test("an attachment needs an accepted type", arguments: ["a", "a.txt", "a.mov", "a.png.zip"])
    func unrecognizedType(name: String) throws {
        #expect(try refusal(file(name)) == .attachmentUnrecognizedType)
    }

    @Test("an attachment tells what its options say about the thumbnail") func thumbnail() throws {
        let options: [AnyHashable: Any] = [
            UNNotificationAttachmentOptionsThumbnailHiddenKey: NSNumber(value: true),
            UNNotificationAttachmentOptionsThumbnailClippingRectKey: [
                "X": 0, "Y": 0.25, "Width": NSNumber(value: 1), "Height": CGFloat(0.5),
            ] as [String: Any], UNNotificationAttachmentOptionsThumbnailTimeKey: ["value": 300, "timescale": 600],
        ]
        let thumbnail = try UNNotificationAttachment(identifier: "", url: file("a.mp4"), options: options).thumbnail
        #expect(thumbnail.isHidden)
        #expect(thumbnail.clippingRect == CGRect(x: 0, y: 0.25, width: 1, height: 0.5))
        #expect(thumbnail.time == 0.5)

        let plain = try UNNotificationAttachment(identifier: "", url: file("a.gif")).thumbnail
        #expect(!plain.isHidden)
        #expect(plain.clippingRect == nil)
        #expect(plain.time == nil)
    }

    @Test("an attachment is equal by value, also within content") func value() throws {
        let options: [AnyHashable: Any] = [
            UNNotificationAttachmentOptionsThumbnailHiddenKey: true, UNNotificationAttachmentOptionsThumbnailTimeKey: 2,
            UNNotificationAttachmentOptionsThumbnailClippingRectKey: ["X": 0, "Y": 0, "Width": 1, "Height": 0.5],
        ]
        let url = try file("a b.png")
        let attachment = try UNNotificationAttachment(identifier: "image", url: url, options: options)
        #expect(try attachment == UNNotificationAttachment(identifier: "image", url: url, options: options))
        #expect(try attachment != UNNotificationAttachment(identifier: "image", url: url))

        let content = UNMutableNotificationContent()
        content.attachments = [attachment]
        #expect(content != UNMutableNotificationContent())
        #expect(content.attachments == [attachment])
    }
}

/// The code of the `UNError` an attachment is refused with.
private func refusal(_ url: URL, options: [AnyHashable: Any]? = nil) -> UNError.Code? {
    do {
        _ = try UNNotificationAttachment(identifier: "", url: url, options: options)
        return nil
    } catch { return (error as? UNError)?.code }
}
