import Foundation
import TestPrograms
import TestSupport
import Testing

@Suite("Compiling against stand-ins for Apple's modules") struct RehearsalTests {
    @Test(
        "the device modules and the sender module compile",
        arguments: Thoroughness.isThorough ? [AppleSource.System.iOS, .macOS] : [.iOS])
    func modules(system: AppleSource.System) async throws { _ = try await Rehearsal.ready(system) }

    private static let quickTargets = ["VectorTests", "PushChartsTests"]
    private static let slowTargets = [
        "PushCoreTests", "PushSenderTests", "SealedPushTests", "PushKeyringTests", "PushServiceTests",
    ]

    @Test("the tests of the portable modules compile", arguments: quickTargets)
    func tests(target: String) async throws { try await expectTestsCompile(target) }

    @Test(
        "the larger tests of the portable modules compile", .enabled(if: Thoroughness.isThorough),
        arguments: slowTargets)
    func largeTests(target: String) async throws { try await expectTestsCompile(target) }

    private func expectTestsCompile(_ target: String) async throws {
        let result = try await Rehearsal.ready().compileTests(target)
        #expect(result.status == 0, "\(result.errors)")
    }

    /// All modes, or a random one in a plain run.
    private static let modes: [AppMode] = {
        var random = SeededGenerator(for: "modes")
        return Thoroughness.isThorough ? AppMode.allCases : AppMode.allCases.shuffled(using: &random).suffix(1)
    }()

    @Test("the Swift code of the app's guides compiles", arguments: modes) func app(mode: AppMode) async throws {
        let blocks = try [
            "AppGuide", "Accounts", "Migration", "TestOnLinux", "RichNotifications", "PrivateNotifications",
        ].flatMap { name in
            try AppSource.blocks(of: "Docs/\(name).md", leavingOut: ["part of a manifest", "a manifest"])
                .map { AppSource(name: "\(name) \($0.name)", text: $0.text) }
        }
        #expect(blocks.count >= 14)
        try await expectCompiles(blocks, mode)
    }

    @Test("ServerGuide.md's Swift code compiles on a Mac", arguments: modes) func server(mode: AppMode) async throws {
        // The outbox and the APNs transport depend on packages whose sources for Apple's systems aren't available here.
        let blocks = try AppSource.blocks(
            of: "Docs/ServerGuide.md", leavingOut: ["part of a manifest", "needs APNSwift"]
        )
        .filter { !$0.text.contains("import PushOutbox") }
        #expect(blocks.count >= 4)
        try await expectCompiles(blocks, mode)
    }

    @Test("the README's extension compiles", arguments: modes) func readme(mode: AppMode) async throws {
        let blocks = try AppSource.blocks(of: "README.md").filter { $0.text.contains("import PushService") }
        #expect(blocks.count == 1)
        try await expectCompiles(blocks, mode)
    }

    @Test(
        "each example's extension compiles",
        arguments: ["Messages", "DailyQuote", "DynamicChart", "ImageAndReceipt", "RichMedia"])
    func examples(name: String) async throws {
        // A random one of the two in a plain run.
        var random = SeededGenerator()
        for mode in [AppMode.swift6, .newTarget5].shuffled(using: &random).prefix(Thoroughness.count(1, thorough: 2)) {
            try await expectCompiles([.file("Examples/\(name)/NotificationService.swift")], mode)
        }
    }

    @Test("RichMedia's content extension compiles", arguments: modes)
    func contentExtension(mode: AppMode) async throws {
        let files = try ["StoryView", "NotificationViewController"].map {
            try AppSource.file("Examples/RichMedia/\($0).swift")
        }
        try await expectCompiles(files, mode)
    }

    @Test("the app, the extension, and the tests of the Xcode project compile", arguments: modes)
    func project(mode: AppMode) async throws {
        for target in [["App"], ["NotificationService"], ["Tests", "NotificationService"]] {
            let files = try (target + ["Shared"]).flatMap {
                try Checkout.files(in: "Examples/App/\($0)", ending: ".swift")
            }
            let sources = try files.map {
                AppSource(name: $0.deletingPathExtension().lastPathComponent, text: try Checkout.text($0))
            }
            #expect(sources.count >= 3)
            try await expectCompiles(sources, mode)
        }
    }

    @Test(
        "two small apps compile before and after they got sealed pushes",
        arguments: ["SwiftUI/Before", "SwiftUI/After", "UIKit/Before", "UIKit/After"], modes)
    func existingApps(folder: String, mode: AppMode) async throws {
        let files = try Checkout.files(in: "Tests/Support/Apps/\(folder)", ending: ".swift")
        #expect(files.count >= 2)
        let sources = try files.map {
            AppSource(name: $0.deletingPathExtension().lastPathComponent, text: try Checkout.text($0))
        }
        try await expectCompiles(sources, mode)
    }

    @Test("every example's extension is covered") func allExamples() throws {
        let files = try Checkout.files(in: "Examples", ending: "NotificationService.swift")
        #expect(files.count == 6)
    }

    private func expectCompiles(
        _ sources: [AppSource], _ mode: AppMode
    ) async throws {
        let result = try await Rehearsal.ready().compile(sources, as: mode)
        #expect(result.status == 0, "\(result.errors)")
    }
}
