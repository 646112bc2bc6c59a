import Foundation
import TestSupport
import Testing

@Suite("The manifest on Linux and on Apple's systems") struct ManifestTests {
    private static let server: Set<String> = [
        "swift-argument-parser", "grdb.swift", "swift-crypto", "swift-nio", "swift-nio-ssl", "swift-nio-http2",
        "hummingbird", "swift-http-types", "swift-nio-extras", "jwt-kit", "swift-log", "swift-metrics",
        "swift-service-lifecycle", "swift-certificates", "swift-asn1",
    ]

    @Test("no two paths differ only in case or in Unicode composition") func paths() async throws {
        let paths = try await PackageCopy.paths()
        #expect(paths.count > 500)
        #expect(Names.collisions(among: Names.withFolders(paths)) == [])
    }

    @Test(
        "every name is declared, every condition is correct, and no file of a build overwrites another",
        arguments: [PackageCopy.Branch.linux, .apple])
    func names(branch: PackageCopy.Branch) async throws {
        let copy = try await PackageCopy(branch)
        let manifest = try await copy.manifest()
        #expect(manifest.faults() == [])
        #expect(manifest.targets.count > 20)
        // No module builds for watchOS or tvOS.
        #expect(manifest.platforms.sorted() == ["ios", "maccatalyst", "macos", "visionos"])
        // In each app, Xcode would warn about libraries that it never links.
        #expect(manifest.targets.allSatisfy { branch == .linux || $0.pkgConfig == nil })
        // Unsafe flags are only for our own builds; a dependent must not get them.
        #expect(manifest.targets.filter { $0.hasUnsafeFlags }.map { $0.name } == [])
        #expect(try await copy.manifest(strict: true).targets.filter { $0.hasUnsafeFlags }.count > 20)
    }

    @Test("the manifest loads on Apple's systems: with libsodium only, from an app, and with the trait's packages")
    func apple() async throws {
        let copy = try await PackageCopy(.apple)
        #expect(try await copy.resolved() == ["swift-sodium"])
        #expect(try await copy.resolved("--traits", "Server") == Self.server.union(["swift-sodium"]))
        // See AppGuide 1.
        #expect(try await copy.resolvedByApp(taking: Manifest.appProducts) == ["sealed-push", "swift-sodium"])
    }

    /// The names of types that an app is likely to import along with ours.
    private static let othersNames: Set<String> = [
        // SwiftUI
        "View", "App", "Scene", "State", "Binding", "Environment", "Text", "Label", "Image", "Color", "Font", "Path",
        "Shape",
        "List", "Section", "Group", "Form", "Table", "Menu", "Link", "Button", "Picker", "Toggle", "Gauge", "Canvas",
        "Animation", "Transaction", "Alignment", "Axis", "Edge", "Angle", "Gradient", "Material", "Layout", "Namespace",
        "Divider", "Spacer", "Window", "Settings", "Commands", "Preview", "Visibility", "Selection",
        // Testing
        "Attachment", "Attachable", "Test", "Suite", "Issue", "Tag", "Trait", "Bug", "Comment", "Confirmation",
        "SourceLocation", "Expectation",
        // Charts
        "Chart", "ChartContent", "Plot", "PlottableValue", "BarMark", "LineMark", "AreaMark", "PointMark", "AxisMarks",
        // CryptoKit
        "HPKE", "HKDF", "HMAC", "AES", "ChaChaPoly", "SHA256", "SHA512", "Curve25519", "P256", "MLKEM768", "MLKEM1024",
        "KEM",
        "SharedSecret", "SymmetricKey", "SymmetricKeySize", "SecureEnclave", "Digest", "Insecure", "HashFunction",
    ]

    @Test("no public type in an app's modules shares a name with SwiftUI, Testing, Charts, or CryptoKit")
    func publicNames() throws {
        let folders = ["Core/SealedPush"] + ["Service", "App", "ServiceTesting", "Charts"].map { "Device/Push\($0)" }
        let sources = try folders.flatMap { try Checkout.files(in: "Sources/\($0)", ending: ".swift") }
        let declaration =
            /(?m)^(?:public|open) (?:final |indirect )*(?:struct|class|enum|protocol|actor|typealias) ([A-Za-z]+)/
        let names = try sources.flatMap { file in
            try Checkout.text(file).matches(of: declaration).map { String($0.1) }
        }
        #expect(names.count > 40)
        #expect(names.filter(Self.othersNames.contains) == [])
    }

    @Test("the manifest loads on Linux, with the trait's packages and without them") func linux() async throws {
        let copy = try await PackageCopy(.linux)
        #expect(try await copy.resolved() == Self.server)
        #expect(try await copy.resolved("--disable-default-traits") == [])
    }
}

/// The evaluated manifest of the package: its names and dependencies.
struct Manifest: Sendable {
    struct Dependency: Sendable {
        let name: String
        /// The package; nil for one of our own targets.
        let package: String?
        let traits: [String]
    }

    struct Target: Sendable {
        let name: String
        let dependencies: [Dependency]
        let hasUnsafeFlags: Bool
        let pkgConfig: String?
    }

    let targets: [Target]
    let libraries: [String]
    let executables: [String]
    let traits: [String]
    let platforms: [String]
    /// The dependencies by identity, each with its address and oldest version.
    let packages: [String: (address: String, version: String)]

