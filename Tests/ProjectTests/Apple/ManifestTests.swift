import Foundation
import TestSupport
import Testing

@Suite("The manifest on Linux and on Apple's systems") struct ManifestTests {
    private static let server: Set<String> = [
        "swift-argument-parser", "grdb.swift", "swift-crypto", "swift-nio", "swift-nio-ssl", "swift-nio-http2",
        "hummingbird", "swift-http-types", "swift-nio-extras", "jwt-kit", "swift-log", "swift-metrics",
        "swift-service-lifecycle", "swift-certificates", "swift-asn1",
    ]

    @Test("no two paths differ only in case or in how a letter is composed") func paths() async throws {
        let paths = try await PackageCopy.paths()
        #expect(paths.count > 500)
        #expect(Names.collisions(among: Names.withFolders(paths)) == [])
    }

    @Test(
        "every name in it is declared, every condition is sound, and no file of a build overwrites another",
        arguments: [PackageCopy.Branch.linux, .apple])
    func names(branch: PackageCopy.Branch) async throws {
        let copy = try await PackageCopy(branch)
        let manifest = try await copy.manifest()
        #expect(manifest.faults() == [])
        #expect(manifest.targets.count > 20)
        // Nothing builds for watchOS and tvOS.
        #expect(manifest.platforms.sorted() == ["ios", "maccatalyst", "macos", "visionos"])
        // Xcode would warn, in each app, about libraries that it never links.
        #expect(manifest.targets.allSatisfy { branch == .linux || $0.pkgConfig == nil })
        // Only our own builds have flags that a dependent must not get.
        #expect(manifest.targets.filter { $0.hasUnsafeFlags }.map { $0.name } == [])
        #expect(try await copy.manifest(strict: true).targets.filter { $0.hasUnsafeFlags }.count > 20)
    }

    @Test("it loads on Apple's systems, with libsodium alone, as an app does, and with the trait's packages")
    func apple() async throws {
        let copy = try await PackageCopy(.apple)
        #expect(try await copy.resolved() == ["swift-sodium"])
        #expect(try await copy.resolved("--traits", "Server") == Self.server.union(["swift-sodium"]))
        // As AppGuide 1 says.
        #expect(try await copy.resolvedByApp(taking: Manifest.appProducts) == ["sealed-push", "swift-sodium"])
    }

    /// What an app is likely to import beside ours.
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

    @Test("no public type of an app's modules has the name of one in SwiftUI, Testing, Charts or CryptoKit")
    func publicNames() throws {
        let folders = ["Core/SealedPush", "Device/PushService", "Device/PushServiceTesting", "Device/PushCharts"]
        let sources = try folders.flatMap { try Checkout.files(in: "Sources/\($0)", ending: ".swift") }
        let declaration =
            /(?m)^(?:public|open) (?:final |indirect )*(?:struct|class|enum|protocol|actor|typealias) ([A-Za-z]+)/
        let names = try sources.flatMap { file in
            try Checkout.text(file).matches(of: declaration).map { String($0.1) }
        }
        #expect(names.count > 40)
        #expect(names.filter(Self.othersNames.contains) == [])
    }

    @Test("it loads on Linux, with the trait's packages, and with none") func linux() async throws {
        let copy = try await PackageCopy(.linux)
        #expect(try await copy.resolved() == Self.server)
        #expect(try await copy.resolved("--disable-default-traits") == [])
    }
}

/// What our manifest says, evaluated: the names in it, and who depends on whom.
struct Manifest: Sendable {
    struct Dependency: Sendable {
        let name: String
        /// Nil for one of our own targets.
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
    /// By identity, with the address and the oldest version.
    let packages: [String: (address: String, version: String)]

    /// - Parameter json: of `swift package dump-package`.
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

    /// What an app takes, which must be had without a trait.
    static let appProducts = [
        "SealedPush", "PushSender", "PushKeyring", "PushService", "PushServiceTesting", "PushCharts",
    ]

    /// What is wrong with the names and conditions in it.
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
        // A framework of such a name has no valid bundle ID: App Store Connect refuses the app (ITMS-90049).
        faults += targets.filter { $0.name.contains("_") }.map { "\($0.name) has an underscore" }
        // ML-KEM on Linux comes from swift-crypto, in a server alone.
        let foreign = reached(from: Self.appProducts).filter {
            $0.package != nil && $0.name != "Clibsodium" && !($0.name == "Crypto" && $0.traits == ["Server"])
        }
        faults += foreign.map { "an app's product needs \($0.name)" }
        return faults + Names.collisions(among: filesOfABuild).map { "\($0) differ only in case" }
    }

    /// All that these targets depend on, directly or not.
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

    /// A library product is no file of its own: its targets are linked into whoever takes it.
    private var filesOfABuild: [String] {
        targets.flatMap { ["\($0.name).build", "Modules/\($0.name).swiftmodule"] }
            + executables.flatMap { [$0, "\($0).product"] }
    }
}

enum Names {
    /// Those that are one name on a Mac's disk.
    static func collisions(among names: [String]) -> [String] {
        Dictionary(grouping: names) { name in
            name.precomposedStringWithCanonicalMapping.folding(options: .caseInsensitive, locale: nil)
                .precomposedStringWithCanonicalMapping
        }.values.filter { $0.count > 1 }.map { $0.sorted().joined(separator: ", ") }.sorted()
    }

    /// With the folders in between: `a/B` and `A/c` are in one folder there.
    static func withFolders(_ paths: [String]) -> [String] {
        let all = paths.flatMap { path in
            let parts = path.split(separator: "/")
            return parts.indices.map { parts[...$0].joined(separator: "/") }
        }
        return Array(Set(all))
    }
}
