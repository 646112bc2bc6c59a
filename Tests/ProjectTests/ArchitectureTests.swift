import Foundation
import PushCore
import TestSupport
import Testing

@Suite("The architecture") struct ArchitectureTests {
    /// The modules that each of our modules may import, besides PushCore and SealedPush.
    private static let allowed: [String: Set<String>] = [
        "Core/PushCore": ["Clibsodium", "Crypto", "Darwin", "Glibc"], "Core/SealedPush": [],
        "Device/PushService": ["UserNotifications", "Intents", "Security", "Dispatch", "FoundationNetworking"],
        // The only one that imports both device and server modules, for an app's tests.
        "Device/PushServiceTesting": ["PushService", "PushSender", "UserNotifications", "Dispatch"],
        "Device/PushCharts": ["PushService", "Ccairo", "CoreGraphics", "CoreText", "ImageIO"], "Server/PushSender": [],
        "Server/PushKeyring": ["PushSender"], "Server/PushOutbox": ["PushSender", "GRDB"],
        "Server/PushPostgres": ["PushSender", "PushOutbox", "Clibpq", "Dispatch"],
        "Server/PushAPNS": [
            "PushSender", "NIOCore", "NIOPosix", "NIOTLS", "NIOSSL", "NIOHTTP1", "NIOHTTP2", "NIOHPACK", "NIOExtras",
            "JWTKit",
            "Crypto", "Logging", "Metrics", "ServiceLifecycle",
        ],
        "Server/PushHTTP": [
            "PushSender", "PushOutbox", "Hummingbird", "HummingbirdCore", "HummingbirdTLS", "HTTPTypes", "NIOCore",
            "NIOPosix", "NIOTLS", "NIOHTTP1", "NIOHTTPTypes", "NIOSSL", "Logging", "CoreMetrics", "ServiceLifecycle",
        ], "Simulator/UserNotifications": [],
        "Simulator/PushSimulator": ["PushService", "UserNotifications", "Dispatch", "Ccurl"],
        "Simulator/SimulatedAPNs": [
            "PushService", "PushSimulator", "UserNotifications", "Dispatch", "NIOCore", "NIOPosix", "NIOTLS", "NIOSSL",
            "NIOHTTP2", "NIOHPACK", "Hummingbird", "HTTPTypes", "Logging", "X509", "SwiftASN1", "Crypto",
        ], "Commands/CommandSupport": ["PushKeyring", "ArgumentParser", "Dispatch"],
        "Commands/SealedPushCommand": [
            "CommandSupport", "PushSender", "PushKeyring", "PushOutbox", "PushPostgres", "PushAPNS", "PushHTTP",
            "ArgumentParser", "Clibqrencode", "Logging", "Metrics", "Dispatch",
        ],
        "Commands/device-simulator": [
            "CommandSupport", "PushKeyring", "PushService", "PushSimulator", "SimulatedAPNs", "Cpangocairo",
            "ArgumentParser", "Dispatch",
        ],
    ]
    private static let core: [String: Set<String>] = ["Core/PushCore": [], "Core/SealedPush": ["PushCore"]]
    private static let system: Set<String> = ["Foundation", "FoundationEssentials", "os"]

