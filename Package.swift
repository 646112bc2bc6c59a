// swift-tools-version: 6.2
import PackageDescription

// An app uses the modules that open pushes, and resolves only libsodium. A server enables the `Server` trait for the outbox,
// the connection to Apple, and the command. The simulator is for Linux. See Docs/Decisions/0029.

#if os(Linux)
// libsodium is Debian's package. UserNotifications stands in for Apple's framework; the simulator builds on it.
let onLinux = true
let libsodium: Target.Dependency = "Clibsodium"
let libsodiumPackages: [Package.Dependency] = []
/// Apps aren't built on Linux, so a checkout and a server build everything without a flag.
let defaultTraits: Set<String> = ["Server", "Postgres"]
#else
// libsodium is swift-sodium's xcframework, under the same module name. Releases before 0.11.0 lack
// ML-KEM.
let onLinux = false
let libsodium: Target.Dependency = .product(name: "Clibsodium", package: "swift-sodium")
let libsodiumPackages: [Package.Dependency] = [
    .package(url: "https://github.com/jedisct1/swift-sodium", from: "0.11.0")
]
let defaultTraits: Set<String> = []
#endif

// Warnings are errors only in our own builds: an unconditional flag would break packages that depend on this one.
let strict: [SwiftSetting] =
    Context.environment["SEALED_PUSH_STRICT"] == nil ? [] : [.unsafeFlags(["-warnings-as-errors"])]
let settings: [SwiftSetting] =
    strict
    + ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"].map { .enableUpcomingFeature($0) }
/// Optimizes the core in our own builds: the tests spend a third of their time in it.
let optimized = settings + (strict.isEmpty ? [] : [.unsafeFlags(["-O", "-assert-config", "Debug"])])

// MARK: - Shorthands

typealias Dependencies = [Target.Dependency]

/// A library module in `Sources/PATH`, named after its folder.
func module(
    _ path: String, _ dependencies: Dependencies = [], privacy: Bool = false, embedding files: [String] = [],
    settings: [SwiftSetting] = settings
) -> Target {
    // App Store uploads need this file from each module that queries a file's times or size (stat(2) and similar calls).
    let manifest = "PrivacyInfo.xcprivacy"
    return .target(
        name: path.lastPart, dependencies: dependencies, path: "Sources/\(path)",
        exclude: privacy && onLinux ? [manifest] : [],
        resources: (privacy && !onLinux ? [.process(manifest)] : []) + files.map { .embedInCode($0) },
        swiftSettings: settings)
}

/// A program in `Sources/PATH`, named after its folder.
func program(_ path: String, _ dependencies: Dependencies) -> Target {
    .executableTarget(
        name: path.lastPart, dependencies: dependencies, path: "Sources/\(path)", swiftSettings: settings)
}

/// A C library's module map, from its pkg-config name and its Debian and Homebrew packages. Outside Linux, pkg-config is
/// queried only if the environment asks for it: Xcode warns about each missing library, even in apps that never link it.
func library(_ name: String, _ pkgConfig: String, apt: String, brew: String? = nil) -> Target {
    .systemLibrary(
        name: name, path: "Sources/CLibraries/\(name)",
        pkgConfig: onLinux || Context.environment["SEALED_PUSH_PKG_CONFIG"] != nil ? pkgConfig : nil,
        providers: [.apt([apt])] + (brew.map { [.brew([$0])] } ?? []))
}

/// An example in `Examples/FOLDER`. It is built without our settings, as a reader would build it.
func example(
    _ name: String, _ folder: String, _ dependencies: Dependencies, exclude: [String] = [], sources: [String]? = nil
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Examples/\(folder)", exclude: exclude, sources: sources,
        swiftSettings: strict)
}

/// A notification service extension as an app ships it, run by the simulator.
func extensionExample(_ name: String, _ folder: String, _ more: Target.Dependency...) -> Target {
    example(
        name, folder, ["PushService", "SealedPush", "PushSimulator"] + more,
        exclude: folder == "Messages" ? [] : ["README.md"])
}

