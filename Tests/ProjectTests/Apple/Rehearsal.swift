import Foundation
import TestPrograms
import TestSupport

/// Our sources, compiled against stand-ins for Apple's modules: Tests/Tools/AppleRehearsal/README.md.
struct Rehearsal: Sendable {
    /// The device modules and the sender module, each after the ones that it imports.
    private static let modules = [
        "Core/PushCore", "Core/SealedPush", "Server/PushSender", "Server/PushKeyring", "Device/PushService",
        "Device/PushApp", "Device/PushServiceTesting", "Device/PushCharts",
    ]
    /// The stand-ins, each after the ones that it imports.
    private static let standIns = [
        "DarwinStructures", "Darwin", "Glibc", "CoreFoundation", "AppleFoundation", "Security", "CoreGraphics",
        "CoreText", "ImageIO", "os",
    ]
    private static let standInsOnTop = [
        "Intents", "UserNotificationsUI", "UIKit", "AppKit", "BackgroundTasks", "SwiftUI",
    ]
    private static let sources = Checkout.folder.appending(path: "Tests/Tools/AppleRehearsal/StandIns")
    /// The manifest's settings.
    private static let settings = [
        "-package-name", "sealed-push", "-enable-testing", "-enable-upcoming-feature", "ExistentialAny",
        "-enable-upcoming-feature", "InternalImportsByDefault", "-enable-upcoming-feature", "MemberImportVisibility",
    ]

    let folder: URL
    let system: AppleSource.System
    let swift: String

    /// Shared by all tests: made once, next to the built programs.
    private static let phone = Task { try await Rehearsal(.iOS, swift: "6").building() }
    private static let computer = Task { try await Rehearsal(.macOS, swift: "5").building() }

    /// Returns a rehearsal with all modules compiled: for iOS in Swift 6 mode, or for macOS in Swift 5 mode.
    static func ready(_ system: AppleSource.System = .iOS) async throws -> Rehearsal {
        switch system {
        case .iOS: try await phone.value
        case .macOS: try await computer.value
        }
    }

