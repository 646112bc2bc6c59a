import Foundation
import PushCore
import SealedPush
import TestSupport
import Testing

@Suite("Visible text") struct VisibleTextTests {
    private static func ranges(_ words: [Substring]) -> [ClosedRange<UInt32>] {
        words.compactMap { word in
            let ends = word.split(separator: "-").compactMap { UInt32($0, radix: 16) }
            guard let first = ends.first, let last = ends.last else { return nil }
            return first...last
        }
    }

    @Test("The invisible scalars are those of the vectors and of the Specification") func list() throws {
        let vectors = try Checkout.text(Checkout.folder.appending(path: "Tests/Vectors/Text/invisible.txt"))
        let lines = vectors.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines.count == 62 && Self.ranges(lines) == VisibleText.invisible)
        let document = try Checkout.text(Checkout.folder.appending(path: "Docs/Specification.md"))
        let section = try #require(document.split(separator: "\n4.7 ").last)
        let block = try #require(section.split(separator: "```\n").dropFirst().first)
        #expect(Self.ranges(block.split { $0.isWhitespace }) == VisibleText.invisible)
    }

    @Test("A text is visible if one of its scalars is") func texts() {
        for range in VisibleText.invisible {
            for value in [range.lowerBound, range.upperBound] {
                guard let scalar = Unicode.Scalar(value) else { continue }
                #expect(!VisibleText.isVisible(String(Character(scalar))), "\(value)")
                #expect(!Content.Alert(title: "", subtitle: " ", body: "\(scalar)\(scalar)").isVisible, "\(value)")
                #expect(VisibleText.isVisible("\(scalar)a"), "\(value)")
            }
            for value in [range.lowerBound &- 1, range.upperBound + 1] {
                guard let scalar = Unicode.Scalar(value) else { continue }
                #expect(VisibleText.isVisible(String(Character(scalar))), "\(value)")
            }
        }
        for text in ["\u{fff9}\u{fffa}\u{fffb}\u{fffc}", "\u{1d159}", "\u{16fe4}", "\u{13430}", "\u{2800}\u{200d}", ""]
        {
            #expect(!VisibleText.isVisible(text))
        }
        for text in ["Zoë", "﷽", "日本語", "नमस्ते", "👩‍👧‍👦", "\u{2800}\u{2801}", "\u{600}", "\u{f8ff}", "\u{fffd}", "𓀀"] {
            #expect(VisibleText.isVisible(text), "\(text)")
        }
    }

    @Test("The list contains what Unicode calls white space, control, ignorable, or a format without a glyph")
    func properties() {
        // Marks in front of numbers, which have a glyph (property Prepended_Concatenation_Mark).
        let marks: Set<UInt32> = Set(0x600...0x605).union([0x6dd, 0x70f, 0x890, 0x891, 0x8e2, 0x110bd, 0x110cd])
        for value in UInt32(0)...0x10ffff {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let properties = scalar.properties
            let isBlank =
                properties.isWhitespace || properties.isDefaultIgnorableCodePoint || properties.isNoncharacterCodePoint
                || properties.generalCategory == .control
                || properties.generalCategory == .format && !marks.contains(value)
            guard isBlank, VisibleText.isVisible(scalar) else { continue }
            Issue.record("U+\(String(value, radix: 16))")
        }
    }
}