/// What needs neither UIKit nor SwiftUI in a small app that got sealed pushes, in `Tests/Support/Apps/FOLDER`.
func existingApp(_ name: String, _ folder: String, without files: String...) -> Target {
    .target(
        name: name, dependencies: ["PushApp", "PushService"], path: "Tests/Support/Apps/\(folder)/After",
        exclude: files, swiftSettings: strict)
}

/// A module shared by tests, in `Tests/FOLDER`.
func shared(_ name: String, _ folder: String, _ dependencies: Dependencies) -> Target {
    .target(name: name, dependencies: dependencies, path: "Tests/\(folder)", swiftSettings: settings)
}

/// A program that tests run, in `Tests/FOLDER`.
func tool(_ name: String, _ folder: String, _ dependencies: Dependencies, settings: [SwiftSetting] = settings) -> Target
{
    .executableTarget(name: name, dependencies: dependencies, path: "Tests/\(folder)", swiftSettings: settings)
}

/// The tests of a module, in `Tests/NAME`.
func tests(_ name: String, _ dependencies: Dependencies, exclude: [String] = [], resources: [Resource] = []) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, exclude: exclude, resources: resources, swiftSettings: settings)
}

extension String {
    var lastPart: String { String(split(separator: "/").last ?? "") }
}

// MARK: - Third-party products, resolved only with the trait

func server(_ product: String, _ package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: ["Server"]))
}

func postgres(_ target: String) -> Target.Dependency { .target(name: target, condition: .when(traits: ["Postgres"])) }

let argumentParser = server("ArgumentParser", "swift-argument-parser")
/// Reads the provider's key for JWTKit, which depends on it; also the tests' independent HPKE implementation.
let crypto = server("Crypto", "swift-crypto")
/// ML-KEM for the core, since Debian's libsodium lacks it.
let mlkem: Dependencies = onLinux ? [crypto] : []
let database = server("GRDB", "GRDB.swift")
let logging = server("Logging", "swift-log")
let metrics = server("Metrics", "swift-metrics")
let coreMetrics = server("CoreMetrics", "swift-metrics")
let lifecycle = server("ServiceLifecycle", "swift-service-lifecycle")
let web = [server("Hummingbird", "hummingbird"), server("HTTPTypes", "swift-http-types")]
let hummingbird =
    web + [server("NIOHTTPTypes", "swift-nio-extras"), server("NIOHTTP1", "swift-nio")]
    + ["HummingbirdCore", "HummingbirdTLS"].map { server($0, "hummingbird") }
let nioCore = [server("NIOCore", "swift-nio"), server("NIOPosix", "swift-nio")]
let tls = [server("NIOTLS", "swift-nio"), server("NIOSSL", "swift-nio-ssl")]
let http2 = server("NIOHTTP2", "swift-nio-http2")
let transport =
    nioCore + tls
    + [("NIOExtras", "swift-nio-extras"), ("NIOHTTP1", "swift-nio"), ("NIOHPACK", "swift-nio-http2")].map(server)
    + [server("JWTKit", "jwt-kit"), crypto, logging, metrics, lifecycle]
let certificates = [server("X509", "swift-certificates"), server("SwiftASN1", "swift-asn1")]
let localAPNs = transport + certificates + web + [http2]

// MARK: - Core, device, and sender: libsodium only, and ML-KEM in a server on Linux

let core: Dependencies = ["SealedPush", "PushCore"]
let userNotifications: Dependencies = onLinux ? ["UserNotifications"] : []
let drawing: Dependencies = onLinux ? ["Ccairo"] : []

let everywhere: [Target] = [
    module("Core/PushCore", [libsodium] + mlkem, privacy: true, settings: optimized),
    module("Core/SealedPush", ["PushCore"], settings: optimized),
    module("Device/PushService", core + userNotifications, privacy: true),
    module("Device/PushApp", ["PushService"] + core + userNotifications),
    module("Device/PushServiceTesting", ["PushApp", "PushService", "PushSender"] + core + userNotifications),
    module("Device/PushCharts", ["PushService"] + core + drawing),
    module("Server/PushSender", core, privacy: true),
    module("Server/PushKeyring", ["PushSender"] + core, privacy: true),
    example("server-example", "Server", ["PushSender"]),
]

