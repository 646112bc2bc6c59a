import Foundation
import TestPrograms
import TestSupport
import Testing

/// Xcode is not on Linux: what it and GitHub would read is read here by others, as far as its form goes.
@Suite("The project for Xcode, and the workflows", .blocking) struct AppleProjectTests {
    private static let folder = Checkout.folder.appending(path: "Examples/App")

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

    @Test("each object that the project names is there, and none is there in vain") func references() throws {
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

    private static func objects(_ kind: String) throws -> [[String: Any]] {
        try project().objects.values.filter { $0["isa"] as? String == kind }
    }

    @Test("the files and folders that it names are there, and a folder's files are the target's by lying in it")
    func files() throws {
        #expect(try Self.propertyList("SealedPushApp.xcodeproj/project.pbxproj")["objectVersion"] as? String == "77")
        let (_, objects) = try Self.project()
        let groups = try Self.objects("PBXFileSystemSynchronizedRootGroup")
        var named = try groups.map { try #require($0["path"] as? String) }
        #expect(named.sorted() == ["App", "NotificationService", "Shared"])
        for group in groups {
            for exception in group["exceptions"] as? [String] ?? [] {
                let left = objects[exception]?["membershipExceptions"] as? [String] ?? []
                named += left.map { "\(group["path"] as? String ?? "")/\($0)" }
            }
        }
        let settings = Self.texts(in: objects.values.compactMap { $0["buildSettings"] })
        let plists = settings.filter { $0.hasSuffix(".plist") }
        // Xcode would make it twice: as the target's own, and as a file of the folder.
        #expect(Set(plists).isSubset(of: Set(named)) && plists.count == 4)
        for name in named + settings.filter({ $0.hasSuffix(".entitlements") }) {
            let path = Self.folder.appending(path: name).path
            #expect(FileManager.default.fileExists(atPath: path), "\(name)")
        }
        let package = try #require(try Self.objects("XCLocalSwiftPackageReference").first?["relativePath"] as? String)
        let manifest = Self.folder.appending(path: "\(package)/Package.swift").standardizedFileURL.path
        #expect(FileManager.default.fileExists(atPath: manifest))
        #expect(try Self.objects("PBXSourcesBuildPhase").allSatisfy { ($0["files"] as? [String])?.isEmpty == true })
    }

    @Test("app and extension take the product and the shared folder, and the app embeds the extension")
    func targets() throws {
        let (_, objects) = try Self.project()
        let targets = try Self.objects("PBXNativeTarget")
        #expect(targets.count == 2)
        for target in targets {
            let products = (target["packageProductDependencies"] as? [String] ?? []).map { objects[$0]?["productName"] }
            #expect(products.map { $0 as? String } == ["PushService"])
            let folders = (target["fileSystemSynchronizedGroups"] as? [String] ?? []).map { objects[$0]?["path"] }
            let own = target["name"] as? String == "SealedPushApp" ? "App" : "NotificationService"
            #expect(folders.map { $0 as? String } == [own, "Shared"])
        }
        // Apple's number for the folder of plug-ins.
        #expect(try Self.objects("PBXCopyFilesBuildPhase").first?["dstSubfolderSpec"] as? String == "13")
    }

    @Test("iOS finds the extension's class, and lets both share what the code names") func sharing() throws {
        let information = try Self.propertyList("NotificationService/Info.plist")
        let ours = try #require(information["NSExtension"] as? [String: String])
        #expect(ours["NSExtensionPointIdentifier"] == "com.apple.usernotifications.service")
        #expect(ours["NSExtensionPrincipalClass"] == "$(PRODUCT_MODULE_NAME).NotificationService")
        for target in ["App/App", "NotificationService/NotificationService"] {
            let entitlements = try Self.propertyList("\(target).entitlements")
            #expect(entitlements["com.apple.security.application-groups"] as? [String] == ["group.$(GROUP)"])
            #expect(entitlements["keychain-access-groups"] as? [String] == ["$(AppIdentifierPrefix)$(GROUP)"])
            let plist = target == "App/App" ? "App/Info.plist" : "NotificationService/Info.plist"
            #expect(try Self.propertyList(plist)["AppIdentifierPrefix"] as? String == "$(AppIdentifierPrefix)")
        }
        #expect(try Self.propertyList("App/App.entitlements")["aps-environment"] as? String == "development")
        let app = try Self.propertyList("App/Info.plist")
        #expect(app["UIBackgroundModes"] as? [String] == ["fetch"])
        let tasks = try #require(app["BGTaskSchedulerPermittedIdentifiers"] as? [String])
        let source = try Checkout.text(Self.folder.appending(path: "App/Pushes.swift"))
        #expect(tasks.count == 1 && source.contains("refreshTask = \"\(tasks[0])\""))
    }

    @Test("each configuration has a bundle ID and groups of its own, the same in the project and in the code")
    func configurations() throws {
        let source = try Checkout.text(Self.folder.appending(path: "Shared/Messages.swift"))
        let branches = source.components(separatedBy: "#else")
        #expect(branches.count == 2)
        var bundles: Set<String> = []
        for (name, code) in [("Debug", branches[0]), ("Release", branches[1])] {
            let configurations = try Self.objects("XCBuildConfiguration").filter { $0["name"] as? String == name }
            let settings = configurations.compactMap { $0["buildSettings"] as? [String: Any] }
            let bundle = try #require(settings.compactMap { $0["BUNDLE_ID"] as? String }.first)
            let group = try #require(settings.compactMap { $0["GROUP"] as? String }.first)
            #expect(code.contains("topic: Topic = \"\(bundle)\""))
            #expect(code.contains("group = \"\(group)\""))
            let isDebug = settings.contains { $0["SWIFT_ACTIVE_COMPILATION_CONDITIONS"] as? String == "DEBUG" }
            #expect(isDebug == (name == "Debug"))
            bundles.formUnion(settings.compactMap { $0["PRODUCT_BUNDLE_IDENTIFIER"] as? String })
        }
        // An extension's begins with its app's, or iOS does not install it.
        #expect(bundles == ["$(BUNDLE_ID)", "$(BUNDLE_ID).NotificationService"])
    }

    @Test("it is built for the systems that the manifest names, from the same versions on") func versions() throws {
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

    @Test("the workflows have the form that GitHub wants, and name files that are there") func workflows() throws {
        let workflows = try FileManager.default.contentsOfDirectory(
            at: Checkout.folder.appending(path: ".github/workflows"), includingPropertiesForKeys: nil)
        #expect(workflows.count >= 2)
        let check = URL(filePath: try PreparedPython.path()).deletingLastPathComponent()
            .appending(path: "check-jsonschema")
        let result = try Program(at: check.path)
            .run(["--builtin-schema", "vendor.github-workflows"] + workflows.map(\.path))
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        for workflow in workflows {
            let text = try Checkout.text(workflow)
            let names = text.matches(of: /(?:Scripts|Tests|Docs|Examples)\/[A-Za-z0-9.\/]+/).map { String($0.0) }
            #expect(!names.isEmpty)
            for name in names {
                let path = Checkout.folder.appending(path: name).path
                #expect(FileManager.default.fileExists(atPath: path), "\(workflow.lastPathComponent): \(name)")
            }
        }
    }
}