    private static func imports(of file: URL) throws -> [String] {
        try Checkout.text(file).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard let index = words.firstIndex(of: "import"), index <= 1, words.count == index + 2 else { return nil }
            guard index == 0 || ["public", "package", "internal", "@testable"].contains(words[0]) else { return nil }
            return String(words[index + 1])
        }
    }

    @Test("Every file imports only the modules that its target may") func arrows() throws {
        var fileCount = 0
        for (target, allowed) in Self.allowed {
            for file in try Checkout.files(in: "Sources/\(target)", ending: ".swift") {
                fileCount += 1
                let core = Self.core[target] ?? ["PushCore", "SealedPush"]
                for module in try Self.imports(of: file) {
                    let isAllowed = allowed.contains(module) || core.contains(module) || Self.system.contains(module)
                    #expect(isAllowed, "\(target)/\(file.lastPathComponent) imports \(module)")
                }
            }
        }
        let all = try Checkout.files(in: "Sources", ending: ".swift")
        #expect(fileCount == all.count, "a target is missing from this test's list")
        #expect(fileCount > 100)
    }

    @Test("Only PushCore imports libsodium, and no file that does imports Foundation") func core() throws {
        for file in try Checkout.files(in: "Sources", ending: ".swift") {
            let imports = try Self.imports(of: file)
            guard imports.contains("Clibsodium") else { continue }
            #expect(file.path.contains("/Sources/Core/PushCore/"), "\(file.lastPathComponent)")
            #expect(!imports.contains { $0.hasPrefix("Foundation") }, "\(file.lastPathComponent)")
        }
    }

    @Test("Outside PushCore, only the files that define suites and keys name algorithms")
    func suites() throws {
        let definitions: Set<String> = ["Suite.swift", "KeyAlgorithm.swift"]
        let word = /X25519[A-Z.(]|\.x25519|SealedBox/
        var defining: Set<String> = []
        for file in try Checkout.files(in: "Sources", ending: ".swift") where !file.path.contains("/PushCore/") {
            if try Checkout.text(file).contains(word) { defining.insert(file.lastPathComponent) }
        }
        #expect(defining == definitions)
    }

    @Test("Modules that an app links don't use libcurl, and can't bypass the rules for downloads")
    func fetching() throws {
        for target in ["Device/PushService", "Device/PushCharts"] {
            for file in try Checkout.files(in: "Sources/\(target)", ending: ".swift") {
                let text = try Checkout.text(file)
                #expect(!text.contains("allowsLoopback") && !text.contains("Ccurl"), "\(file.lastPathComponent)")
                // The default is the only implementation, except in a debug build for Apple's Simulator.
                let shipped = text.replacing(
                    /#if DEBUG && targetEnvironment\(simulator\)\n(?:.*\n)*?    #endif\n/, with: "")
                for line in shipped.split(separator: "\n") where line.contains("func exempts(") && line.contains("{") {
                    #expect(line.hasSuffix("{ false }"), "\(file.lastPathComponent)")
                }
            }
        }
        let manifest = try Checkout.text(Checkout.folder.appending(path: "Package.swift"))
        let declared = try #require(manifest.firstMatch(of: /module\("Device\/PushService"[^)]*/))
        #expect(!declared.0.lowercased().contains("curl"))
    }

    @Test(
        "Only the transport that talks to Apple knows Apple's reasons for rejecting a push"
    ) func reasons() throws {
        let transport = try Checkout.text(Checkout.folder.appending(path: "Sources/Server/PushAPNS/APNSAnswer.swift"))
        let reasons = Set(transport.matches(of: /"([A-Z][a-z]+[A-Z][A-Za-z]+)"/).map { String($0.1) })
        #expect(reasons.count > 30 && reasons.contains("BadDeviceToken"))
        for target in ["PushSender", "PushOutbox", "PushHTTP"] {
            for file in try Checkout.files(in: "Sources/Server/\(target)", ending: ".swift") {
                let text = try Checkout.text(file)
                for reason in reasons { #expect(!text.contains(reason), "\(file.lastPathComponent): \(reason)") }
            }
        }
    }

    @Test("Only the programs name commands or options; libraries don't") func words() throws {
        // `sealedpush keys …`, a subcommand alone, and an option.
        let typed = /sealedpush |`(keys|trust|device|outbox|receipts) |(^|[ "`(])--[a-z]/
        var literalCount = 0
        for target in Self.allowed.keys where !target.hasPrefix("Commands/") {
            for file in try Checkout.files(in: "Sources/\(target)", ending: ".swift") {
                for line in try Checkout.text(file).split(separator: "\n") {
                    let code = line.drop { $0 == " " }
                    // A library may use #error, which is for those who build without the trait.
                    guard !code.hasPrefix("//"), !code.hasPrefix("#error") else { continue }
                    for literal in code.matches(of: /"([^"\\]|\\.)*"/) {
                        literalCount += 1
                        #expect(literal.0.firstMatch(of: typed) == nil, "\(file.lastPathComponent): \(literal.0)")
                    }
                }
            }
        }
        #expect(literalCount > 1_000)
    }

    @Test("Each module that an app links has a privacy manifest if it reads file timestamps")
    func privacyManifests() throws {
        let manifest = try Checkout.text(Checkout.folder.appending(path: "Package.swift"))
        var declaring: [String] = []
        let linked = ["Core/PushCore", "Core/SealedPush", "Server/PushSender", "Server/PushKeyring"]
        for target in linked + ["Device/PushService", "Device/PushCharts"] {
            let asks = try Checkout.files(in: "Sources/\(target)", ending: ".swift").contains { file in
                try Checkout.text(file).contains(/\b[lf]?stat(at)?\(|\.(modification|creation|contentModification)Date/)
            }
            let file = Checkout.folder.appending(path: "Sources/\(target)/PrivacyInfo.xcprivacy")
            let declared = try Regex("module\\(\"\(target)\"[^)]*privacy: true")
            guard asks else {
                #expect(!FileManager.default.fileExists(atPath: file.path), "\(target)")
                #expect(manifest.firstMatch(of: declared) == nil, "\(target)")
                continue
            }
            declaring.append(target)
            let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
            let kinds = try #require((list as? [String: Any])?["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
            #expect(
                kinds.map { $0["NSPrivacyAccessedAPIType"] as? String } == ["NSPrivacyAccessedAPICategoryFileTimestamp"]
            )
            #expect(kinds.map { $0["NSPrivacyAccessedAPITypeReasons"] as? [String] } == [["C617.1"]])
            #expect(manifest.firstMatch(of: declared) != nil, "\(target)")
        }
        #expect(declaring == ["Core/PushCore", "Server/PushSender", "Server/PushKeyring", "Device/PushService"])
        // Other required-reason APIs, none of which is used.
        let others = /UserDefaults|systemUptime|mach_absolute_time|statv?fs\(|activeInputModes|volumeAvailableCapacity/
        for target in declaring + ["Core/SealedPush", "Device/PushCharts"] {
            for file in try Checkout.files(in: "Sources/\(target)", ending: ".swift") {
                #expect(try !Checkout.text(file).contains(others), "\(file.lastPathComponent)")
            }
        }
    }

    @Test("Only DurableFiles syncs files, because Apple's systems need more than fsync(2)") func syncing() throws {
        var callers: [String] = []
        for file in try Checkout.files(in: "Sources", ending: ".swift") {
            if try Checkout.text(file).contains(/\bf(data)?sync\(|F_(FULL|BARRIER)FSYNC/) {
                callers.append(file.lastPathComponent)
            }
        }
        #expect(callers == ["DurableFiles.swift"])
    }

    @Test("Shared test code needs no testable imports, so that it also builds for release")
    func testedFromOutside() throws {
        let folders =
            ["Programs", "Support", "EndToEnd", "Soak", "OutboxWorker"]
            + ["HostileBenchmark", "HostilePeers", "Extensions"]
        let files = try folders.flatMap { try Checkout.files(in: "Tests/\($0)", ending: ".swift") }
        #expect(files.count > 30)
        for file in files {
            #expect(try !Checkout.text(file).contains("@test" + "able"), "\(file.lastPathComponent)")
        }
    }

    @Test("No source file has more than 600 lines") func sizes() throws {
        for file in try Checkout.files(in: "Sources", ending: ".swift") {
            let count = try Checkout.text(file).split(separator: "\n", omittingEmptySubsequences: false).count
            #expect(count <= 600, "\(file.lastPathComponent) has \(count) lines")
        }
    }

    @Test("Each trap in Sources has a message, and no to-do is left") func leftovers() throws {
        let words = ["TO" + "DO", "FIX" + "ME", "XX" + "X:", "try" + "!", "as" + "! ", "fatal" + "Error("]
        for file in try Checkout.files(in: "Sources", ending: ".swift") {
            let text = try Checkout.text(file)
            for word in words { #expect(!text.contains(word), "\(file.lastPathComponent): \(word)") }
        }
    }
}

@Suite("Docs/Architecture.md") struct ArchitecturePageTests {
    private let page: String

    init() throws { page = try Checkout.text(Checkout.folder.appending(path: "Docs/Architecture.md")) }

    @Test("The page's table of a message's path names functions that exist") func way() throws {
        var count = 0
        for match in page.matches(of: #/\| `([A-Za-z]+/[^`]+\.swift)` \| `([^`]+)` \|/#) {
            let file = try Checkout.text(#require(Self.file(String(match.1))))
            #expect(file.contains(match.2), "\(match.1) doesn't contain \(match.2)")
            count += 1
        }
        #expect(count > 20)
    }

    @Test("The page names every module, and only files that exist") func files() throws {
        for match in page.matches(of: #/`([A-Za-z_]+/[A-Za-z+/.]+\.(?:swift|py))`/#) {
            #expect(Self.file(String(match.1)) != nil, "\(match.1)")
        }
        for group in Self.groups {
            let folder = Checkout.folder.appending(path: "Sources/\(group)")
            for module in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                #expect(page.contains(module), "\(module)")
            }
        }
    }

    private static let groups = ["Core", "Device", "Server", "Simulator", "Commands"]

    /// Returns the file for a path on the page, which starts with a module or at the checkout's root.
    private static func file(_ path: String) -> URL? {
        (groups.map { "Sources/\($0)/\(path)" } + [path]).map { Checkout.folder.appending(path: $0) }
            .first { FileManager.default.fileExists(atPath: $0.path) }
    }

    @Test("Each decision has a date and a status, and the list has its title") func decisions() throws {
        let folder = Checkout.folder.appending(path: "Docs/Decisions")
        let list = try Checkout.text(folder.appending(path: "README.md"))
        let pages = try Checkout.files(in: "Docs/Decisions", ending: ".md").filter {
            $0.lastPathComponent != "README.md"
        }
        #expect(pages.count > 30)
        for file in pages {
            let lines = try Checkout.text(file).split(separator: "\n", omittingEmptySubsequences: false)
            let number = file.lastPathComponent.prefix(4)
            #expect(lines[0].hasPrefix("# \(number) "), "\(file.lastPathComponent)")
            #expect(
                lines[1].contains(/^Date: 20\d\d-\d\d-\d\d\. Status: (in force|superseded by \[\d{4}\])/), "\(number)")
            let row = "| [\(number)](\(file.lastPathComponent)) | \(lines[0].dropFirst(7)) |"
            #expect(list.contains(row), "\(row)")
        }
    }
}