// MARK: - The server and the command, with the trait

let serverTargets: [Target] = [
    module("Server/PushOutbox", ["PushSender"] + core + [database]),
    // Empty without the trait, so that a server on SQLite doesn't need libpq.
    library("Clibpq", "libpq", apt: "libpq-dev", brew: "libpq"),
    module("Server/PushPostgres", ["PushOutbox", "PushSender"] + core + [postgres("Clibpq")]),
    module("Server/PushAPNs", ["PushSender"] + core + transport),
    module(
        "Server/PushHTTP",
        ["PushOutbox", "PushSender"] + core + hummingbird + nioCore + tls + [logging, lifecycle, coreMetrics]),
    module("Commands/CommandSupport", ["PushKeyring"] + core + [argumentParser]),
    library("Clibqrencode", "libqrencode", apt: "libqrencode-dev", brew: "qrencode"),
    // Not named after its product: a Mac's disk can't tell `sealedpush` from `SealedPush`.
    program(
        "Commands/SealedPushCommand",
        ["CommandSupport", "PushAPNs", "PushHTTP", "PushOutbox", "PushKeyring", "PushSender"] + core
            + ["Clibqrencode", argumentParser, logging, metrics, postgres("PushPostgres")]),
    example("sending-server-example", "SendingServer", ["PushAPNs", "PushOutbox", "PushSender", logging, lifecycle]),
    example(
        "transaction-example", "Transaction",
        ["PushOutbox", "PushSender", postgres("PushPostgres"), postgres("Clibpq")],
        exclude: ["README.md", "chat.py", "schema.sql"]),
]

// MARK: - The simulator, on Linux

let simulator: [Target] = [
    library("Clibsodium", "libsodium", apt: "libsodium-dev"),
    library("Ccurl", "libcurl", apt: "libcurl4-openssl-dev"),
    library("Ccairo", "cairo", apt: "libcairo2-dev"),
    library("Cpangocairo", "pangocairo", apt: "libpango1.0-dev"),
    module("Simulator/UserNotifications"),
    module("Simulator/PushSimulator", ["PushService", "UserNotifications", "Ccurl"] + core),
    module(
        "Simulator/SimulatedAPNs", ["PushSimulator", "PushService", "UserNotifications"] + core + localAPNs,
        embedding: ["APNs/page.html", "APNs/page.css"]),
    program(
        "Commands/device-simulator",
        ["CommandSupport", "SimulatedAPNs", "PushSimulator", "PushService", "PushKeyring", "Cpangocairo"] + core
            + [argumentParser]),
    extensionExample("messages-example", "Messages"),
    extensionExample("dynamic-chart-example", "DynamicChart", "PushCharts"),
    extensionExample("daily-quote-example", "DailyQuote"),
    extensionExample("rich-media-example", "RichMedia"),
    extensionExample("image-and-receipt-example", "ImageAndReceipt"),
    example(
        "app-example", "App", ["PushApp", "PushService", "SealedPush", "PushSimulator"],
        exclude: ["README.md", "Local.xcconfig", "SealedPushApp.xcodeproj", "Tests"]
            + ["AppDelegate.swift", "SealedPushApp.swift", "App.entitlements"].map { "App/\($0)" }
            + ["NotificationService/NotificationService.entitlements"]
            + ["App", "NotificationService"].flatMap { folder in
                ["Info.plist", "PrivacyInfo.xcprivacy", "de.lproj", "en.lproj"].map { "\(folder)/\($0)" }
            }),
]

// MARK: - A program for valgrind, used only by Scripts/special/constant-time: it needs valgrind's headers

