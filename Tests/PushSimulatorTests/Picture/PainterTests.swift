import Foundation
import TestSupport
import Testing
import UserNotifications

@testable import PushSimulator
@testable import device_simulator

@Suite("The drawing of the lock screen") struct PainterTests {
    private func picture(_ deliveries: [LockScreenPicture.PicturedPush]) throws -> Raster {
        try Raster(png: LockScreenPicture(deliveries, appName: "App").png())
    }

    private func picture(_ title: String = "", _ body: String) throws -> Raster {
        try picture([Pushes.delivery(Pushes.shown(title, body))])
    }

    /// Returns the columns, in points, of the first card's text that contain black in these rows.
    private func inkedColumns(_ picture: Raster, rows: ClosedRange<Int>) -> [Int] {
        (112...412).filter { x in
            (rows.lowerBound * 2...rows.upperBound * 2).contains { y in picture[x * 2, y].allSatisfy { $0 < 90 } }
        }
    }

    @Test("the picture has right-to-left text at the right, and other text at the left")
    func direction() throws {
        let rows = 236...254
        let left = inkedColumns(try picture("Hi", "x"), rows: rows)
        let right = inkedColumns(try picture("נינה", "x"), rows: rows)
        #expect(!left.isEmpty && !right.isEmpty)
        #expect(left.allSatisfy { $0 < 180 })
        #expect(right.allSatisfy { $0 > 320 })
    }

    @Test("the picture cuts long text after four lines") func cut() throws {
        func height(_ lineCount: Int) throws -> Int {
            let body = (0..<lineCount).map { "line \($0)" }.joined(separator: "\n")
            // Twelve cards, because below the phone's minimum height a difference wouldn't show.
            let deliveries = (0..<12).map { Pushes.delivery(Pushes.shown("T", body, thread: "\($0)")) }
            return try picture(deliveries).height
        }
        let (three, four, forty) = (try height(3), try height(4), try height(40))
        #expect(three < four)
        #expect(four == forty)
        let words = String(repeating: "word ", count: 4_000)
        let deliveries = (0..<12).map { Pushes.delivery(Pushes.shown("T", words, thread: "\($0)")) }
        #expect(try picture(deliveries).height == four)
    }

    @Test("the picture shows the outcome's color") func colors() throws {
        let picture = try picture([Pushes.delivery(Pushes.shown("T", "b"), .original)])
        let isRed = (0..<picture.height).contains { y in
            let color = picture[942, y]
            return color[0] > 200 && color[1] < 80
        }
        #expect(isRed)
    }

    @Test("the picture has the attachment's thumbnail at the right of the card") func thumbnail() throws {
        let folder = try TemporaryFolder()
        let file = folder.appending("a.png")
        try #require(Raster(width: 300, height: 300, stripes: [[0, 200, 0]]).png).write(to: file)
        let attachment = Pushes.attachment(file)
        let picture = try picture([Pushes.delivery(Pushes.shown(attachments: [attachment]))])
        let green = (0..<picture.width).filter { x in
            let color = picture[x, 480]
            return color[1] > 170 && color[0] < 60 && color[2] < 60
        }
        #expect((84...92).contains(green.count))
        #expect((green.first ?? 0) > 700 && (green.last ?? 0) < 836)
    }

    @Test("the picture can hold the maximum number of the tallest cards and captions")
    func largest() throws {
        // Tibetan stacks are the tallest letters.
        let text = String(repeating: "བསྒྲུབས་", count: 400)
        let deliveries = (0..<40).map { index in
            Pushes.delivery(
                Pushes.shown(text, subtitle: text, text, thread: "\(index)", level: .timeSensitive), .original,
                reason: text, note: text, name: text)
        }
        // The height is in the file's header. Cairo's own limit is 32,767.
        let png = try LockScreenPicture(deliveries, appName: text).png()
        let height = png[20..<24].reduce(0) { $0 << 8 | Int($1) }
        #expect((5_000...32_767).contains(height))
    }

    @Test("drawing never traps, whether the text is random, has endless accents, or is empty")
    func random() throws {
        var random = SeededGenerator()
        #expect(try picture([]).height > 1_000)
        _ = try picture("a" + String(repeating: "\u{301}", count: 5_000), String(repeating: "\n", count: 5_000))
        _ = try picture("\u{202e}\u{2066}\u{2067}", "\u{0}\u{7f}\u{feff}\r\n\u{2028}")
        for _ in 0..<6 {
            let scalars = (0..<Int.random(in: 1...300, using: &random)).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: 0...0x1_ffff, using: &random))
            }
            let text = String(String.UnicodeScalarView(scalars))
            _ = try picture([
                Pushes.delivery(Pushes.shown(text, subtitle: text, text, thread: text), .opened, note: text, name: text)
            ])
        }
    }
}
