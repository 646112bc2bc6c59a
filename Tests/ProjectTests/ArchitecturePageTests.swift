import Foundation
import TestSupport
import Testing

@Suite("Docs/Architecture.md") struct ArchitecturePageTests {
    private let page: String

    init() throws { page = try Checkout.text(Checkout.folder.appending(path: "Docs/Architecture.md")) }

    @Test("The page's table of a message's way names functions that exist") func way() throws {
        var count = 0
        for match in page.matches(of: #/\| `([A-Za-z]+/[^`]+\.swift)` \| `([^`]+)` \|/#) {
            let file = try Checkout.text(#require(Self.file(String(match.1))))
            #expect(file.contains(match.2), "\(match.1) has no \(match.2)")
            count += 1
        }
        #expect(count > 20)
    }

    @Test("The page names every module, and only files that exist") func files() throws {
        for match in page.matches(of: #/`([A-Za-z_]+/[A-Za-z+/.]+\.(?:swift|py))`/#) {
            #expect(Self.file(String(match.1)) != nil, "\(match.1)")
        }
        for group in Self.groups {
            let folder = Checkout.folder.appending(path: "Sources/\(group)")
            for module in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                #expect(page.contains(module), "\(module)")
            }
        }
    }

    private static let groups = ["Core", "Device", "Server", "Simulator", "Commands"]

    /// A file as the page names it: in a module, whichever folder of Sources has that, or from the checkout's root.
    private static func file(_ path: String) -> URL? {
        (groups.map { "Sources/\($0)/\(path)" } + [path]).map { Checkout.folder.appending(path: $0) }
            .first { FileManager.default.fileExists(atPath: $0.path) }
    }

    @Test("Each decision has a date and a status, and the list has its title") func decisions() throws {
        let folder = Checkout.folder.appending(path: "Docs/Decisions")
        let list = try Checkout.text(folder.appending(path: "README.md"))
        let pages = try Checkout.files(in: "Docs/Decisions", ending: ".md").filter {
            $0.lastPathComponent != "README.md"
        }
        #expect(pages.count > 30)
        for file in pages {
            let lines = try Checkout.text(file).split(separator: "\n", omittingEmptySubsequences: false)
            let number = file.lastPathComponent.prefix(4)
            #expect(lines[0].hasPrefix("# \(number) "), "\(file.lastPathComponent)")
            #expect(
                lines[1].contains(/^Date: 20\d\d-\d\d-\d\d\. Status: (in force|superseded by \[\d{4}\])/), "\(number)")
            let row = "| [\(number)](\(file.lastPathComponent)) | \(lines[0].dropFirst(7)) |"
            #expect(list.contains(row), "\(row)")
        }
    }
}
