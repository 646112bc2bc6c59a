import Foundation
import TestPrograms
import TestSupport

/// Our sources, compiled against stand-ins for Apple's modules: Tests/AppleRehearsal/README.md.
struct Rehearsal: Sendable {
    /// The device's end and the sender module, each after those that it imports.
    private static let modules = [
        "Core/PushCore", "Core/SealedPush", "Server/PushSender", "Server/PushKeyring", "Device/PushService",
        "Device/PushCharts",
    ]
    /// Each after those that it imports.
    private static let standIns = [
        "DarwinStructures", "Darwin", "Glibc", "CoreFoundation", "AppleFoundation", "Security", "CoreGraphics",
        "CoreText", "ImageIO", "os",
    ]
    private static let standInsOnTop = ["UserNotificationsUI", "UIKit", "AppKit", "BackgroundTasks", "SwiftUI"]
    private static let sources = Checkout.folder.appending(path: "Tests/AppleRehearsal/StandIns")
    /// As in the manifest.
    private static let settings = [
        "-package-name", "sealed-push", "-enable-testing", "-enable-upcoming-feature", "ExistentialAny",
        "-enable-upcoming-feature", "InternalImportsByDefault", "-enable-upcoming-feature", "MemberImportVisibility",
    ]

    let folder: URL
    let system: AppleSource.System
    let swift: String

    /// What all tests share: made once, beside the programs that were built.
    private static let phone = Task { try await Rehearsal(.iOS, swift: "6").building() }
    private static let computer = Task { try await Rehearsal(.macOS, swift: "5").building() }

    /// With all modules compiled: for iOS in Swift 6 mode, as they are everywhere; for macOS in Swift 5 mode.
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
    /// Of Foundation's C modules: kept from one run to the next.
    private var cache: [String] { ["-module-cache-path", folder.deletingLastPathComponent().path + "/cache"] }

    private func building() async throws -> Rehearsal {
        for name in Self.standIns { try await makeStandIn(name) }
        // Linux's own, as a package of somebody else's; what it has for want of Apple's Foundation is left out.
        let files = try copy("Sources/Simulator/UserNotifications").filter { !$0.hasSuffix("/String+Localized.swift") }
        let apple = ["-package-name", "apple", "-enable-upcoming-feature", "InternalImportsByDefault"]
        try check(await compile(files, as: "UserNotifications", swift: "5", apple, into: compiled))
        for name in Self.standInsOnTop { try await makeStandIn(name) }
        for folder in Self.modules {
            try check(
                await compile(
                    copy("Sources/\(folder)"), as: String(folder.split(separator: "/")[1]), swift: swift, Self.settings,
                    into: compiled))
        }
        // Without what runs tests on threads of their own, which only tests of programs need.
        let support = try copy("Tests/Support").filter { !$0.contains("/Threads/") }
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
        // Not `-typecheck`: what crosses from one actor to another is looked at later.
        return try await Tool.run(
            ["swiftc", "-emit-module", "-wmo", "-parse-as-library", "-swift-version", swift, "-module-name", module]
                + ["-I", compiled, "-I", sodium] + cache + flags + ["-o", "\(output)/\(module).swiftmodule"] + files)
    }

    /// Compiles a target of tests.
    func compileTests(_ name: String) async throws -> Program.Result {
        let resources = "import Foundation\nextension Bundle { static let module = Bundle.main }\n"
        let files = try copy("Tests/\(name)") + [write(resources, to: "sources/Tests/\(name)/Resources.swift")]
        let facts = try await Tool.output(of: ["swiftc", "-print-target-info"])
        guard let path = facts.firstMatch(of: /"runtimeResourcePath": "(.*)"/)?.1 else {
            throw Tool.Failed(description: "no path in \(facts)")
        }
        // Their second opinion on HPKE is a package, and was built with these tests.
        let packages = Program("sealedpush").executable.deletingLastPathComponent().appending(path: "Modules").path
        return try await compile(
            files, as: name, swift: swift,
            Self.settings + ["-plugin-path", "\(path)/host/plugins/testing", "-I", packages], into: compiled)
    }

    /// Compiles an app's own sources, which use our modules.
    func compile(_ sources: [AppSource], as mode: AppMode) async throws -> Program.Result {
        let scratch = UUID().uuidString
        defer { try? FileManager.default.removeItem(at: folder.appending(path: scratch)) }
        let files = try sources.map { source in
            try write(AppleSource.rewrite(source.text, for: system), to: "\(scratch)/\(source.name).swift")
        }
        return try await compile(
            files, as: "App", swift: mode.swift, mode.flags, into: folder.appending(path: scratch).path)
    }
}
