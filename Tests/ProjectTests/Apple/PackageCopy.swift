import Foundation
import TestSupport

/// A copy of the checkout as a package of its own, with one branch of its conditions, beside stand-ins for all packages
/// that it names: nothing is fetched, and the machine's own settings and caches don't count.
struct PackageCopy: Sendable {
    enum Branch: Sendable { case linux, apple }

    private let folder: TemporaryFolder
    private let package: URL

    /// - Parameter change: what is done to the manifest's text besides.
    init(_ branch: Branch, change: (String) -> String = { $0 }) async throws {
        folder = try TemporaryFolder()
        package = folder.appending("sealed-push")
        let text = try Checkout.text(Checkout.folder.appending(path: "Package.swift"))
        let condition = "#if os(Linux)"
        guard text.contains(condition) else { throw Tool.Failed(description: "no branch in the manifest") }
        let branched = text.replacingOccurrences(of: condition, with: branch == .linux ? "#if true" : "#if false")
        try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
        try Data(change(branched).utf8).write(to: package.appending(path: "Package.swift"))
    }

    /// The folders that the manifest names. No target lies in Tests/Vectors, which has most of the files.
    private func copyFiles() async throws {
        let isNeeded = { (path: String) in
            ["Sources/", "Tests/", "Examples/"].contains(where: path.hasPrefix) && !path.hasPrefix("Tests/Vectors/")
        }
        for path in try await Self.paths() where isNeeded(path) {
            let file = package.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: Checkout.folder.appending(path: path), to: file)
        }
    }

    /// All files that belong to the project, whether they are committed or not.
    static func paths() async throws -> [String] {
        let list = try await Tool.output(
            of: ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], in: Checkout.folder)
        return list.split(separator: "\0").map(String.init).filter {
            FileManager.default.fileExists(atPath: Checkout.folder.appending(path: $0).path)
        }
    }

    /// The manifest, evaluated.
    func manifest(strict: Bool = false) async throws -> Manifest {
        try Manifest(
            parsing: await Tool.output(
                of: swiftPackage(["dump-package"]), in: package,
                environment: strict ? ["SEALED_PUSH_STRICT": "1"] : ["--unset": "SEALED_PUSH_STRICT"]))
    }

    /// What the package itself resolves.
    func resolved(_ flags: String...) async throws -> Set<String> {
        try await makeStandIns()
        return try await resolved(in: package, flags)
    }

    /// What an app resolves that takes these products, as Integration 1.1 says.
    func resolvedByApp(taking products: [String]) async throws -> Set<String> {
        try await makeStandIns()
        try await commit(package, tag: nil)
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

    private func resolved(in package: URL, _ flags: [String]) async throws -> Set<String> {
        let json = try await Tool.output(
            of: swiftPackage(flags + ["show-dependencies", "--format", "json"]), in: package, environment: gitSettings)
        guard let root = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any] else { return [] }
        var found: Set<String> = []
        var open = root["dependencies"] as? [[String: Any]] ?? []
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

    /// Git finds the packages in this folder, and nobody's settings.
    private var gitSettings: [String: String] {
        [
            "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_COUNT": "2",
            "GIT_CONFIG_KEY_0": "url.file://\(folder.url.path)/github/.insteadOf",
            "GIT_CONFIG_VALUE_0": "https://github.com/",
            "GIT_CONFIG_KEY_1": "init.defaultBranch", "GIT_CONFIG_VALUE_1": "main",
            "GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "n@example.com", "GIT_COMMITTER_NAME": "n",
            "GIT_COMMITTER_EMAIL": "n@example.com", "GIT_TERMINAL_PROMPT": "0",
        ]
    }

    /// A package for each that the manifest names, with the products that it takes from it, and no sources to speak of.
    private func makeStandIns() async throws {
        guard !FileManager.default.fileExists(atPath: folder.appending("github").path) else { return }
        try await copyFiles()
        let manifest = try await manifest()
        let products = manifest.targets.flatMap { $0.dependencies }.filter { $0.package != nil }
        for (identity, package) in manifest.packages {
            let names = Set(products.filter { $0.package?.lowercased() == identity }.map { $0.name }).sorted()
            let place = try repository(of: package.address)
            let libraries = names.map { ".library(name: \"\($0)\", targets: [\"\($0)\"])" }
            let targets = names.map { ".target(name: \"\($0)\")" }
            let text = """
                // swift-tools-version: 5.9
                import PackageDescription
                let package = Package(
                    name: "\(identity)", products: [\(libraries.joined(separator: ", "))],
                    targets: [\(targets.joined(separator: ", "))])
                """
            for name in names {
                let sources = place.appending(path: "Sources/\(name)")
                try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
                try Data().write(to: sources.appending(path: "Empty.swift"))
            }
            try Data(text.utf8).write(to: place.appending(path: "Package.swift"))
            try await commit(place, tag: package.version)
        }
        let own = try repository(of: "https://github.com/OWNER/sealed-push")
        try FileManager.default.removeItem(at: own)
        try FileManager.default.createSymbolicLink(at: own, withDestinationURL: package)
    }

    private func repository(of address: String) throws -> URL {
        let path = URL(string: address)?.path ?? "/"
        let place = folder.appending("github\(path)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        return place
    }

    private func commit(_ repository: URL, tag: String?) async throws {
        let tagging = tag.map { [["tag", $0]] } ?? []
        for step in [["init", "-q", "--template="], ["add", "-A"], ["commit", "-q", "-m", "Stand-in"]] + tagging {
            try await Tool.output(of: ["git"] + step, in: repository, environment: gitSettings)
        }
    }
}