    /// - Parameter json: The output of `swift package dump-package`.
    init(parsing json: String) throws {
        guard let root = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any],
            let targets = root["targets"] as? [[String: Any]], let products = root["products"] as? [[String: Any]],
            let packages = root["dependencies"] as? [[String: Any]], let traits = root["traits"] as? [[String: Any]]
        else { throw Tool.Failed(description: "not a manifest: \(json)") }
        self.targets = targets.map(Self.target)
        self.traits = traits.compactMap { $0["name"] as? String }
        platforms = (root["platforms"] as? [[String: Any]] ?? []).compactMap { $0["platformName"] as? String }
        let isLibrary = { (product: [String: Any]) in (product["type"] as? [String: Any])?["library"] != nil }
        libraries = products.filter(isLibrary).compactMap { $0["name"] as? String }
        executables = products.filter { !isLibrary($0) }.compactMap { $0["name"] as? String }
        self.packages = try packages.reduce(into: [:]) { found, package in
            guard let control = (package["sourceControl"] as? [[String: Any]])?.first,
                let identity = control["identity"] as? String,
                let remote = (control["location"] as? [String: Any])?["remote"] as? [[String: Any]],
                let address = remote.first?["urlString"] as? String,
                let range = (control["requirement"] as? [String: Any])?["range"] as? [[String: Any]],
                let version = range.first?["lowerBound"] as? String
            else { throw Tool.Failed(description: "a dependency of an unknown kind: \(package)") }
            found[identity] = (address, version)
        }
    }

    private static func target(_ target: [String: Any]) -> Target {
        let dependencies = (target["dependencies"] as? [[String: Any]] ?? []).map { dependency in
            let words = dependency.values.first as? [Any] ?? []
            let isProduct = dependency["product"] != nil
            let condition = words.last as? [String: Any]
            return Dependency(
                name: words.first as? String ?? "", package: isProduct ? words[1] as? String : nil,
                traits: condition?["traits"] as? [String] ?? [])
        }
        let settings = target["settings"] as? [[String: Any]] ?? []
        return Target(
            name: target["name"] as? String ?? "", dependencies: dependencies,
            hasUnsafeFlags: settings.contains { ($0["kind"] as? [String: Any])?["unsafeFlags"] != nil },
            pkgConfig: target["pkgConfig"] as? String)
    }

    /// The products for apps, which must be available without a trait.
    static let appProducts = [
        "SealedPush", "PushSender", "PushKeyring", "PushService", "PushApp", "PushServiceTesting",
        "PushCharts",
    ]

    /// Returns the errors in the names and conditions.
    func faults() -> [String] {
        var faults: [String] = []
        let names = Set(targets.map { $0.name })
        for target in targets {
            for dependency in target.dependencies {
                let arrow = "\(target.name) -> \(dependency.name)"
                if let package = dependency.package {
                    if packages[package.lowercased()] == nil { faults.append("\(arrow): no package \(package)") }
                    let isLibsodium = dependency.name == "Clibsodium"
                    if dependency.traits != (isLibsodium ? [] : ["Server"]) { faults.append("\(arrow): its condition") }
                } else {
                    if !names.contains(dependency.name) { faults.append("\(arrow): no such target") }
                    let isOptional = ["Clibpq", "PushPostgres"].contains(dependency.name)
                    let isOurs = ["PushPostgres", "SealedPushCommand", "transaction-example"].contains(target.name)
                    if dependency.traits != (isOptional && isOurs ? ["Postgres"] : []) {
                        faults.append("\(arrow): its condition")
                    }
                }
            }
        }
        if !traits.contains("Server") { faults.append("no trait Server") }
        for product in Self.appProducts where !libraries.contains(product) { faults.append("no library \(product)") }
        // A framework with such a name has an invalid bundle ID, so App Store Connect rejects the app (ITMS-90049).
        faults += targets.filter { $0.name.contains("_") }.map { "\($0.name) has an underscore" }
        // On Linux, ML-KEM comes from swift-crypto, but only in a server.
        let foreign = reached(from: Self.appProducts).filter {
            $0.package != nil && $0.name != "Clibsodium" && !($0.name == "Crypto" && $0.traits == ["Server"])
        }
        faults += foreign.map { "an app's product needs \($0.name)" }
        return faults + Names.collisions(among: filesOfABuild).map { "\($0) differ only in case" }
    }

    /// Returns the direct and indirect dependencies of these targets.
    private func reached(from start: [String]) -> [Dependency] {
        var found: [Dependency] = []
        var seen = Set(start)
        var open = start
        while let name = open.popLast() {
            for dependency in targets.first(where: { $0.name == name })?.dependencies ?? [] {
                found.append(dependency)
                if dependency.package == nil, seen.insert(dependency.name).inserted { open.append(dependency.name) }
            }
        }
        return found
    }

    /// The files of a build. A library product isn't a file: its targets are linked into its dependents.
    private var filesOfABuild: [String] {
        targets.flatMap { ["\($0.name).build", "Modules/\($0.name).swiftmodule"] }
            + executables.flatMap { [$0, "\($0).product"] }
    }
}

enum Names {
    /// Returns the names that collide on a Mac's disk.
    static func collisions(among names: [String]) -> [String] {
        Dictionary(grouping: names) { name in
            name.precomposedStringWithCanonicalMapping.folding(options: .caseInsensitive, locale: nil)
                .precomposedStringWithCanonicalMapping
        }.values.filter { $0.count > 1 }.map { $0.sorted().joined(separator: ", ") }.sorted()
    }

    /// Returns the paths and all their folders: on a Mac, `a/B` and `A/c` are in one folder.
    static func withFolders(_ paths: [String]) -> [String] {
        let all = paths.flatMap { path in
            let parts = path.split(separator: "/")
            return parts.indices.map { parts[...$0].joined(separator: "/") }
        }
        return Array(Set(all))
    }
}
