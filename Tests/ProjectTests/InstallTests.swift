import Foundation
import TestPrograms
import TestSupport
import Testing

/// With a stand-in for the build, which takes minutes: it says that the programs beside the tests were built.
@Suite("Installing the programs", .blocking) struct InstallTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let built = Program("sealedpush").executable.deletingLastPathComponent().path
        let script = """
            #!/bin/sh
            echo "$@" >>'\(folder.path)/calls'
            case "$*" in *--show-bin-path) echo '\(built)' ;; esac
            """
        try folder.program(script, at: "bin/swift")
    }

    private func install(_ arguments: String...) throws -> Program.Result {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let script = Checkout.folder.appending(path: "Scripts/install").path
        return try Program(at: "/usr/bin/env", in: folder.url).run(
            ["PATH=\(folder.appending("bin").path):\(path)", "bash", script] + arguments)
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOf: folder.appending(path), encoding: .utf8)
    }

    @Test("both are optimized, stripped, and work") func installs() throws {
        let result = try install("out")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try text("calls").contains("build -c release --product sealedpush\n"))
        for name in ["sealedpush", "device-simulator"] {
            let installed = folder.appending("out/bin/\(name)")
            let sizes = try [installed, Program(name).executable].map { try Data(contentsOf: $0).count }
            #expect(sizes[0] < sizes[1])
            #expect(try Program(at: installed.path).run("--help").output.contains("USAGE: \(name)"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.appending("out/bin").path).count == 2)
    }

    @Test("what is there is not replaced unasked, and nothing is built") func refuses() throws {
        try FileManager.default.createDirectory(at: folder.appending("out/bin"), withIntermediateDirectories: true)
        _ = try folder.write("mine", to: "out/bin/device-simulator")
        let result = try install("out")
        #expect(result.status == 74)
        #expect(
            result.errors.hasSuffix("out/bin/device-simulator exists already, and is not replaced without --force.\n"))
        #expect(try text("out/bin/device-simulator") == "mine")
        #expect(!FileManager.default.fileExists(atPath: folder.appending("calls").path))
        #expect(try install("out", "--force").status == 0)
        #expect(try Program(at: folder.appending("out/bin/device-simulator").path).run("--help").status == 0)
    }
}
