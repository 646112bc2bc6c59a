import Foundation
import TestPrograms
import TestSupport
import Testing

@Suite("The package for apps", .blocking) struct DevicePackageTests {
    private let folder: TemporaryFolder
    private let package: URL

    init() throws {
        folder = try TemporaryFolder()
        package = folder.appending("sealed-push-device")
    }

    private func put(_ text: String, at name: String) throws {
        let place = folder.appending(name).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try folder.write(text, to: name)
    }

    @discardableResult private func generate(
        in checkout: URL = Checkout.folder, _ more: String...
    ) throws -> Program.Result {
        try Program(at: checkout.appending(path: "Scripts/device-package").path).run([package.path] + more)
    }

    /// The targets of a manifest by name, without swift-crypto, which only a server on Linux uses.
    private static func targets(_ manifest: String) throws -> [String: NSDictionary] {
        let root = try #require(try JSONSerialization.jsonObject(with: Data(manifest.utf8)) as? [String: Any])
        let targets = try #require(root["targets"] as? [[String: Any]])
        return Dictionary(
            uniqueKeysWithValues: targets.map { target in
                var target = target
                target["dependencies"] = (target["dependencies"] as? [[String: Any]])?
                    .filter { ($0["product"] as? [Any])?.first as? String != "Crypto" }
                return (target["name"] as? String ?? "", target as NSDictionary)
            })
    }

    private static func packages(_ manifest: String) throws -> [NSDictionary] {
        let root = try #require(try JSONSerialization.jsonObject(with: Data(manifest.utf8)) as? [String: Any])
        return try #require(root["dependencies"] as? [NSDictionary])
    }

    @Test("Its sources are the repository's, and an existing folder is never touched") func sources() throws {
        #expect(try generate().status == 0)
        var count = 0
        for part in [
            "Core", "Device", "Server/PushSender", "Simulator/UserNotifications", "CLibraries/Clibsodium",
            "CLibraries/Ccairo",
        ] {
            let original = Checkout.folder.appending(path: "Sources/\(part)")
            let copy = package.appending(path: "Sources/\(part)")
            let files = try Checkout.allFiles(in: original).map { $0.path.dropFirst(original.path.count) }
            #expect(
                try Set(Checkout.allFiles(in: copy).map { $0.path.dropFirst(copy.path.count) }) == Set(files), "\(part)"
            )
            for file in files {
                let same = try Data(contentsOf: URL(filePath: copy.path + file))
                #expect(try Data(contentsOf: URL(filePath: original.path + file)) == same, "\(file)")
            }
            count += files.count
        }
        #expect(count > 150)
        let names = Set(try FileManager.default.contentsOfDirectory(atPath: package.path)).subtracting(["LICENSE"])
        #expect(names == ["Sources", "Package.swift", "README.md"])
        #expect(try Checkout.allFiles(in: package.appending(path: "Sources")).count == count)
        let readme = try Checkout.text(package.appending(path: "README.md"))
        #expect(readme.contains("\nThe files are from an unreleased version.\n") && !readme.contains("VERSION"))