let constantTime: [Target] =
    Context.environment["SEALED_PUSH_CONSTANT_TIME"] == nil
    ? []
    : [
        shared("CMemcheck", "Evidence/ConstantTime/Memcheck", []),
        tool("constant-time", "Evidence/ConstantTime/Program", ["CMemcheck", "PushKeyring", "PushSender"] + core),
    ]

// MARK: - Tests of the modules that run on every system

let testedEverywhere: [Target] = [
    shared("TestSupport", "Support/TestSupport", ["PushSender"] + core),
    shared("HostilePeers", "Support/HostilePeers", ["PushCore", logging] + tls + nioCore),
    tests("PushCoreTests", ["PushCore", "TestSupport", crypto], resources: [.copy("Vectors")]),
    tests("SealedPushTests", ["PushSender", "TestSupport", crypto] + core + (onLinux ? ["TestPrograms"] : [])),
    tests("PushSenderTests", ["PushSender", "TestSupport", libsodium] + core),
    tests("PushKeyringTests", ["PushKeyring", "PushSender", "TestSupport"] + core),
    tests(
        "PushServiceTests",
        ["PushService", "PushServiceTesting", "PushKeyring", "PushSender", "TestSupport"] + core + userNotifications
            + (onLinux ? ["PushSimulator"] : [])),
    tests(
        "PushChartsTests",
        ["PushCharts", "PushService", "PushSender", "TestSupport"] + core + userNotifications + drawing,
        exclude: ["Golden"]),
    tests(
        "PushAPNsTests",
        ["PushAPNs", "PushSender", "TestSupport", "HostilePeers", http2, server("MetricsTestKit", "swift-metrics")]
            + core + transport + certificates),
]

// MARK: - Simulated worlds, which replace the runtime's executors: Swift 6.3 can. No test depends on them, because that would
// link their clocks and random bytes into the tests

#if compiler(>=6.3)
let worlds: [Target] = [
    shared("Interposed", "Evidence/Worlds/Interposed", []),
    tool(
        "worlds", "Evidence/Worlds/Program",
        [
            "Interposed", "PushApp", "PushHTTP", "PushAPNs", "PushOutbox", "PushSender", "PushService",
            "PushServiceTesting", "UserNotifications", "TestPrograms", "TestSupport",
        ] + core),
]
#else
let worlds: [Target] = []
#endif

// MARK: - Tests of programs and of the modules for Linux

let tested: Dependencies = ["TestSupport", "TestPrograms"]

