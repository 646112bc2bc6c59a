import Foundation
import TestPrograms
import TestSupport
import Testing

/// What it seals, opens and asks is held against Swift by InteropTests, AttachTests and ReceiptVectorTests.
@Suite("Clients/Python", .blocking) struct PythonClientTests {
    private let client = Checkout.folder.appending(path: "Clients/Python")

    @Test("its own tests pass: all vectors, a device's life, its README, hostile input") func tests() throws {
        // Debian's own Python, for which the packages are installed.
        let result = try Program(at: "/usr/bin/python3", in: client).run("-B", "-m", "unittest")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("\nOK"), "\(result.errors)")
    }

    @Test("its types are right throughout, and in a thorough run its tests pass with newer PyNaCl and cryptography")
    func types() throws {
        let setUp = try Program(at: Checkout.folder.appending(path: "Scripts/setup-python").path).run()
        try #require(setUp.status == 0, "\(setUp.errors)")
        let python = Program(at: setUp.trimmed, in: client)
        let checked = try python.run("-m", "mypy", "--cache-dir", "/dev/null")
        #expect(checked.status == 0, "\(checked.output)\(checked.errors)")
        guard Thoroughness.isThorough else { return }
        let result = try python.run("-B", "-m", "unittest")
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test("installs by the lines of its README, with its types", .enabled(if: Thoroughness.isThorough))
    func installs() throws {
        let readme = try Checkout.text(client.appending(path: "README.md"))
        let lines = try #require(
            readme.components(separatedBy: "\n```console\n").last?.components(separatedBy: "\n```").first)
        #expect(lines.contains("pip install ./Clients/Python"))
        // A copy: the build writes beside the sources.
        let folder = try TemporaryFolder()
        let copy = folder.appending("Clients/Python")
        try FileManager.default.createDirectory(at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: client, to: copy)
        let script = try folder.write("set -eu\npython3() { /usr/bin/python3 \"$@\"; }\n\(lines)\n", to: "script")
        let installed = try Program(at: "/bin/bash", in: folder.url).run(script)
        #expect(installed.status == 0, "\(installed.errors)")
        let check = """
            import importlib.resources, sealed_push
            sealed_push.Sender(sealed_push.generate_sender_secret(), topic="com.example.app")
            print(importlib.resources.files("sealed_push").joinpath("py.typed").is_file(), sealed_push.__file__)
            """
        let used = try Program(at: folder.appending("venv/bin/python").path, in: folder.url).run("-c", check)
        #expect(used.status == 0 && used.output.hasPrefix("True \(folder.path)/venv/"), "\(used.errors)\(used.output)")
    }
}
