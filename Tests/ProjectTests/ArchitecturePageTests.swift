import Foundation
import TestSupport
import Testing

@Suite("Docs/Architecture.md")
struct ArchitecturePageTests {
    private let page: String

    init() throws { page = try Checkout.text(Checkout.folder.appending(path: "Docs/Architecture.md")) }

    @Test("names each function on a message's way where it is")
    func way() throws {
        var count = 0
        for match in page.matches(of: #/\| `([A-Za-z]+/[^`]+\.swift)` \| `([^`]+)` \|/#) {
            let file = try Checkout.text(Checkout.folder.appending(path: "Sources/\(match.1)"))
            #expect(file.contains(match.2), "\(match.1) has no \(match.2)")
            count += 1
        }
        #expect(count > 20)
    }

    @Test("names files that are there, and every module that has sources")
    func files() throws {
        for match in page.matches(of: #/`([A-Za-z_]+/[A-Za-z+/.]+\.(?:swift|py))`/#) {
            let isThere = ["Sources/", ""].contains { prefix in
                FileManager.default.fileExists(atPath: Checkout.folder.appending(path: prefix + match.1).path)
            }
            #expect(isThere, "\(match.1)")
        }
        let sources = Checkout.folder.appending(path: "Sources")
        for module in try FileManager.default.contentsOfDirectory(atPath: sources.path) {
            // Not C's modules, of which there is a header alone, and not the target that a trait needs.
            guard !module.hasPrefix("C"), module != "ServerTrait" else { continue }
            #expect(page.contains(module), "\(module)")
        }
    }

    @Test("Decisions have a date and a status, and stand in their list by their title")
    func decisions() throws {
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
