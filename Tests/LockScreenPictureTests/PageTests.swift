import Foundation
import TestSupport
import Testing
import UserNotifications

@testable import LockScreenPicture
@testable import PushSimulator

@Suite("The lock screen as a page")
struct PageTests {
    @Test("has what each push shows, and what became of it")
    func outcomes() {
        let html = Pushes.html([
            Pushes.delivery(Pushes.shown("One", "first", thread: "1"), name: "one.apns"),
            Pushes.delivery(Pushes.shown("", "There is news", thread: "2"), .safeDefault, reason: "replayed"),
            Pushes.delivery(
                Pushes.shown("Wire", "text", thread: "3"), .original, note: "the extension did not finish in time"),
            Pushes.delivery(Pushes.shown("Other", "text"), .modified),
            Pushes.delivery(Pushes.shown("Other", "newer"), .modified), Pushes.nothing("no alert"),
        ])
        for text in [
            "<div class=\"title\" dir=\"auto\">One</div>", "first", "one.apns", "Sealed content",
            "Safe default: replayed", "There is news", "The wire&#39;s own text",
            "the extension did not finish in time", "The extension&#39;s text, not sealed", "Nothing is shown",
            "no alert",
        ] {
            #expect(html.contains(text), "\(text)")
        }
        // Two in one stack, as iOS groups what names no conversation; the last is nowhere.
        #expect(html.components(separatedBy: "<article").count == 5)
        #expect(html.contains("1 more"))
    }

    @Test("stacks conversations, the newest on top, and says what is below and what was replaced")
    func stacks() {
        let html = Pushes.html([
            Pushes.delivery(Pushes.shown("A", "a1", thread: "a")),
            Pushes.delivery(Pushes.shown("B", "b1", thread: "b")),
            Pushes.delivery(Pushes.shown("A", "a2", thread: "a")),
            Pushes.delivery(Pushes.shown("C", "c1", thread: "c"), identifier: "same"),
            Pushes.delivery(Pushes.shown("C", "c2", thread: "c"), identifier: "same"),
        ])
        let bodies = html.matches(of: /<div class="body" dir="auto">([^<]*)</).map { String($0.1) }
        #expect(bodies == ["c2", "a2", "b1"])
        #expect(html.contains("in the stack below 3"))
        #expect(html.contains("replaced by 5"))
        #expect(html.contains("1 more"))
    }

    @Test("shows what is time sensitive, and hints at sound and badge beside the phone")
    func hints() {
        let content = UNMutableNotificationContent()
        content.body = "Now"
        content.badge = 7
        content.sound = .defaultCritical
        content.interruptionLevel = .timeSensitive
        let html = Pushes.html([Pushes.delivery(ShownNotification(content))])
        #expect(html.contains("Time Sensitive"))
        #expect(html.contains("badge 7"))
        #expect(html.contains("sound default, even when muted"))
        #expect(Pushes.html([Pushes.delivery(Pushes.shown(level: .passive))]).contains("the screen stays dark"))
    }

    @Test("runs and fetches nothing, whatever a text, a name or a reason holds")
    func hostile() {
        let hostile =
            "</style></div><script>alert(1)</script><img src=http://x.example onerror='a'>\"`&amp;\u{0}\u{1b}[2J\u{202e}\u{2066}\r\n\u{85}"
        let html = LockScreenPicture(
            [
                Pushes.delivery(
                    Pushes.shown(hostile, subtitle: hostile, hostile, thread: hostile), .safeDefault, reason: hostile,
                    note: hostile, name: hostile)
            ], appName: hostile, isDark: true
        ).html
        let tags = Set(html.matches(of: /<\/?([a-z!][a-z0-9]*)/).map { String($0.1) })
        #expect(
            tags.subtracting(["!doctype"]) == [
                "html", "head", "meta", "title", "style", "body", "section", "div", "article", "bdi", "span", "ol",
                "li", "strong",
            ])
        #expect(!html.contains("<script") && !html.contains("<img") && html.contains("&#60;script&#62;"))
        #expect(html.components(separatedBy: "</style>").count == 2)
        #expect(html.contains("default-src 'none'"))
        for scalar in html.unicodeScalars where scalar != "\n" {
            let isPlain = !(0...0x1f).contains(scalar.value) && !(0x7f...0x9f).contains(scalar.value)
            #expect(isPlain && ![0x202e, 0x2066].contains(scalar.value), "\(scalar.value)")
        }
    }

    @Test("holds thumbnails within itself, small ones only, and a sign where there is none")
    func thumbnails() throws {
        let folder = try TemporaryFolder()
        let file = folder.appending("a.png")
        var random = SeededGenerator()
        // Noise, which compresses least.
        let noise = Raster(width: 600, height: 600, stripes: (0..<600).map { _ in random.bytes(3) })
        try #require(noise.png).write(to: file)
        let html = Pushes.html([Pushes.delivery(Pushes.shown(attachments: [Pushes.attachment(file)]))])
        let sources = html.matches(of: /src="([^"]*)"/).map { String($0.1) }
        #expect(sources.count == 1)
        let source = try #require(sources.first)
        #expect(source.hasPrefix("data:image/png;base64,"))
        #expect(source.utf8.count < 120_000)
        let sound = Pushes.attachment(file, type: "public.mp3")
        #expect(Pushes.html([Pushes.delivery(Pushes.shown(attachments: [sound]))]).contains("♪"))
        var hidden = Pushes.attachment(file)
        hidden.thumbnail.isHidden = true
        #expect(
            !Pushes.html([Pushes.delivery(Pushes.shown(attachments: [hidden]))]).contains("class=\"preview\""))
    }

    @Test("leaves out what no screen could show: 30 conversations and 60 captions are enough")
    func many() {
        let deliveries = (0..<150).map { Pushes.delivery(Pushes.shown("T", "b\($0)", thread: "\($0)")) }
        let html = Pushes.html(deliveries)
        #expect(html.components(separatedBy: "<article").count == 31)
        #expect(html.components(separatedBy: "<li>").count == 61)
        #expect(html.contains("and 120 conversations more"))
        #expect(html.contains("and 90 pushes more"))
        #expect(html.contains("b149"))
    }
}
