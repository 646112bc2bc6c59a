import Foundation
import SealedPush
import TestPrograms
import TestSupport
import Testing

/// Checks the form of the files that Xcode and GitHub read, without Xcode, which doesn't run on Linux.
@Suite("The Xcode project and the workflows", .blocking) struct AppleProjectTests {
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

    /// All strings in a value, at any depth.
    private static func texts(in value: Any) -> [String] {
        switch value {
        case let text as String: [text]
        case let list as [Any]: list.flatMap { texts(in: $0) }
        case let members as [String: Any]: members.values.flatMap { texts(in: $0) }
        default: []
        }
    }

    @Test("Each object that the project references exists, and none is unused") func references() throws {
        let (root, objects) = try Self.project()
        #expect(objects.count > 20)
        var reached: Set<String> = [root]
        var next = [root]
        while let identifier = next.popLast() {
            let object = try #require(objects[identifier], "\(identifier) is referenced but doesn't exist")
            let named = Self.texts(in: object).filter { $0.wholeMatch(of: /[0-9A-F]{24}/) != nil }
            for found in named where reached.insert(found).inserted { next.append(found) }
        }
        #expect(reached == Set(objects.keys))
        let scheme = try Checkout.text(
            Self.folder.appending(path: "SealedPushApp.xcodeproj/xcshareddata/xcschemes/SealedPushApp.xcscheme"))
        let named = scheme.matches(of: /BlueprintIdentifier = "([^"]*)"/).map { String($0.1) }
        #expect(named.map { objects[$0]?["name"] as? String } == ["SealedPushApp", "Tests", "SealedPushApp"])
    }

    private static func objects(_ kind: String) throws -> [[String: Any]] {
        try project().objects.values.filter { $0["isa"] as? String == kind }
    }

    @Test("The files and folders that it names exist, and a folder's files belong to its target")
    func files() throws {
        #expect(try Self.propertyList("SealedPushApp.xcodeproj/project.pbxproj")["objectVersion"] as? String == "77")
        let (_, objects) = try Self.project()
        let groups = try Self.objects("PBXFileSystemSynchronizedRootGroup")
        var named = try groups.map { try #require($0["path"] as? String) }
        #expect(named.sorted() == ["App", "NotificationService", "Shared", "Tests"])
        for group in groups {
            for exception in group["exceptions"] as? [String] ?? [] {
                let left = objects[exception]?["membershipExceptions"] as? [String] ?? []
                named += left.map { "\(group["path"] as? String ?? "")/\($0)" }
            }
        }
        let settings = Self.texts(in: objects.values.compactMap { $0["buildSettings"] })
        let plists = settings.filter { $0.hasSuffix(".plist") }
        // Otherwise, Xcode would copy it twice: as the target's own and as a file in the folder.
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

    @Test("The app and the extension use the product and the shared folder, and the app embeds the extension")
    func targets() throws {
        let (_, objects) = try Self.project()
        let targets = try Self.objects("PBXNativeTarget")
        #expect(targets.count == 3)
        for target in targets {
            let products = (target["packageProductDependencies"] as? [String] ?? []).map { objects[$0]?["productName"] }
            let folders = (target["fileSystemSynchronizedGroups"] as? [String] ?? []).map { objects[$0]?["path"] }
            let (own, more): ([String], [String]) =
                switch target["name"] as? String {
                case "SealedPushApp": (["App"], ["PushApp"])
                case "Tests": (["Tests", "NotificationService"], ["PushServiceTesting"])
                default: (["NotificationService"], [])
                }
            #expect(products.map { $0 as? String } == ["PushService"] + more)
            #expect(folders.map { $0 as? String } == own + ["Shared"])
        }
        // Xcode's number for the PlugIns folder.
        #expect(try Self.objects("PBXCopyFilesBuildPhase").first?["dstSubfolderSpec"] as? String == "13")
    }

    @Test("iOS finds the extension's class, and both targets share the groups in the code") func sharing() throws {
        let information = try Self.propertyList("NotificationService/Info.plist")
        let ours = try #require(information["NSExtension"] as? [String: String])
        #expect(ours["NSExtensionPointIdentifier"] == "com.apple.usernotifications.service")
        #expect(ours["NSExtensionPrincipalClass"] == "$(PRODUCT_MODULE_NAME).NotificationService")
        // App Store Connect rejects an extension without one (ITMS-90360).
        #expect((information["CFBundleDisplayName"] as? String)?.isEmpty == false)
        // It also rejects an app for iPads that doesn't turn (ITMS-90474).
        let orientations = try Self.objects("XCBuildConfiguration").compactMap { $0["buildSettings"] as? [String: Any] }
            .compactMap { $0["INFOPLIST_KEY_UISupportedInterfaceOrientations_iPad"] as? String }
        #expect(orientations.map { $0.split(separator: " ").count } == [4, 4])
        for target in ["App/App", "NotificationService/NotificationService"] {
            let entitlements = try Self.propertyList("\(target).entitlements")
            #expect(entitlements["com.apple.security.application-groups"] as? [String] == ["group.$(GROUP)"])
            // The app group is the keychain group, too.
            #expect(entitlements["keychain-access-groups"] == nil)
            // The values that the code reads, built from the names in Local.xcconfig.
            let plist = target == "App/App" ? "App/Info.plist" : "NotificationService/Info.plist"
            #expect(
                try Self.propertyList(plist)["SealedPush"] as? [String: String] == [
                    "Group": "group.$(GROUP)", "Server": "$(SERVER)", "Sender": "$(SENDER_KEY)",
                ])
            let privacy = try Self.propertyList("\(target.split(separator: "/")[0])/PrivacyInfo.xcprivacy")
            let apis = try #require(privacy["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
            #expect(
                apis.map { $0["NSPrivacyAccessedAPIType"] as? String } == ["NSPrivacyAccessedAPICategoryFileTimestamp"])
        }
        #expect(try Self.propertyList("App/App.entitlements")["aps-environment"] as? String == "development")
        let app = try Self.propertyList("App/Info.plist")
        #expect(app["UIBackgroundModes"] as? [String] == ["fetch", "remote-notification"])
        // For the sender's picture.
        #expect(app["NSUserActivityTypes"] as? [String] == ["INSendMessageIntent"])
        let communication = "com.apple.developer.usernotifications.communication"
        #expect(try Self.propertyList("App/App.entitlements")[communication] as? Bool == true)
        #expect(app["BGTaskSchedulerPermittedIdentifiers"] as? [String] == ["$(BUNDLE_ID).push-keys"])
    }

    @Test("One file holds all settings: each name in it is used, and no other place sets a value")
    func settings() throws {
        let file = try Checkout.text(Self.folder.appending(path: "Local.xcconfig"))
        let names = file.matches(of: /(?m)^([A-Z_]+) =(.*)$/).map { (String($0.1), String($0.2)) }
        #expect(names.map(\.0) == ["DEVELOPMENT_TEAM", "BUNDLE_ID", "GROUP", "SERVER", "SENDER_KEY"])
        // Every copy of the file would trust a key in it, and "//" begins a comment.
        #expect(names.first { $0.0 == "SENDER_KEY" }?.1 == "")
        #expect(names.allSatisfy { !$0.1.contains("//") })
        let project = try Checkout.text(Self.folder.appending(path: "SealedPushApp.xcodeproj/project.pbxproj"))
        for (name, _) in names { #expect(!project.contains("\(name) ="), "\(name)") }
        let reference = try #require(
            try Self.project().objects.first { $0.value["path"] as? String == "Local.xcconfig" })
        let configurations = try Self.objects("XCBuildConfiguration")
        let based = configurations.filter { $0["baseConfigurationReference"] as? String == reference.key }
        #expect(based.map { $0["name"] as? String } == ["Debug", "Release"] || based.count == 2)
        let bundles = configurations.compactMap { $0["buildSettings"] as? [String: Any] }
            .compactMap { $0["PRODUCT_BUNDLE_IDENTIFIER"] as? String }
        // iOS installs an extension only if its identifier begins with its app's.
        #expect(Set(bundles) == ["$(BUNDLE_ID)", "$(BUNDLE_ID).NotificationService", "$(BUNDLE_ID).Tests"])
        let isDebug = configurations.filter { configuration in
            let settings = configuration["buildSettings"] as? [String: Any]
            return settings?["SWIFT_ACTIVE_COMPILATION_CONDITIONS"] as? String == "DEBUG"
        }
        #expect(isDebug.map { $0["name"] as? String } == ["Debug"])
    }

    @Test("An app copied from an example trusts no published key and takes no plain pushes") func safe()
        throws
    {
        let known = try Checkout.text(Checkout.folder.appending(path: "Sources/Device/PushService/PublishedKeys.swift"))
        // A release build rejects each key whose secret is public.
        let texts = try ["Docs", "Tests", "Examples", "Keys", "README.md"].flatMap { place in
            try Checkout.allFiles(in: Checkout.folder.appending(path: place)).compactMap { try? Checkout.text($0) }
        }
        let keys = Set(texts.flatMap { $0.matches(of: /push(?:sender|authority)1[a-z0-9]{50,}/).map { String($0.0) } })
        #expect(keys.count >= 5)
        for key in keys
        where (try? SenderPublicKey(parsing: key)) != nil || (try? AuthorityPublicKey(parsing: key)) != nil {
            #expect(known.contains(key), "\(key)")
        }
        for file in try Checkout.allFiles(in: Self.folder) {
            let text = try Checkout.text(file)
            #expect(!text.contains("pushsender1") || file.lastPathComponent == "Local.xcconfig")
            #expect(!text.contains("receivesPlainPushes"), "\(file.lastPathComponent)")
        }
    }

    @Test("The app and the extension have translations for the development region and German")
    func localizations() throws {
        let project = try Self.objects("PBXProject")
        let region = try #require(project.first?["developmentRegion"] as? String)
        for folder in ["App", "NotificationService"] {
            let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.appending(path: folder).path)
            let languages = names.filter { $0.hasSuffix(".lproj") }.map { String($0.dropLast(6)) }
            // Without it, a phone set to a missing language may show any of the others.
            #expect(languages.contains(region) && languages.contains("de"), "\(folder): \(languages)")
            let tables = try languages.map { try Self.propertyList("\(folder)/\($0).lproj/Localizable.strings").keys }
            #expect(Set(tables.map { $0.sorted() }).count == 1)
        }
    }

    @Test("Its deployment targets match the manifest, and it doesn't support the Mac") func versions() throws {
        let manifest = try Checkout.text(Checkout.folder.appending(path: "Package.swift"))
        let (_, objects) = try Self.project()
        let settings = objects.values.compactMap { $0["buildSettings"] as? [String: Any] }
        let systems = [
            ("iOS", "IPHONEOS_DEPLOYMENT_TARGET"), ("visionOS", "XROS_DEPLOYMENT_TARGET"),
        ]
        // A Mac app needs other entitlements and a sandbox, and is untested.
        let platforms = settings.compactMap { $0["SUPPORTED_PLATFORMS"] as? String }
        #expect(platforms.count == 2 && platforms.allSatisfy { !$0.contains("macosx") })
        #expect(settings.filter { $0["SUPPORTS_MACCATALYST"] as? String == "NO" }.count == 2)
        for (system, name) in systems {
            let platform = try #require(manifest.firstMatch(of: try Regex("\\.\(system)\\(\\.v([0-9]+)\\)")))
            let version = try #require(platform.output[1].substring)
            let values = settings.compactMap { $0[name] as? String }
            #expect(!values.isEmpty)
            #expect(values.allSatisfy { $0 == "\(version).0" }, "\(system) \(version): \(values)")
        }
    }

    @Test("The workflows match GitHub's schema and name files that exist") func workflows() throws {
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
            let names = text.matches(of: /(?:Scripts|Tests|Docs|Examples)\/[A-Za-z0-9.\/-]*[A-Za-z0-9]/).map {
                String($0.0)
            }
            #expect(!names.isEmpty)
            for name in names {
                let path = Checkout.folder.appending(path: name).path
                #expect(FileManager.default.fileExists(atPath: path), "\(workflow.lastPathComponent): \(name)")
            }
        }
    }
}
