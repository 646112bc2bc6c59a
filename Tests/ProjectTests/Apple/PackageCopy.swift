import Dispatch
import Foundation
import TestPrograms
import TestSupport

/// A copy of the package with one branch of its conditions, next to stand-ins for all packages that it names.
///
/// It fetches nothing, and it ignores the machine's settings and caches.
struct PackageCopy: Sendable {
    enum Branch: Sendable { case linux, apple }

    private let folder: TemporaryFolder
    private let package: URL
    private let original: URL

    /// - Parameter original: The package's folder.
    init(_ branch: Branch, of original: URL = Checkout.folder) async throws {
        self.original = original
        folder = try TemporaryFolder()
        package = folder.appending("sealed-push")
        let text = try Checkout.text(original.appending(path: "Package.swift"))
        let condition = "#if os(Linux)"
        guard text.contains(condition) else { throw Tool.Failed(description: "no branch in the manifest") }
        let branched = text.replacingOccurrences(of: condition, with: branch == .linux ? "#if true" : "#if false")
        try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
        try Data(branched.utf8).write(to: package.appending(path: "Package.swift"))
    }

    /// Returns all files of the project, committed or not.
    static func paths() async throws -> [String] {
        let list = try await Tool.output(
            of: ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], in: Checkout.folder)
        return list.split(separator: "\0").map(String.init).filter {
            FileManager.default.fileExists(atPath: Checkout.folder.appending(path: $0).path)
        }
    }

    /// Returns the evaluated manifest.
    func manifest(strict: Bool = false) async throws -> Manifest {
        try Manifest(parsing: await dump(strict: strict))
    }

    /// Returns the evaluated manifest as JSON.
    func dump(strict: Bool = false) async throws -> String {
        try await Tool.output(
            of: swiftPackage(["dump-package"]), in: package,
            environment: strict ? ["SEALED_PUSH_STRICT": "1"] : ["--unset": "SEALED_PUSH_STRICT"])
    }

    /// Returns the packages that this package resolves.
    func resolved(_ flags: String...) async throws -> Set<String> {
        try linkSources()
        return try await resolved(in: package, flags)
    }

    /// Returns the packages that an app with these products resolves; see AppGuide 1.
    func resolvedByApp(taking products: [String]) async throws -> Set<String> {
        try await commit()
        let app = folder.appending("App")
        let sources = app.appending(path: "Sources/App")
        try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
        try Data().write(to: sources.appending(path: "App.swift"))
        let taken = products.map { ".product(name: \"\($0)\", package: \"sealed-push\")" }.joined(separator: ", ")
        let manifest = """
            // swift-tools-version: 6.2
            import PackageDescription
            let package = Package(
                name: "App",
                dependencies: [.package(url: "https://github.com/OWNER/sealed-push", branch: "main")],
                targets: [.target(name: "App", dependencies: [\(taken)])])
            """
        try Data(manifest.utf8).write(to: app.appending(path: "Package.swift"))
        return try await resolved(in: app, [])
    }

    private func resolved(in root: URL, _ flags: [String]) async throws -> Set<String> {
        let standIns = try await StandInPackages.made.value.folder
        let places = ["https://github.com": standIns, "https://github.com/OWNER/sealed-push": package]
        let json = try await Tool.output(
            of: swiftPackage(flags + ["show-dependencies", "--format", "json"]), in: root,
            environment: Git.settings(places))
        guard let graph = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any] else { return [] }
        var found: Set<String> = []
        var open = graph["dependencies"] as? [[String: Any]] ?? []
        while let next = open.popLast() {
            if let identity = next["identity"] as? String { found.insert(identity) }
            open += next["dependencies"] as? [[String: Any]] ?? []
        }
        return found
    }

    private func swiftPackage(_ words: [String]) -> [String] {
        let own = ["cache", "config", "security"].flatMap { ["--\($0)-path", folder.appending($0).path] }
        return ["swift", "package", "--disable-dependency-cache"] + own + words
    }

    private func commit() async throws {
        try linkSources()
        try await Git.commit(package, tag: nil)
    }

    /// Links the folders of the targets in the manifest.
    private func linkSources() throws {
        for name in ["Sources", "Tests", "Examples"] {
            let link = package.appending(path: name)
            let folder = original.appending(path: name)
            guard !FileManager.default.fileExists(atPath: link.path),
                FileManager.default.fileExists(atPath: folder.path)
            else { continue }
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder)
        }
    }
}

