import Foundation
import TestSupport
import Testing

/// CONTRIBUTING.md, "English", has an example of each form. A list can't make a text good; it keeps old habits out.
@Suite("The English") struct EnglishTests {
    /// Forms that this project once had by the hundred, and a sentence with each.
    private static let forbidden = [
        (
            #"(?<![Tt]here )\b(is|are|was|were) no (?!longer|more|less|later|earlier|worse|better|other|one\b)[a-z]"#,
            "this is no key"
        ),
        (#"(?:^|[.:] )(What|Whose|Who) (?![^.?\n]*\?)"#, "Who makes one closes it."),
        (#"\b(by|for|from|to) whoever\b"#, "for whoever looks at it"),
        (#"\bwhat (is|was|has been) [a-z]+ed\b"#, "hides what is sealed."),
        (#"\b(nil|set|empty|none|null|except|but|only|also|and) where\b"#, "nil where signing failed"),
        (#"\bwhere (there|it|one|none|nothing) (is|was|are|has)\b"#, "taken, where there is one"),
        (#"\bbe it\b"#, "a server, be it busy"),
        (#"\b(so|as) many (bytes|days|seconds|characters|times|of)\b(?! as)"#, "after so many days"),
        (#"\bhad (again|back)\b"#, "so that they can be had again"),
        (#"\bbelongs? into\b"#, "it belongs into the record"),
        (#"\b[Ll]ikewise\b"#, "nil likewise"),
        (#"\b[Mm]end(s|ed|ing)?\b"#, "a mend has a test"),
        (#"\b([Ss]omebody|nobody)'s\b"#, "somebody's key"),
        (#"\bput off\b"#, "pushes that are put off"),
        (#"\bfor good\b"#, "it is gone for good"),
        (#"(?<!out )\bof (no )?use\b"#, "a frame of no use"),
        (#"\bknows? nothing of\b"#, "a keyring knows nothing of it"),
        (#"\bin good order\b"#, "it ends in good order"),
        (#"\bOf (everyone|the (senders|devices|faults|file|same))\b"#, "Of everyone, this part"),
        (#"\b([Bb]ehaviour|[Cc]olour|[Ll]icence|[Ee]nrolment|[Cc]entre|[Gg]rey|[Ff]avour)\w*\b"#, "its behaviour"),
        (
            #"(?<!un)(recogni|organi|initiali|seriali|normali|summari|authori|synchroni)s(e|es|ed|ing|ation)\b"#,
            "recognised"
        ),
    ]

    private static func expression(_ pattern: String) throws -> NSRegularExpression {
        try NSRegularExpression(pattern: pattern, options: [.anchorsMatchLines])
    }

    /// Returns all matches. Foundation's expressions take a tenth of the time of Swift's for texts of this length.
    private static func matches(_ pattern: NSRegularExpression, in text: String) -> [Substring] {
        pattern.matches(in: text, range: NSRange(text.startIndex..., in: text))
            .compactMap { Range($0.range, in: text).map { text[$0] } }
    }

    private static func replacing(_ patterns: [(String, String)], in text: String) throws -> String {
        try patterns.reduce(text) { text, change in
            let range = NSRange(text.startIndex..., in: text)
            return try expression(change.0).stringByReplacingMatches(in: text, range: range, withTemplate: change.1)
        }
    }

    /// Returns the comments and string literals of Swift source, each block of comment lines as one line without code spans.
    private static func words(ofSwift source: String) throws -> String {
        let joined = try replacing([(#"\n\s*///? ?"#, "\n// ")], in: source)
        let literal = #"\"\"\"[\s\S]*?\"\"\"|\"(?:[^\"\\\n]|\\.)* (?:[^\"\\\n]|\\.)*\""#
        let pieces = matches(try expression(#"(?:^// .*\n)+|//.*$|"# + literal), in: joined)
            .map { $0.replacing("\n// ", with: " ").trimmingPrefix("// ").trimmingPrefix("\"") }
        return try replacing([(#"`[^`\n]*`"#, "X")], in: pieces.joined(separator: "\n"))
    }

    /// Returns the text without code, links' targets, and tags.
    private static func words(ofMarkdown text: String) throws -> String {
        let code = [(#"^```[\s\S]*?^```"#, ""), (#"`[^`]*`"#, "X")]
        return try replacing(code + [(#"\]\([^)]*\)"#, "]"), (#"<[^>]*>"#, "")], in: text)
    }

    /// Paragraphs, list items, and cells of tables, each split into sentences.
    private static func sentences(in text: String) -> [Substring] {
        var blocks: [String] = [""]
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("|") {
                blocks += line.split(separator: "|").map(String.init) + [""]
            } else if line.isEmpty || line.hasPrefix("#") {
                blocks.append("")
            } else if line.prefixMatch(of: #/([-*+]|[0-9]+\.) /#) != nil {
                blocks.append(line)
            } else {
                blocks[blocks.count - 1] += " " + line
            }
        }
        // A regular expression would take seconds.
        return blocks.flatMap { block in
            block.split(separator: ". ").flatMap { $0.split(separator: "? ") }.flatMap { $0.split(separator: "! ") }
        }
    }

    @Test("The check finds each forbidden form in its example", arguments: forbidden.indices) func examples(index: Int)
        throws
    {
        let (pattern, example) = Self.forbidden[index]
        #expect(!Self.matches(try Self.expression(pattern), in: example).isEmpty)
        let source = "let x = 1\n    /// Some words.\n    /// \(example)\nprint(\"one: \(example)\")"
        #expect(Self.matches(try Self.expression(pattern), in: try Self.words(ofSwift: source)).count == 2)
    }

    @Test("Sources, scripts, and documents have no forbidden form") func forms() throws {
        let all = try Self.expression(Self.forbidden.map { "(?:\($0.0))" }.joined(separator: "|"))
        var fileCount = 0
        for (ending, folders) in [(".swift", ["Sources", "Examples"]), (".md", [""]), ("", ["Scripts"])] {
            let files = try folders.flatMap { try Checkout.files(in: $0, ending: ending) }
            for file in files where !file.hasDirectoryPath {
                fileCount += 1
                let text = try Checkout.text(file)
                let words =
                    switch ending {
                    case ".md": try Self.words(ofMarkdown: text)
                    case ".swift": try Self.words(ofSwift: text)
                    default: text
                    }
                for match in Self.matches(all, in: words) {
                    let line = words[words.lineRange(for: match.startIndex..<match.endIndex)]
                    Issue.record("\(file.lastPathComponent): “\(match)” in: \(line)")
                }
            }
        }
        #expect(fileCount > 300)
    }

    @Test("A sentence in a document has at most 30 words") func lengths() throws {
        #expect(Self.sentences(in: "One two. Three\nfour!\n\n- Five").count == 3)
        var count = 0
        for file in try Checkout.files(in: "", ending: ".md") {
            for sentence in Self.sentences(in: try Self.words(ofMarkdown: try Checkout.text(file))) {
                count += 1
                let length = sentence.split(separator: " ").count
                #expect(length <= 30, "\(file.lastPathComponent), \(length) words: \(sentence)")
            }
        }
        #expect(count > 2000)
    }
}
