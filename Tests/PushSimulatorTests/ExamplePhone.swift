import Foundation
import TestPrograms
import TestSupport
import Testing

/// The phone with the published test keys, which the examples trust, and one of them as its app's extension.
struct ExamplePhone {
    let folder: TemporaryFolder
    private let program: String
    private static let keys = Checkout.folder.appending(path: "Tests/Keyring").path

    init(running program: String) throws {
        folder = try TemporaryFolder()
        self.program = program
    }

    var state: URL { folder.appending("Phone") }

    /// Seals content as a server does, and delivers it.
    func show(_ content: String, sealedWith more: [String] = []) throws -> [String: Any] {
        let file = try folder.write(content, to: "content.json")
        return try show(file: file, sealedWith: more)
    }

    /// The same for content in a file.
    func show(
        file: String, sealedWith more: [String] = [], deliveredWith rules: [String] = [],
        limitingFilesTo blocks: Int? = nil
    ) throws -> [String: Any] {
        let push = folder.appending(UUID().uuidString).path
        let sealed = try Program("sealedpush").run(
            ["seal", file, "--from", "test-newsroom", "--to", "test-phone", "--topic", "com.example.app"]
                + ["--keyring", Self.keys, "--output", push] + more)
        try #require(sealed.status == 0, "\(sealed.errors)")
        return try deliver(push, rules, limitingFilesTo: blocks)
    }

    /// - Parameter blocks: of 512 bytes: no file of the simulator's or the extension's may grow beyond so many.
    func deliver(_ push: String, _ rules: [String] = [], limitingFilesTo blocks: Int? = nil) throws -> [String: Any] {
        let words =
            ["deliver", push, "--device", "test-phone", "--topic", "com.example.app", "--keyring", Self.keys]
            + ["--extension", Program(program).executable.path, "--state", state.path, "--json"] + rules
        let simulator = Program("device-simulator")
        let result =
            if let blocks {
                // Writing beyond the limit is an error then, and no signal that ends the process.
                try Program(at: "/bin/sh").run(
                    ["-c", "trap '' XFSZ; ulimit -f \(blocks); exec \"$0\" \"$@\"", simulator.executable.path] + words)
            } else { try simulator.run(words) }
        try #require(result.status == 0, "\(result.errors)")
        return try #require(result.objects.first)
    }
}
