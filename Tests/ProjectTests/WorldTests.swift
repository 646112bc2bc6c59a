import Foundation
import TestPrograms
import TestSupport
import Testing

#if compiler(>=6.3)
/// Worlds of the server, Apple, and phones, which `Tests/Evidence/Worlds` draws from seeds. Scripts/worlds runs many more.
@Suite("The worlds", .blocking) struct WorldTests {
    private func lines(_ arguments: String...) throws -> (status: Int32, lines: [Substring]) {
        let result = try Program("worlds").run(arguments)
        #expect(result.errors.isEmpty, "\(result.errors)")
        return (result.status, result.output.split(separator: "\n"))
    }

    @Test("A seed does the same in each process, to the last byte of its log", arguments: [3, 4])
    func repeats(seed: Int) throws {
        let runs = try (0..<2).map { _ in try lines("\(seed)", "--operations", "150", "--verbose") }
        #expect(runs.allSatisfy { $0.status == 0 })
        #expect(runs[0].lines.count > 150)
        // The last line has the time that it took.
        #expect(runs[0].lines.dropLast() == runs[1].lines.dropLast())
        let other = try lines("\(seed + 2)", "--operations", "150", "--verbose")
        #expect(other.lines.dropLast() != runs[0].lines.dropLast())
    }

    @Test("A few worlds keep every promise, also when they run a second time in the same process") func short()
        throws
    {
        let (status, lines) = try lines("1000", "--count", "4", "--operations", "120", "--repeat", "--times")
        #expect(status == 0, "\(lines.joined(separator: "\n"))")
        #expect(lines.last?.hasPrefix("4 worlds, 480 operations, ") == true)
        #expect(lines.contains { $0.hasSuffix(" % extensions") })
    }

    @Test("Plans that broke a promise once keep it now") func found() throws {
        let plans = try Checkout.files(in: "Tests/Evidence/Worlds/Found", ending: ".json")
        #expect(plans.count >= 3)
        for plan in plans {
            let (status, lines) = try lines("--plan", plan.path(percentEncoded: false))
            #expect(status == 0, "\(plan.lastPathComponent): \(lines.joined(separator: "\n"))")
        }
    }
}
#endif
