import Foundation
import TestPrograms
import TestSupport
import Testing

/// Stand-ins replace the programs that the scripts call, so that nothing is built or installed.
@Suite("The scripts", .blocking) struct ScriptTests {
    private let folder: TemporaryFolder
    private let names: [String]

    init() throws {
        folder = try TemporaryFolder()
        for name in ["swift", "apt-get", "sudo", "dpkg-query", "python3", "curl", "losetup", "mkfs.exfat"] {
            try folder.program("echo \"$PWD\" >>'\(folder.path)/calls'; exit 9", at: "bin/\(name)")
        }
        try folder.program("echo 0", at: "bin/id")
        names =
            try ["Scripts", "Scripts/special"].flatMap { folder in
                try FileManager.default.contentsOfDirectory(atPath: Checkout.folder.appending(path: folder).path)
                    .map { "\(folder)/\($0)" }
            }.filter { (try? Checkout.text(Checkout.folder.appending(path: $0)).hasPrefix("#!")) == true }
            .sorted() + ["Tests/Evidence/Fuzzing/make-seeds"]
    }

    private func run(_ script: String, _ arguments: [String], variables: [String] = []) throws -> Program.Result {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return try Program(at: "/usr/bin/env", in: folder.appending("work")).run(
            ["PATH=\(folder.appending("bin").path):\(path)"] + variables + ["bash", script] + arguments)
    }

    /// The working folders of the stand-ins that were called.
    private var calls: [Substring] {
        ((try? String(contentsOf: folder.appending("calls"), encoding: .utf8)) ?? "").split(separator: "\n")
    }

    @Test("Each fault of Scripts/mutate fits the sources") func mutations() throws {
        let result = try Program(at: Checkout.folder.appending(path: "Scripts/mutate").path).run("--check")
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }

    @Test("Scripts/mutate finds each place by its name, or says why it can't") func places() throws {
        let folder = Checkout.folder.appending(path: "Tests/Evidence/Mutations")
        let result = try Program(at: "/usr/bin/python3", in: folder).run("-B", "-m", "unittest")
        #expect(result.status == 0 && result.errors.contains("\nOK"), "\(result.errors)")
    }

    @Test(
        "Each prints its header with --help, and does nothing else", arguments: [["--help"], ["-h"], ["1", "--help"]])
    func help(arguments: [String]) throws {
        try FileManager.default.createDirectory(at: folder.appending("work"), withIntermediateDirectories: true)
        #expect(names.count >= 13)
        for name in names {
            let script = Checkout.folder.appending(path: name)
            let result = try run(script.path, arguments)
            #expect(result.status == 0 && result.errors.isEmpty, "\(name): \(result.errors)")
            let head = try Checkout.text(script).split(separator: "\n").dropFirst().prefix { $0.hasPrefix("#") }
            #expect(result.output == head.map { $0.dropFirst(2) + "\n" }.joined(), "\(name)")
            #expect(result.output.contains("\nUsage: \(name)"), "\(name)")
        }
        #expect(calls.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.appending("work").path).isEmpty)
    }

    @Test("Each rejects an unknown flag, except one that passes its flags on") func unknownFlags() throws {
        try FileManager.default.createDirectory(at: folder.appending("work"), withIntermediateDirectories: true)
        for name in names where name != "Scripts/build" {
            let result = try run(Checkout.folder.appending(path: name).path, ["--no-such-flag"])
            #expect(result.status == 64 && result.output.isEmpty, "\(name): \(result.output)")
            #expect(result.errors.contains("\nUsage: \(name)"), "\(name): \(result.errors)")
        }
        #expect(calls.isEmpty)
    }

