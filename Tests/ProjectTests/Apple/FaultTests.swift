import Foundation
import TestPrograms
import TestSupport
import Testing
import _PushBase

/// A check that can't fail is a defect: each is shown what it is there for.
@Suite("Every check of the rehearsal fails when its fault is put in")
struct FaultTests {
    struct SourceFault: Sendable, CustomStringConvertible {
        let description: String
        let module: String
        let file: String
        let change: (from: String, to: String)
        let error: String
    }

    private static let sourceFaults = [
        SourceFault(
            description: "a file's length, which is no Int there", module: "PushService", file: "Log/ServiceLog.swift",
            change: ("Int(status.st_size)", "status.st_size"), error: "cannot be applied to operands of type 'off_t'"),
        SourceFault(
            description: "a field that only Linux has", module: "PushService", file: "Ledger/FileOrigin.swift",
            change: ("st_birthtimespec", "st_ctim"), error: "has no member 'st_ctim'"),
        SourceFault(
            description: "a function that only Linux has", module: "_PushBase", file: "Locked.swift",
            change: ("pthread_mutex_lock(mutex)", "pthread_mutex_clocklock(mutex, 0, nil)"),
            error: "cannot find 'pthread_mutex_clocklock'"),
        SourceFault(
            description: "a number in another type", module: "PushService", file: "Fetching/IPAddress.swift",
            change: ("hints.ai_socktype = SOCK_STREAM", "hints.ai_socktype = Int32(SOCK_STREAM.rawValue)"),
            error: "value of type 'Int32' has no member 'rawValue'"),
        SourceFault(
            description: "a label in a call of the keychain", module: "PushService", file: "Device/KeychainItems.swift",
            change: ("SecItemDelete(query as", "SecItemDelete(query: query as"), error: "extraneous argument label"),
        SourceFault(
            description: "a dictionary that is not bridged", module: "PushService", file: "Device/KeychainItems.swift",
            change: ("SecItemAdd(attributes as CFDictionary", "SecItemAdd(attributes"), error: "cannot convert value"),
        SourceFault(
            description: "a missing import", module: "PushCharts", file: "Backends/CoreGraphicsPicture.swift",
            change: ("internal import ImageIO", ""), error: "cannot find 'CGImageDestinationCreateWithData'"),
        SourceFault(
            description: "an import of what is Linux's", module: "_PushBase", file: "Platform.swift",
            change: ("import Darwin", "import Glibc"), error: "no such module"),
        SourceFault(
            description: "an optional that is not unwrapped", module: "PushCharts",
            file: "Backends/CoreGraphicsPicture.swift", change: ("?? CGColor(gray: 0.5, alpha: components[3])", ""),
            error: "must be unwrapped"),
        SourceFault(
            description: "what only the simulator may do", module: "PushService",
            file: "Expanded/ExpandedNotification.swift",
            change: (
                "import Foundation",
                "import Foundation\nfunc copy(_ n: UNNotification) -> UNNotification { .init(request: n.request, date: n.date) }"
            ),
            error: "inaccessible due to 'package' protection level"),
        SourceFault(
            description: "what is passed to another thread", module: "PushService",
            file: "Fetching/SessionFetching.swift",
            change: (
                "@escaping (URLRequest?) -> Void\n    ) {",
                "@escaping (URLRequest?) -> Void\n    ) {\nTask { completionHandler(nil) }"
            ),
            error: "data race"),
    ]

    @Test("in a source", arguments: Thoroughness.sample(2, of: sourceFaults))
    func source(fault: SourceFault) async throws {
        let path = "Sources/\(fault.module)/\(fault.file)"
        let text = try Checkout.text(Checkout.folder.appending(path: path))
        try #require(text.contains(fault.change.from), "the file has changed: where can the fault be put in?")
        let result = try await Rehearsal.ready().compile(
            Rehearsal.Module(name: fault.module), with: path,
            being: text.replacingOccurrences(of: fault.change.from, with: fault.change.to))
        #expect(result.status != 0)
        #expect(result.errors.contains(fault.error), "\(result.errors)")
    }

    @Test(
        "in the README's extension",
        arguments: [
            ("nonisolated ", AppMode.newTarget5, "different actor isolation"),
            ("import SealedPush\n", .newTarget6, "missing import of defining module 'SealedPush'"),
        ])
    func readme(removed: String, mode: AppMode, error: String) async throws {
        let extensions = try AppSource.blocks(of: "README.md").filter { $0.text.contains("import PushService") }
        let block = try #require(extensions.first)
        try #require(block.text.contains(removed))
        let broken = AppSource(name: block.name, text: block.text.replacingOccurrences(of: removed, with: ""))
        let result = try await Rehearsal.ready().compile([broken], as: mode)
        #expect(result.status != 0)
        #expect(result.errors.contains(error), "\(result.errors)")
    }

    @Test("in a path")
    func paths() async throws {
        let paths = try await PackageCopy.paths()
        let found = Names.collisions(among: Names.withFolders(paths + ["Sources/sealedPush/File.swift"]))
        #expect(found == ["Sources/SealedPush, Sources/sealedPush"])
        #expect(Names.collisions(among: ["caf\u{e9}", "cafe\u{301}"]).count == 1)
    }

    @Test(
        "in the manifest",
        arguments: Thoroughness.sample(
            2,
            of: [
                ("\"SealedPushCommand\"", "\"sealedpush\"", "SealedPush.build, sealedpush.build"),
                (
                    "dependencies: [\"PushCrypto\", \"_PushBase\", \"SealedPush\", \"PushSender\"],",
                    "dependencies: [\"PushSimulator\"],",
                    "TestSupport -> PushSimulator: no such target"
                ),
                (", condition: .when(traits: [\"Server\"])", "", "its condition"),
                ("library(\"PushService\"),", "", "no library PushService"),
            ]))
    func manifest(from: String, to: String, fault: String) async throws {
        let manifest = try await copy(from, to).manifest()
        #expect(manifest.faults().contains { $0.contains(fault) }, "\(manifest.faults())")
    }

    @Test("in what the manifest loads")
    func loading() async throws {
        let simulator = try await copy(
            "\"_PushBase\", \"SealedPush\", \"PushSender\"],\n        path: \"Tests/Support\"",
            "\"PushSimulator\"],\n        path: \"Tests/Support\"")
        await #expect(throws: Tool.Failed.self) { try await simulator.resolved() }
        let greedy = try await copy(
            "let logging = server(\"Logging\", \"swift-log\")",
            "let logging = Target.Dependency.product(name: \"Logging\", package: \"swift-log\")")
        #expect(try await greedy.resolvedByApp(taking: ["PushService"]).contains("swift-log"))
    }

    private func copy(_ from: String, _ to: String) async throws -> PackageCopy {
        let copy = try await PackageCopy(.apple) { $0.replacingOccurrences(of: from, with: to) }
        let text = try Checkout.text(Checkout.folder.appending(path: "Package.swift"))
        try #require(text.contains(from), "the manifest has changed: where can the fault be put in?")
        return copy
    }
}