        let marked = package.appending(path: "README.md")
        try Data("mine".utf8).write(to: marked)
        let again = try generate()
        #expect(again.status == 73 && again.errors.contains("Choose a folder that doesn't exist yet."))
        #expect(try Checkout.text(marked) == "mine")
    }

    @Test("Its targets, systems, and libsodium are the repository's", arguments: [PackageCopy.Branch.linux, .apple])
    func manifest(branch: PackageCopy.Branch) async throws {
        #expect(try generate().status == 0)
        let own = try await PackageCopy(branch, of: package)
        let (manifest, whole) = (try await own.dump(), try await PackageCopy(branch).dump())
        let (targets, all) = (try Self.targets(manifest), try Self.targets(whole))
        #expect(targets.count == (branch == .linux ? 10 : 7))
        for (name, target) in targets { #expect(all[name] == target, "\(name)") }
        let systems = try await (own.manifest().platforms, PackageCopy(branch).manifest().platforms)
        #expect(systems.0 == systems.1)
        let packages = try Self.packages(manifest)
        #expect(packages.count == (branch == .linux ? 0 : 1))
        #expect(try packages.allSatisfy { try Self.packages(whole).contains($0) })
        #expect(try await own.manifest().traits == [])
    }

    @Test("An app resolves libsodium alone, with all of its products") func resolves() async throws {
        #expect(try generate().status == 0)
        let copy = try await PackageCopy(.apple, of: package)
        let products = try await copy.manifest().libraries
        #expect(products.count == 6)
        #expect(try await copy.resolved() == ["swift-sodium"])
        #expect(try await copy.resolvedByApp(taking: products) == ["sealed-push", "swift-sodium"])
        #expect(try await PackageCopy(.linux, of: package).resolved() == [])
    }

    @Test("A version's files are its tag's, and anyone who generates it gets the same commit") func versions() throws {
        // A small repository with a tag, and a later change.
        let checkout = folder.appending("checkout")
        let parts = ["Scripts/device-package", "Packaging/device"]
        for part in parts {
            let target = checkout.appending(path: part)
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: Checkout.folder.appending(path: part), to: target)
        }
        for name in [
            "Core", "Device", "Server/PushSender", "Simulator/UserNotifications", "CLibraries/Clibsodium",
            "CLibraries/Ccairo",
        ] { try put("let one = 1\n", at: "checkout/Sources/\(name)/One.swift") }
        try folder.program("exit 0", at: "checkout/Scripts/setup")
        let git = Program(at: "/usr/bin/git", in: checkout)
        let author = ["-c", "user.name=n", "-c", "user.email=n@example.com", "-c", "commit.gpgsign=false"]
        for words in [["init", "-q"], ["add", "-A"], author + ["commit", "-qm", "One"], ["tag", "1.2.3"]] {
            #expect(try git.run(words).status == 0)
        }
        try put("let two = 2\n", at: "checkout/Sources/Core/Two.swift")
        #expect(try generate(in: checkout, "--tag", "1.2.4").status == 66)
        #expect(!FileManager.default.fileExists(atPath: package.path))

        var commits: [String] = []
        for _ in 1...2 {
            let result = try generate(in: checkout, "--tag", "1.2.3")
            #expect(result.status == 0, "\(result.errors)")
            let made = Program(at: "/usr/bin/git", in: package)
            commits.append(try made.run("rev-parse", "1.2.3^{commit}", "HEAD").output)
            #expect(try made.run("status", "--porcelain").output.isEmpty)
            let files = try made.run("ls-files").output.split(separator: "\n")
            #expect(files.contains("Sources/Core/One.swift") && !files.contains("Sources/Core/Two.swift"))
            #expect(files.contains("Package.swift") && !files.contains { $0.hasPrefix("Packaging") })
            let readme = try Checkout.text(package.appending(path: "README.md"))
            #expect(readme.contains("from version 1.2.3, commit ") && readme.contains("from: \"1.2.3\""))
            try FileManager.default.removeItem(at: package)
        }
        #expect(commits[0] == commits[1] && !commits[0].isEmpty)
    }

    @Test("Linux builds it, and a small app with its tests", .enabled(if: Thoroughness.isThorough))
    func builds() async throws {
        #expect(try generate().status == 0)
        for (name, files) in [
            (
                "Sources/Chat",
                ["Messages", "NotificationService", "Chats"].map { "Tests/Support/Apps/SwiftUI/After/\($0)" }
            ),
            ("Tests/ChatTests", ["Docs/TestOnLinux"]),
        ] {
            for file in files {
                var text: String
                if file.hasPrefix("Docs") {
                    let page = try Checkout.text(Checkout.folder.appending(path: "\(file).md"))
                    let block = page.components(separatedBy: "```swift\n").first {
                        $0.contains("import PushServiceTesting")
                    }
                    text = try #require(block?.components(separatedBy: "\n```").first) + "\n"
                    text = "@testable import Chat\n" + text
                } else {
                    text = try Checkout.text(Checkout.folder.appending(path: "\(file).swift"))
                }
                try put(text, at: "App/\(name)/\(URL(filePath: file).lastPathComponent).swift")
            }
        }
        let products = [
            "PushService", "PushApp", "PushCharts", "PushServiceTesting", "PushSender", "UserNotifications",
        ]
        .map { ".product(name: \"\($0)\", package: \"sealed-push-device\")" }.joined(separator: ", ")
        try put(
            """
            // swift-tools-version: 6.2
            import PackageDescription
            let package = Package(
                name: "App", dependencies: [.package(path: "../sealed-push-device")],
                targets: [
                    .target(name: "Chat", dependencies: [\(products)]),
                    .testTarget(name: "ChatTests", dependencies: ["Chat", \(products)]),
                ])
            """, at: "App/Package.swift")
        let result = try await Tool.run(["swift", "test", "--disable-index-store"], in: folder.appending("App"))
        #expect(
            result.status == 0 && "\(result.output)\(result.errors)".contains("1 test"),
            "\(result.output)\(result.errors)")
    }
}
