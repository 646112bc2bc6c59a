import Foundation
import TestPrograms
import TestSupport
import TestThreads
import Testing

/// Xcode is not on Linux: what it and GitHub would read is read here by others, as far as its form goes.
@Suite("The project for Xcode, and the workflows", .blocking)
struct AppleProjectTests {
    private static let folder = Checkout.folder.appending(path: "Tests/AppleProject")

    /// A property list in any of Apple's three forms.
    private static func propertyList(_ path: String) throws -> [String: Any] {
        let data = try Data(contentsOf: folder.appending(path: path))
        return try #require(try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
    }

    private static func project() throws -> (root: String, objects: [String: [String: Any]]) {
        let project = try propertyList("SealedPushApp.xcodeproj/project.pbxproj")
        return (
            try #require(project["rootObject"] as? String), try #require(project["objects"] as? [String: [String: Any]])
        )
    }

    /// All texts in a value, however deep.
    private static func texts(in value: Any) -> [String] {
        switch value {
        case let text as String: [text]
        case let list as [Any]: list.flatMap { texts(in: $0) }
        case let members as [String: Any]: members.values.flatMap { texts(in: $0) }
        default: []
        }
    }

    @Test("each object that the project names is there, and none is there in vain")
    func references() throws {
        let (root, objects) = try Self.project()
        #expect(objects.count > 20)
        var reached: Set<String> = [root]
        var next = [root]
        while let identifier = next.popLast() {
            let object = try #require(objects[identifier], "\(identifier) is named, and not there")
            let named = Self.texts(in: object).filter { $0.wholeMatch(of: /[0-9A-F]{24}/) != nil }
            for found in named where reached.insert(found).inserted { next.append(found) }
        }
        #expect(reached == Set(objects.keys))
        let scheme = try Checkout.text(
            Self.folder.appending(path: "SealedPushApp.xcodeproj/xcshareddata/xcschemes/SealedPushApp.xcscheme"))
        let named = scheme.matches(of: /BlueprintIdentifier = "([^"]*)"/).map { String($0.1) }
        #expect(!named.isEmpty)
        for identifier in named { #expect(objects[identifier]?["name"] as? String == "SealedPushApp") }
    }

    @Test("the files that it names are there: the extension is the example's")
    func files() throws {
        let (_, objects) = try Self.project()
        let groups = objects.values.filter { $0["isa"] as? String == "PBXGroup" }
        var files: [String] = []
        for (identifier, object) in objects where object["isa"] as? String == "PBXFileReference" {
            guard object["sourceTree"] as? String != "BUILT_PRODUCTS_DIR" else { continue }
            let group = groups.first { ($0["children"] as? [String])?.contains(identifier) == true }
            let isInGroup = object["sourceTree"] as? String == "<group>"
            let path = try #require(object["path"] as? String)
            files.append(isInGroup ? "\(try #require(group?["path"] as? String))/\(path)" : path)
        }
        let settings = Self.texts(in: objects.values.compactMap { $0["buildSettings"] })
        files += settings.filter { $0.hasSuffix(".plist") || $0.hasSuffix(".entitlements") }
        #expect(files.count >= 5)
        #expect(files.contains("../../Examples/Messages/NotificationService.swift"))
        for file in files {
            let path = Self.folder.appending(path: file).standardizedFileURL.path
            #expect(FileManager.default.fileExists(atPath: path), "\(file)")
        }
    }

    @Test("app and extension take the product, the app embeds the extension, and iOS finds its class")
    func targets() throws {
        let (_, objects) = try Self.project()
        let targets = objects.values.filter { $0["isa"] as? String == "PBXNativeTarget" }
        #expect(targets.count == 2)
        for target in targets {
            let products = (target["packageProductDependencies"] as? [String] ?? []).map { objects[$0]?["productName"] }
            #expect(products.map { $0 as? String } == ["PushService"])
        }
        let copied = objects.values.first { $0["isa"] as? String == "PBXCopyFilesBuildPhase" }
        // Apple's number for the folder of plug-ins.
        #expect(copied?["dstSubfolderSpec"] as? String == "13")
        let information = try Self.propertyList("NotificationService/Info.plist")
        let ours = try #require(information["NSExtension"] as? [String: String])
        #expect(ours["NSExtensionPointIdentifier"] == "com.apple.usernotifications.service")
        #expect(ours["NSExtensionPrincipalClass"] == "$(PRODUCT_MODULE_NAME).NotificationService")
        for file in ["App/App.entitlements", "NotificationService/NotificationService.entitlements"] {
            let entitlements = try Self.propertyList(file)
            #expect(entitlements["com.apple.security.application-groups"] as? [String] == ["group.com.example"])
            let groups = entitlements["keychain-access-groups"] as? [String]
            #expect(groups == ["$(AppIdentifierPrefix)com.example.shared"])
        }
    }

    @Test("it is built for the systems that the manifest names, from the same versions on")
    func versions() throws {
        let manifest = try Checkout.text(Checkout.folder.appending(path: "Package.swift"))
        let (_, objects) = try Self.project()
        let settings = objects.values.compactMap { $0["buildSettings"] as? [String: Any] }
        let systems = [
            ("iOS", "IPHONEOS_DEPLOYMENT_TARGET"), ("macOS", "MACOSX_DEPLOYMENT_TARGET"),
            ("visionOS", "XROS_DEPLOYMENT_TARGET"),
        ]
        for (system, name) in systems {
            let platform = try #require(manifest.firstMatch(of: try Regex("\\.\(system)\\(\\.v([0-9]+)\\)")))
            let version = try #require(platform.output[1].substring)
            let values = settings.compactMap { $0[name] as? String }
            #expect(!values.isEmpty)
            #expect(values.allSatisfy { $0 == "\(version).0" }, "\(system) \(version): \(values)")
        }
    }

    @Test("the workflows have the form that GitHub wants, and name files that are there")
    func workflows() throws {
        let workflows = try FileManager.default.contentsOfDirectory(
            at: Checkout.folder.appending(path: ".github/workflows"), includingPropertiesForKeys: nil)
        #expect(workflows.count >= 2)
        let setUp = try Program(at: Checkout.folder.appending(path: "Scripts/setup-python").path).run()
        #expect(setUp.status == 0, "\(setUp.errors)")
        let check = URL(filePath: setUp.trimmed).deletingLastPathComponent().appending(path: "check-jsonschema")
        let result = try Program(at: check.path)
            .run(["--builtin-schema", "vendor.github-workflows"] + workflows.map(\.path))
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        for workflow in workflows {
            let text = try Checkout.text(workflow)
            let names = text.matches(of: /(?:Scripts|Tests|Docs)\/[A-Za-z0-9.\/]+/).map { String($0.0) }
            #expect(!names.isEmpty)
            for name in names {
                let path = Checkout.folder.appending(path: name).path
                #expect(FileManager.default.fileExists(atPath: path), "\(workflow.lastPathComponent): \(name)")
            }
        }
    }
}