    private init(_ system: AppleSource.System, swift: String) throws {
        self.system = system
        self.swift = swift
        let built = Program("sealedpush").executable.deletingLastPathComponent()
        folder = built.appending(path: "apple-rehearsal/\(system.rawValue)-\(swift)")
        try? FileManager.default.removeItem(at: folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private var compiled: String { folder.appending(path: "modules").path }
    /// The cache of Foundation's C modules, which is kept between runs.
    private var cache: [String] { ["-module-cache-path", folder.deletingLastPathComponent().path + "/cache"] }

    private func building() async throws -> Rehearsal {
        for name in Self.standIns { try await makeStandIn(name) }
        // The simulator's module, compiled as another package, without its substitutes for Apple's Foundation.
        let files = try copy("Sources/Simulator/UserNotifications").filter {
            !$0.hasSuffix("/String+Localized.swift") && !$0.hasSuffix("/Intents.swift")
        }
        let apple = ["-package-name", "apple", "-enable-upcoming-feature", "InternalImportsByDefault"]
        try check(await compile(files, as: "UserNotifications", swift: "5", apple, into: compiled))
        for name in Self.standInsOnTop { try await makeStandIn(name) }
        for folder in Self.modules {
            try check(
                await compile(
                    copy("Sources/\(folder)"), as: String(folder.split(separator: "/")[1]), swift: swift, Self.settings,
                    into: compiled))
        }
        // Omit the helpers that run tests on their own threads, because only tests of programs need them.
        let support = try copy("Tests/Support/TestSupport").filter { !$0.contains("/Threads/") }
        try check(await compile(support, as: "TestSupport", swift: swift, Self.settings, into: compiled))
        return self
    }

    private func makeStandIn(_ name: String) async throws {
        let source = Self.sources.appending(path: "\(name).swiftinterface").path
        try await Tool.output(
            of: ["swiftc", "-frontend", "-compile-module-from-interface", source, "-module-name", name, "-I", compiled]
                + cache + ["-o", "\(compiled)/\(name).swiftmodule"])
    }

    private func check(_ result: Program.Result) throws {
        guard result.status == 0 else { throw Tool.Failed(description: "\(self.name):\n\(result.errors)") }
    }

    private var name: String { "\(system.rawValue), Swift \(swift)" }

    /// Copies a folder of the checkout, rewritten, and returns the paths of its sources.
    private func copy(_ path: String, to target: String = "sources") throws -> [String] {
        let root = Checkout.folder.appending(path: path).path
        return try Checkout.files(in: path, ending: ".swift").map { file in
            let text = AppleSource.rewrite(try Checkout.text(file), for: system)
            return try write(text, to: "\(target)/\(path)\(file.path.dropFirst(root.count))")
        }
    }

    private func write(_ text: String, to path: String) throws -> String {
        let file = folder.appending(path: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        return file.path
    }

    private func compile(
        _ files: [String], as module: String, swift: String, _ flags: [String], into output: String
    ) async throws -> Program.Result {
        let sodium = Checkout.folder.appending(path: "Sources/CLibraries/Clibsodium").path
        try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
        // Don't use `-typecheck`: the compiler checks actor isolation in a later phase.
        return try await Tool.run(
            ["swiftc", "-emit-module", "-wmo", "-parse-as-library", "-swift-version", swift, "-module-name", module]
                + ["-I", compiled, "-I", sodium] + cache + flags + ["-o", "\(output)/\(module).swiftmodule"] + files)
    }

    /// Compiles a test target.
    func compileTests(_ name: String) async throws -> Program.Result {
        let resources = "import Foundation\nextension Bundle { static let module = Bundle.main }\n"
        let files = try copy("Tests/\(name)") + [write(resources, to: "sources/Tests/\(name)/Resources.swift")]
        // The tests compare HPKE with another package's, which was built with these tests.
        let packages = Program("sealedpush").executable.deletingLastPathComponent().appending(path: "Modules").path
        return try await compile(
            files, as: name, swift: swift,
            Self.settings + Self.testing() + ["-I", packages], into: compiled)
    }

    /// Returns the flags for the macros of Swift Testing.
    private static func testing() async throws -> [String] {
        let facts = try await Tool.output(of: ["swiftc", "-print-target-info"])
        guard let path = facts.firstMatch(of: /"runtimeResourcePath": "(.*)"/)?.1 else {
            throw Tool.Failed(description: "no path in \(facts)")
        }
        return ["-plugin-path", "\(path)/host/plugins/testing"]
    }

    /// Compiles an app's sources, which use our modules.
    func compile(_ sources: [AppSource], as mode: AppMode) async throws -> Program.Result {
        let scratch = UUID().uuidString
        defer { try? FileManager.default.removeItem(at: folder.appending(path: scratch)) }
        let files = try sources.map { source in
            try write(AppleSource.rewrite(source.text, for: system), to: "\(scratch)/\(source.name).swift")
        }
        return try await compile(
            files, as: "App", swift: mode.swift, mode.flags + Self.testing(), into: folder.appending(path: scratch).path
        )
    }
}

/// Rewrites a source line by line for the rehearsal; see Tests/Tools/AppleRehearsal/README.md.
enum AppleSource {
    /// The system that the conditions select.
    enum System: String, Sendable { case iOS, macOS }

    static func rewrite(_ text: String, for system: System) -> String {
        rules(system).reduce(text) { text, rule in
            text.replacingOccurrences(of: rule.pattern, with: rule.replacement, options: .regularExpression)
        }
    }

    private static func rules(_ system: System) -> [(pattern: String, replacement: String)] {
        let absent = #"canImport\((?:Glibc|FoundationEssentials|FoundationNetworking)\)|os\(Linux\)"#
        // A condition has only a few of these, and each pass replaces one per line.
        let condition = #"(?m)^( *#(?:if|elseif) .*?)"#
        return Array(repeating: (condition + "(?:\(absent))", "$1false"), count: 4)
            + Array(repeating: (condition + #"os\(\#(system.rawValue)\)"#, "$1true"), count: 4) + [
                (#"(?m)^( *(?:(?:public|package|internal) )?import )Foundation$"#, "$1AppleFoundation"),
                (
                    #"(?m)^( *(?:@_exported )?(?:(?:public|package|internal) )?import )(Glibc|FoundationEssentials|FoundationNetworking)$"#,
                    "$1NothingOfApples"
                ),
                // The compiler for Linux doesn't bridge.
                (#" as (CF[A-Za-z]+)\b"#, " ~~ $1.self"), (#" as (String|Data)\)"#, " ~~ $1.self)"),
            ]
    }
}

/// A file of an app, from a document or an example.
struct AppSource: Sendable {
    let name: String
    let text: String

    /// Returns the Swift blocks of a document, except those marked with one of these reasons.
    static func blocks(of document: String, leavingOut reasons: Set<String> = []) throws -> [AppSource] {
        let text = try Checkout.text(Checkout.folder.appending(path: document))
        var found: [AppSource] = []
        var chapter = ""
        var reason = ""
        var block: [Substring]?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if let lines = block {
                if line != "```" {
                    block = lines + [line]
                } else {
                    if !reasons.contains(reason) {
                        let name = "\(chapter) block \(found.count + 1)"
                        found.append(AppSource(name: name, text: lines.joined(separator: "\n") + "\n"))
                    }
                    block = nil
                }
            } else if line == "```swift" {
                block = []
            } else if line.hasPrefix("#") {
                chapter = String(line.drop { "# ".contains($0) }.prefix { $0.isNumber || $0 == "." })
            }
            reason = line.hasPrefix("<!-- ") ? String(line.dropFirst(5).dropLast(4)) : block == nil ? "" : reason
        }
        return found
    }

    static func file(_ path: String) throws -> AppSource {
        AppSource(
            name: URL(filePath: path).deletingPathExtension().lastPathComponent,
            text: try Checkout.text(Checkout.folder.appending(path: path)))
    }
}

/// The way an app's target is compiled.
enum AppMode: String, CaseIterable, Sendable, CustomStringConvertible {
    case swift5 = "Swift 5"
    case swift6 = "Swift 6"
    /// The settings of Xcode 26's new targets.
    case newTarget5 = "a new target, Swift 5"
    case newTarget6 = "a new target, Swift 6"

    var description: String { rawValue }
    var swift: String { self == .swift5 || self == .newTarget5 ? "5" : "6" }

    var flags: [String] {
        switch self {
        case .swift5, .swift6: []
        case .newTarget5:
            Self.isolation
                + Self.features(
                    "DisableOutwardActorInference", "GlobalActorIsolatedTypesUsability", "InferSendableFromCaptures")
        case .newTarget6: Self.isolation
        }
    }

    /// Default isolation, and the parts of "approachable concurrency" that Swift 6 mode doesn't include.
    private static let isolation =
        ["-default-isolation", "MainActor"]
        + features("MemberImportVisibility", "NonisolatedNonsendingByDefault", "InferIsolatedConformances")

    private static func features(_ names: String...) -> [String] { names.flatMap { ["-enable-upcoming-feature", $0] } }
}