/// A repository for each package in our manifest, with the products that we use and empty sources.
///
/// Made once, next to the built programs.
private struct StandInPackages: Sendable {
    static let made = Task { try await StandInPackages() }

    let folder = Program("sealedpush").executable.deletingLastPathComponent()
        .appending(path: "apple-rehearsal/packages")

    private init() async throws {
        try? FileManager.default.removeItem(at: folder)
        let manifests = [try await PackageCopy(.linux).manifest(), try await PackageCopy(.apple).manifest()]
        let products = manifests.flatMap { $0.targets }.flatMap { $0.dependencies }.filter { $0.package != nil }
        let packages = manifests[0].packages.merging(manifests[1].packages) { first, _ in first }
        for (identity, package) in packages {
            let names = Set(products.filter { $0.package?.lowercased() == identity }.map { $0.name }).sorted()
            let place = folder.appending(path: URL(string: package.address)?.path ?? "/")
            let libraries = names.map { ".library(name: \"\($0)\", targets: [\"\($0)\"])" }
            let targets = names.map { ".target(name: \"\($0)\")" }
            let text = """
                // swift-tools-version: 6.2
                import PackageDescription
                let package = Package(
                    name: "\(identity)", products: [\(libraries.joined(separator: ", "))],
                    traits: [.trait(name: "Own"), .default(enabledTraits: ["Own"])],
                    targets: [\(targets.joined(separator: ", "))])
                """
            for name in names {
                let sources = place.appending(path: "Sources/\(name)")
                try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
                try Data().write(to: sources.appending(path: "Empty.swift"))
            }
            try Data(text.utf8).write(to: place.appending(path: "Package.swift"))
            try await Git.commit(place, tag: package.version)
        }
    }
}

private enum Git {
    /// Returns an environment without a user's settings that replaces addresses with local folders.
    static func settings(_ places: [String: URL] = [:]) -> [String: String] {
        var settings = [
            "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_COUNT": "\(places.count + 1)",
            "GIT_CONFIG_KEY_0": "init.defaultBranch", "GIT_CONFIG_VALUE_0": "main",
            "GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "n@example.com", "GIT_COMMITTER_NAME": "n",
            "GIT_COMMITTER_EMAIL": "n@example.com", "GIT_TERMINAL_PROMPT": "0",
        ]
        for (index, place) in places.enumerated() {
            settings["GIT_CONFIG_KEY_\(index + 1)"] = "url.file://\(place.value.path).insteadOf"
            settings["GIT_CONFIG_VALUE_\(index + 1)"] = place.key
        }
        return settings
    }

    static func commit(_ repository: URL, tag: String?) async throws {
        let tagging = tag.map { [["tag", $0]] } ?? []
        for step in [["init", "-q", "--template="], ["add", "-A"], ["commit", "-q", "-m", "Stand-in"]] + tagging {
            try await Tool.output(of: ["git"] + step, in: repository, environment: settings())
        }
    }
}

/// Runs programs of the toolchain and Git, two at a time. Waiting for one doesn't block a thread that other tests need.
enum Tool {
    private static let queue: OperationQueue = {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2
        return queue
    }()

    struct Failed: Error, CustomStringConvertible { let description: String }

    static func run(
        _ words: [String], in folder: URL? = nil, environment: [String: String] = [:]
    ) async throws -> Program.Result {
        let settings = environment.map { "\($0)=\($1)" }.sorted()
        return try await withCheckedThrowingContinuation { continuation in
            queue.addOperation {
                continuation.resume(with: Result { try Program(at: "/usr/bin/env", in: folder).run(settings + words) })
            }
        }
    }

    /// Returns the output of a command that must succeed.
    @discardableResult static func output(
        of words: [String], in folder: URL? = nil, environment: [String: String] = [:]
    ) async throws -> String {
        let result = try await run(words, in: folder, environment: environment)
        guard result.status == 0 else {
            throw Failed(description: "\(words.joined(separator: " ")): status \(result.status)\n\(result.errors)")
        }
        return result.output
    }
}

/// The Python that Scripts/setup-python prepares, with its packages.
enum PreparedPython {
    static func path() throws -> String {
        let setUp = try Program(at: Checkout.folder.appending(path: "Scripts/setup-python").path).run()
        guard setUp.status == 0 else { throw Tool.Failed(description: setUp.errors) }
        return setUp.trimmed
    }
}
