import Foundation
import TestPrograms
import TestSupport
import Testing

/// Runs the tests in `Tests/Tools/Release`, which make small packages instead of building the programs.
@Suite("A release", .blocking) struct ReleaseTests {
    private func expectSuccess(_ module: String, python: String = "/usr/bin/python3") throws {
        let folder = Checkout.folder.appending(path: "Tests/Tools/Release")
        let result = try Program(at: python, in: folder).run("-B", "-m", "unittest", module)
        #expect(result.status == 0 && result.errors.hasSuffix("\nOK\n"), "\(result.output)\(result.errors)")
    }

    @Test("Packages, the image, and the bill of materials state their architecture, and no script names one")
    func architectures() throws { try expectSuccess("test_packaging") }

    @Test("apt installs from a repository that a key signed, and refuses any change to it")
    func repository() throws { try expectSuccess("test_repository") }

    @Test("Scripts/release makes, checks, and signs everything, tags last, and refuses what isn't ready")
    func release() throws {
        _ = try PreparedPython.path()
        try expectSuccess("test_release")
    }

    @Test("Each workflow is pinned and may do no more than it needs, and only one that waits for approval publishes")
    func workflows() throws { try expectSuccess("test_workflows", python: PreparedPython.path()) }
}
