import Foundation
import TestPrograms
import TestSupport
import Testing

private let promtool = "/usr/bin/promtool"
private let isThere = FileManager.default.isExecutableFile(atPath: promtool)

/// With Debian's promtool, of the package prometheus, which `Scripts/test --thorough` installs. That each figure in them is served is
/// ServeCommandTests'.
@Suite("Docs/alerts.yml", .blocking, .enabled(if: isThere, "promtool is not installed")) struct AlertTests {
    @Test("each rule fires on what it is for, and on nothing on a good day") func rules() throws {
        let program = Program(at: promtool, in: Checkout.folder)
        for words in [["check", "rules", "Docs/alerts.yml"], ["test", "rules", "Tests/Alerts/alerts-test.yml"]] {
            let result = try program.run(words)
            #expect(result.status == 0, "\(result.output)\(result.errors)")
        }
        let rules = try Checkout.text(Checkout.folder.appending(path: "Docs/alerts.yml"))
        let tests = try Checkout.text(Checkout.folder.appending(path: "Tests/Alerts/alerts-test.yml"))
        for name in rules.matches(of: /alert: (\w+)/).map(\.1) {
            #expect(tests.contains("alertname: \(name)\n"), "no test has \(name) fire")
        }
    }
}