    @Test("Each is run in full by a test, by Scripts/test, or by a script that it runs") func allRun() throws {
        let byTests = [
            "apt-repository", "client-packages", "demo", "device-package", "release", "setup-python", "size",
            "special/drill", "special/vectors",
        ].map { "Scripts/\($0)" }
        let running = ["test", "bench", "fuzz", "special/package-test"].map { "Scripts/\($0)" }
        for name in names where name != "Scripts/test" && !byTests.contains(name) {
            // Its own usage line, or a comment, runs nothing.
            let lines = try running.filter { $0 != name }.flatMap { script in
                try Checkout.text(Checkout.folder.appending(path: script)).split(separator: "\n")
            }.filter { !$0.hasPrefix("#") }
            #expect(lines.contains { "\($0) ".contains("\(name) ") }, "\(name)")
        }
    }

    @Test("Scripts/size adds up: the lines of the modules are the lines in Sources") func size() throws {
        let result = try Program(at: Checkout.folder.appending(path: "Scripts/size").path).run()
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.output)\(result.errors)")
        let all = try #require(result.output.firstMatch(of: /(?m)^Swift in Sources: lines +(\d+)$/)).1
        let parts = result.output.components(separatedBy: "\n\n")
        try #require(parts.count == 3)
        let modules = parts[1].matches(of: /(?m)^\S+ +\d+ +(\d+) +\d+$/).compactMap { Int($0.1) }
        #expect(modules.count >= 10 && modules.reduce(0, +) == Int(all))
        #expect(parts[2].contains("\nsealedpush seal "))
    }

    @Test("An exported CDPATH doesn't lead a script into another project") func searchPath() throws {
        let own = folder.appending("work")
        try FileManager.default.createDirectory(
            at: own.appending(path: "Tests/Evidence/Fuzzing/Sources/fuzz-one"), withIntermediateDirectories: true)
        for project in ["work", "other"] {
            try folder.program("echo \"$PWD\" >>'\(folder.path)/calls'; exit 9", at: "\(project)/Scripts/setup")
        }
        for name in names where name != "Scripts/setup" {
            let text = try Checkout.text(Checkout.folder.appending(path: name))
            #expect(text.contains("\nunset CDPATH\n"), "\(name)")
            try folder.program(text, at: "work/\(name)")
        }
        // Scripts/dependencies reads this.
        try FileManager.default.createDirectory(at: own.appending(path: "Docs"), withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: Checkout.folder.appending(path: "Docs/Dependencies.md"),
            to: own.appending(path: "Docs/Dependencies.md"))
        let arguments = [
            "Scripts/apt-repository": ["Docs", "--key", "Docs", "Docs"], "Scripts/client-packages": ["made"],
            "Scripts/device-package": ["new"], "Scripts/release": ["1.0.0", "--dry-run"],
            "Scripts/fuzz": ["--minutes", "0", "fuzz-one"], "Scripts/special/bare-machine": ["true"],
            "Scripts/special/package-test": ["Docs", "Docs"],
        ]
        let called = names.filter { $0.hasPrefix("Scripts/") && $0 != "Scripts/setup" }
        for name in called {
            let result = try run(name, arguments[name] ?? [], variables: ["CDPATH=\(folder.appending("other").path)"])
            #expect(result.status == (name == "Scripts/setup-python" ? 69 : 9), "\(name): \(result.errors)")
        }
        #expect(calls.count == called.count)
        #expect(calls.allSatisfy { $0 == own.path }, "\(calls)")
    }

    @Test(
        "Scripts/test runs each test in one of its two parts: the second skips what the first selects")
    func parts() throws {
        let text = try Checkout.text(Checkout.folder.appending(path: "Scripts/test"))
        let filters = text.split(separator: "\n").filter { $0.hasPrefix("part ") }.map {
            $0.split(separator: " ")[1...3]
        }
        #expect(
            filters.map { $0.joined(separator: " ") } == [
                #"networks --filter "$networks""#, #"rest --skip "$networks""#,
            ])
        let list = try #require(text.firstMatch(of: /networks='\^\(([A-Za-z|]+)\)Tests\\\.'/))
        let names = list.1.split(separator: "|")
        #expect(names.count >= 5)
        for name in names {
            let folder = Checkout.folder.appending(path: "Tests/\(name)Tests").path
            #expect(FileManager.default.fileExists(atPath: folder), "\(name)Tests doesn't exist")
        }
    }
}