let testedOnLinux: [Target] = [
    shared(
        "TestPrograms", "Support/TestPrograms",
        ["TestSupport", "PushPostgres", "PushOutbox", "PushSimulator", "PushKeyring", "PushSender"] + core),
    shared(
        "EndToEnd", "Support/EndToEnd",
        ["PushOutbox", "PushSender", "PushSimulator", "PushService", "TestSupport", "TestPrograms"] + core),
    tool("outbox-worker", "Support/OutboxWorker", ["PushOutbox", "PushPostgres", "PushSender", "SealedPush"]),
    shared("HeldCalls", "Support/HeldCalls", []),
    tool("ledger-worker", "Support/LedgerWorker", ["HeldCalls", "PushService"] + core),
    tool(
        "xcode-template-extension", "Support/Extensions/XcodeTemplate", ["PushSimulator", "UserNotifications"],
        settings: strict),
    tool(
        "misbehaving-extension", "Support/Extensions/Misbehaving", ["PushSimulator", "UserNotifications"],
        settings: strict),
    tool(
        "soak", "Evidence/Soak",
        ["EndToEnd", "PushOutbox", "PushAPNs", "PushSender", "device-simulator", logging, metrics, coreMetrics] + core),
    tool(
        "hostile-benchmark", "Evidence/HostileBenchmark",
        ["HostilePeers", "PushAPNs", "PushSender", coreMetrics] + core + transport),
    tool(
        "cold-start", "Evidence/ColdStart",
        ["PushSimulator", "PushService", "PushSender", "UserNotifications"] + core),
    tool("hpke-benchmark", "Evidence/HPKE/Program", ["PushCore", "TestSupport", crypto]),
    tests(
        "PushOutboxTests",
        [
            "PushOutbox", "PushPostgres", "PushAPNs", "PushSender", "PushSimulator", "PushService", "PushKeyring",
            "outbox-worker", "transaction-example", database,
        ] + core + tested),
    tests(
        "PushHTTPTests",
        [
            "PushHTTP", "PushOutbox", "PushPostgres", "PushSender", "PushService", "PushServiceTesting",
            "PushSimulator",
            "PushApp", "UserNotifications", logging,
        ] + core + tested + nioCore),
    existingApp("ChatWithSwiftUI", "SwiftUI", without: "ChatApp.swift"),
    existingApp("ChatWithUIKit", "UIKit", without: "AppDelegate.swift", "ChatViewController.swift"),
    tests(
        "PushAppTests",
        [
            "PushApp", "PushService", "PushServiceTesting", "PushSender", "TestSupport", "UserNotifications",
            "ChatWithSwiftUI", "ChatWithUIKit",
        ] + core),
    tests(
        "PushSimulatorTests",
        [
            "PushSimulator", "PushKeyring", "PushSender", "PushService", "SealedPushCommand", "UserNotifications",
            "device-simulator", "ledger-worker", "Cpangocairo", "misbehaving-extension", "xcode-template-extension",
            "messages-example",
            "dynamic-chart-example", "daily-quote-example", "image-and-receipt-example", "rich-media-example",
            "app-example",
        ] + core + tested),
    tests(
        "SimulatedAPNsTests",
        ["SimulatedAPNs", "PushSimulator", "PushService", "PushSender", "device-simulator"] + core + tested + localAPNs),
    tests(
        "EndToEndTests",
        [
            "EndToEnd", "PushAPNs", "SimulatedAPNs", "PushSimulator", "PushService", "PushSender", "soak",
            "device-simulator",
        ] + core + tested + localAPNs),
    tests(
        "CommandLineTests",
        [
            "CommandSupport", "SimulatedAPNs", "PushSimulator", "PushService", "PushKeyring", "PushSender",
            "PushOutbox", "SealedPushCommand", "device-simulator", argumentParser,
        ] + core + tested),
    // The example app's own tests, as Xcode runs them.
    .testTarget(
        name: "AppTests",
        dependencies: ["PushServiceTesting", "PushService", "UserNotifications", "app-example"] + core,
        path: "Examples/App/Tests", swiftSettings: strict),
    tests(
        "ProjectTests",
        ["PushCore", "SealedPushCommand", "device-simulator", "dynamic-chart-example"] + tested),
]

// MARK: - The package

func product(_ name: String) -> Product { .library(name: name, targets: [name]) }

let package = Package(
    name: "sealed-push",
    platforms: [.iOS(.v17), .macCatalyst(.v17), .macOS(.v15), .visionOS(.v1)],
    products: [
        product("SealedPush"), product("PushSender"), product("PushKeyring"), product("PushService"),
        product("PushApp"), product("PushServiceTesting"), product("PushCharts"), product("PushOutbox"),
        product("PushPostgres"), product("PushAPNs"),
        .executable(name: "sealedpush", targets: ["SealedPushCommand"]),
    ]
        + (onLinux
            ? [
                product("PushSimulator"), product("UserNotifications"),
                .executable(name: "device-simulator", targets: ["device-simulator"]),
            ] : []),
    traits: [
        .trait(
            name: "Server",
            description: "The outbox, the connection to Apple, and the command line, with the packages they need."),
        .trait(
            name: "Postgres", description: "The outbox in PostgreSQL, for multiple hosts; requires libpq.",
            enabledTraits: ["Server"]),
        .default(enabledTraits: defaultTraits),
    ],
    dependencies: libsodiumPackages + [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        // Without its configuration readers, and without all of Foundation.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
    ],
    targets: everywhere + serverTargets + testedEverywhere
        + (onLinux ? simulator + worlds + testedOnLinux + constantTime : [])
)
