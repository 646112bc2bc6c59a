import Foundation
import TestPrograms
import TestSupport
import Testing

#if compiler(>=6.3)
/// Mistakes that the compiler must refuse, each in a file of `Tests/MustNotCompile`. The first line has the error; the lines that
/// are refused are marked. Other versions of the compiler word their errors differently.
@Suite("Mistakes that must not compile", .blocking) struct MustNotCompileTests {
    /// A folder of mistakes. Ownership is checked only in files that have no other errors.
    struct Group: CustomStringConvertible {
        let folder: String
        /// Whether the files belong to this package. Others see only what is public.
        let isInside: Bool
        var description: String { folder }

        static let all = [
            Group(folder: "Public", isInside: false), Group(folder: "Package", isInside: true),
            Group(folder: "Ownership", isInside: true),
        ]

        var files: [URL] {
            get throws { try Checkout.files(in: "Tests/MustNotCompile/\(folder)", ending: ".swift") }
        }

        func compile(_ paths: [String]) throws -> Program.Result {
            try Compiler.run(
                ["-emit-sil", "-o", "/dev/null", "-parse-as-library"]
                    + (isInside ? ["-package-name", Compiler.package] : []) + paths)
        }
    }

    @Test("Each is refused, for the reason that its file names", arguments: Group.all)
    func refused(group: Group) throws {
        let files = try group.files
        #expect(files.count >= 3)
        let result = try group.compile(files.map(\.path))
        let errors = result.errors.matches(of: /(?m)^\/.*?([A-Za-z]+)\.swift:\d+:\d+: error: (.*)$/)
            .map { (file: $0.1, error: $0.2) }
        for file in files {
            let text = try Checkout.text(file)
            let expected = try #require(text.firstMatch(of: /^\/\/ error: (.+)\n/)?.1, "\(file.lastPathComponent)")
            let found = errors.filter { "\($0.file).swift" == file.lastPathComponent }.map(\.error)
            #expect(found.count == 1 && found[0].contains(expected), "\(file.lastPathComponent): \(found)")
        }
        #expect(errors.count == files.count)
    }

    @Test("Without the marked lines, each compiles", arguments: Group.all) func twins(group: Group) throws {
        let folder = try TemporaryFolder()
        let paths = try group.files.map { file in
            let lines = try Checkout.text(file).split(separator: "\n", omittingEmptySubsequences: false)
            let rest = lines.filter { !$0.hasSuffix("  // refused") }
            #expect(rest.count < lines.count, "\(file.lastPathComponent)")
            return try folder.write(rest.joined(separator: "\n"), to: file.lastPathComponent)
        }
        let result = try group.compile(paths)
        #expect(result.status == 0, "\(result.errors)")
    }
}
#endif
