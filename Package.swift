// swift-tools-version: 6.2
import PackageDescription

// Three audiences share this manifest. An app takes what opens pushes, and resolves libsodium alone. A server names the
// trait `Server`, and gets the outbox, the connection to Apple and the command. The simulator is for Linux.
// Docs/Decisions/0029-one-package-and-a-trait.md

#if os(Linux)
    // libsodium is Debian's package, and Apple's UserNotifications a stand-in, with the simulator on top of it.
    let onLinux = true
    let libsodium: Target.Dependency = "Clibsodium"
    let libsodiumPackages: [Package.Dependency] = []
    /// On Linux nobody builds an app: a checkout and a server build whole, without a flag.
    let defaultTraits: Set<String> = ["Server", "Postgres"]
#else
    // libsodium is swift-sodium's xcframework, under the same module name. Releases before 0.10.0 are a minimal build that
    // lacks two functions of ours.
    let onLinux = false
    let libsodium: Target.Dependency = .product(name: "Clibsodium", package: "swift-sodium")
    let libsodiumPackages: [Package.Dependency] = [
        .package(url: "https://github.com/jedisct1/swift-sodium", from: "0.10.0")
    ]
    let defaultTraits: Set<String> = []
#endif

// Warnings are errors in our own builds only: a flag that is always on would break those who depend on us.
let strict: [SwiftSetting] =
    Context.environment["SEALED_PUSH_STRICT"] == nil ? [] : [.unsafeFlags(["-warnings-as-errors"])]
let settings: [SwiftSetting] =
    strict + [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]

/// For what all else stands on, in our own builds: a third of the time of the tests goes by there.
let optimized: [SwiftSetting] = settings + (strict.isEmpty ? [] : [.unsafeFlags(["-O", "-assert-config", "Debug"])])

/// A product of somebody else's: resolved only where the trait is on.
func server(_ product: String, _ package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: ["Server"]))
}

let argumentParser = server("ArgumentParser", "swift-argument-parser")
/// Reads the provider's key for JWTKit, which brings it; and the tests' second opinion on HPKE.
let crypto = server("Crypto", "swift-crypto")
let database = server("GRDB", "GRDB.swift")
let logging = server("Logging", "swift-log")
let metrics = server("Metrics", "swift-metrics")
let lifecycle = server("ServiceLifecycle", "swift-service-lifecycle")
/// The service's HTTP/1.1, and the words in which it speaks of requests.
let hummingbird = [
    server("Hummingbird", "hummingbird"), server("HummingbirdCore", "hummingbird"),
    server("HummingbirdTLS", "hummingbird"),
    server("HTTPTypes", "swift-http-types"), server("NIOHTTPTypes", "swift-nio-extras"),
]
let nioCore = [server("NIOCore", "swift-nio"), server("NIOPosix", "swift-nio")]
let http1 = server("NIOHTTP1", "swift-nio")
/// For servers; the transport has framing of its own.
let http2 = server("NIOHTTP2", "swift-nio-http2")
let transport =
    nioCore + [
        server("NIOTLS", "swift-nio"), server("NIOSSL", "swift-nio-ssl"), server("NIOHPACK", "swift-nio-http2"),
        server("JWTKit", "jwt-kit"), crypto, logging, metrics, lifecycle,
    ]
let certificates = [server("X509", "swift-certificates"), server("SwiftASN1", "swift-asn1")]
let localAPNs = transport + certificates + [http1, http2]

let userNotifications: [Target.Dependency] = onLinux ? ["UserNotifications"] : []
/// For tests of what the device's end does on a phone, where there is a simulated one.
let simulatedPhone: [Target.Dependency] = onLinux ? ["PushSimulator"] : []
let drawing: [Target.Dependency] = onLinux ? ["Ccairo"] : []
/// What runs the built programs, for tests that do so on Linux.
let programs: [Target.Dependency] = onLinux ? ["TestPrograms", "TestThreads"] : []
/// What an app's upload wants of each module that asks for a file's times or size (stat(2) and its kin).
let privacy: [Resource] = onLinux ? [] : [.process("PrivacyInfo.xcprivacy")]
let noPrivacy = onLinux ? ["PrivacyInfo.xcprivacy"] : []

// MARK: - The device's end and the sender module: libsodium, and nothing else of anybody's

let core: [Target] = [
    .target(name: "_PushBase", exclude: noPrivacy, resources: privacy, swiftSettings: optimized),
    .target(name: "PushCrypto", dependencies: [libsodium, "_PushBase"], swiftSettings: optimized),
    .target(
        name: "SealedPush", dependencies: ["PushCrypto", "_PushBase"], swiftSettings: optimized),
    .target(
        name: "PushSender", dependencies: ["SealedPush", "PushCrypto", "_PushBase"], exclude: noPrivacy,
        resources: privacy,
        swiftSettings: settings),
    .target(
        name: "PushKeyring", dependencies: ["PushSender", "SealedPush", "PushCrypto", "_PushBase"], exclude: noPrivacy,
        resources: privacy,
        swiftSettings: settings),
    .target(
        name: "PushService", dependencies: ["SealedPush", "PushCrypto", "_PushBase"] + userNotifications,
        exclude: noPrivacy, resources: privacy, swiftSettings: settings),
    .target(
        name: "PushCharts", dependencies: ["PushService", "SealedPush", "_PushBase"] + drawing, swiftSettings: settings),
    .executableTarget(
        name: "server-example", dependencies: ["PushSender"], path: "Examples/Server", swiftSettings: strict),
]

// MARK: - The server's, behind the trait

let serverTargets: [Target] = [
    .target(name: "ServerTrait"),
    .target(
        name: "PushOutbox",
        dependencies: ["ServerTrait", "PushSender", "SealedPush", "PushCrypto", "_PushBase", database],
        swiftSettings: settings),
    // Empty without the trait, so that whoever stays with SQLite needs no libpq.
    .systemLibrary(name: "Clibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    .target(
        name: "PushPostgres",
        dependencies: [
            "ServerTrait", "PushOutbox", "PushSender", "SealedPush", "_PushBase",
            .target(name: "Clibpq", condition: .when(traits: ["Postgres"])),
        ],
        swiftSettings: settings),
    .target(
        name: "PushAPNS",
        dependencies: ["ServerTrait", "PushSender", "SealedPush", "PushCrypto", "_PushBase"] + transport,
        swiftSettings: settings),
    .target(
        name: "PushPage",
        dependencies: ["ServerTrait", "SealedPush", "PushCrypto", "_PushBase", http1] + nioCore, swiftSettings: settings
    ),
    .target(
        name: "PushHTTP",
        dependencies: [
            "ServerTrait", "PushOutbox", "PushSender", "SealedPush", "PushCrypto", "_PushBase", logging, lifecycle,
            server("CoreMetrics", "swift-metrics"), server("NIOSSL", "swift-nio-ssl"), http1,
        ] + hummingbird + nioCore,
        swiftSettings: settings),
    .target(
        name: "CommandSupport",
        dependencies: ["ServerTrait", "PushKeyring", "SealedPush", "PushCrypto", "_PushBase", argumentParser],
        swiftSettings: settings),
    .systemLibrary(
        name: "Clibqrencode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"]), .brew(["qrencode"])]),
    // Not named after its product: a Mac's disk can't tell `sealedpush` from `SealedPush`.
    .executableTarget(
        name: "SealedPushCommand",
        dependencies: [
            "CommandSupport", "PushAPNS", "PushHTTP", "PushOutbox", "PushKeyring",
            "PushSender", "SealedPush", "PushCrypto", "_PushBase", "Clibqrencode", argumentParser, logging, metrics,
            .target(name: "PushPostgres", condition: .when(traits: ["Postgres"])),
        ],
        swiftSettings: settings),
    .executableTarget(
        name: "sending-server-example", dependencies: ["PushAPNS", "PushOutbox", "PushSender", logging, lifecycle],
        path: "Examples/SendingServer", swiftSettings: strict),
    .executableTarget(
        name: "transaction-example",
        dependencies: [
            "PushOutbox", "PushSender",
            .target(name: "PushPostgres", condition: .when(traits: ["Postgres"])),
            .target(name: "Clibpq", condition: .when(traits: ["Postgres"])),
        ],
        path: "Examples/Transaction", exclude: ["README.md", "chat.py", "schema.sql"], swiftSettings: strict),
]

// MARK: - The simulator, on Linux

func pkgConfig(_ name: String, _ library: String, _ package: String) -> Target {
    .systemLibrary(name: name, pkgConfig: library, providers: [.apt([package])])
}

/// An extension as an app ships it, run by the simulator.
func extensionExample(_ name: String, _ folder: String, _ more: Target.Dependency...) -> Target {
    .executableTarget(
        name: name, dependencies: ["PushService", "SealedPush", "PushSimulator"] + more, path: "Examples/\(folder)",
        exclude: folder == "Messages" ? [] : ["README.md"], swiftSettings: strict)
}

let simulator: [Target] = [
    pkgConfig("Clibsodium", "libsodium", "libsodium-dev"),
    pkgConfig("Ccurl", "libcurl", "libcurl4-openssl-dev"),
    pkgConfig("Ccairo", "cairo", "libcairo2-dev"),
    pkgConfig("Cpangocairo", "pangocairo", "libpango1.0-dev"),
    .target(name: "UserNotifications", swiftSettings: settings),
    .target(
        name: "PushSimulator",
        dependencies: ["PushService", "SealedPush", "PushCrypto", "_PushBase", "UserNotifications", "Ccurl"],
        swiftSettings: settings),
    .target(
        name: "SimulatedAPNs",
        dependencies: [
            "ServerTrait", "PushSimulator", "PushService", "SealedPush", "PushCrypto", "_PushBase", "UserNotifications",
        ] + localAPNs,
        swiftSettings: settings),
    .executableTarget(
        name: "device-simulator",
        dependencies: [
            "CommandSupport", "SimulatedAPNs", "PushPage", "PushSimulator", "PushService", "PushKeyring", "SealedPush",
            "PushCrypto", "_PushBase", "Cpangocairo", argumentParser,
        ],
        swiftSettings: settings),
    extensionExample("messages-example", "Messages"),
    extensionExample("dynamic-chart-example", "DynamicChart", "PushCharts"),
    extensionExample("daily-quote-example", "DailyQuote"),
    extensionExample("rich-media-example", "RichMedia"),
    extensionExample("image-and-receipt-example", "ImageAndReceipt"),
    .executableTarget(
        name: "app-example", dependencies: ["PushService", "SealedPush", "PushSimulator"], path: "Examples/App",
        exclude: [
            "App", "README.md", "SealedPushApp.xcodeproj", "NotificationService/Info.plist",
            "NotificationService/NotificationService.entitlements", "NotificationService/de.lproj",
        ],
        sources: ["NotificationService", "Shared"], swiftSettings: strict),
]

// MARK: - What valgrind watches, for Scripts/constant-time alone: it wants valgrind's headers

let constantTime: [Target] =
    Context.environment["SEALED_PUSH_CONSTANT_TIME"] == nil
    ? []
    : [
        .target(name: "CMemcheck", path: "Tests/ConstantTime/Memcheck"),
        .executableTarget(
            name: "constant-time",
            dependencies: ["CMemcheck", "PushKeyring", "PushSender", "SealedPush", "PushCrypto"],
            path: "Tests/ConstantTime/Program", swiftSettings: settings),
    ]

// MARK: - Tests of what runs on every system

let testedEverywhere: [Target] = [
    .target(
        name: "TestSupport", dependencies: ["PushCrypto", "_PushBase", "SealedPush", "PushSender"],
        path: "Tests/Support",
        swiftSettings: settings),
    .target(
        name: "TestThreads", dependencies: ["PushCrypto", "_PushBase"], path: "Tests/Threads", swiftSettings: settings),
    .testTarget(
        name: "PushCoreTests", dependencies: ["PushCrypto", "_PushBase", "TestSupport", crypto],
        resources: [.copy("Vectors")],
        swiftSettings: settings),
    .testTarget(
        name: "SealedPushTests",
        dependencies: ["PushSender", "SealedPush", "PushCrypto", "_PushBase", "TestSupport", crypto] + programs,
        swiftSettings: settings),
    .testTarget(
        name: "VectorTests", dependencies: ["PushSender", "PushCrypto", "_PushBase", "TestSupport"] + programs,
        swiftSettings: settings),
    .testTarget(
        name: "PushSenderTests", dependencies: ["PushSender", "SealedPush", "PushCrypto", "_PushBase", "TestSupport"],
        swiftSettings: settings),
    .testTarget(
        name: "PushKeyringTests",
        dependencies: ["PushKeyring", "PushSender", "SealedPush", "PushCrypto", "_PushBase", "TestSupport"],
        swiftSettings: settings),
    .testTarget(
        name: "PushServiceTests",
        dependencies: [
            "PushService", "PushSender", "SealedPush", "PushCrypto", "_PushBase", "TestSupport", "TestThreads",
        ]
            + userNotifications + simulatedPhone,
        swiftSettings: settings),
    .testTarget(
        name: "PushChartsTests",
        dependencies: [
            "PushCharts", "PushService", "PushSender", "SealedPush", "PushCrypto", "_PushBase", "TestSupport",
        ]
            + userNotifications + drawing,
        exclude: ["Golden"], swiftSettings: settings),
    .target(
        name: "HostilePeers",
        dependencies: ["_PushBase", "PushCrypto", server("NIOTLS", "swift-nio"), server("NIOSSL", "swift-nio-ssl")]
            + nioCore,
        path: "Tests/HostilePeers", swiftSettings: settings),
    .testTarget(
        name: "PushAPNSTests",
        dependencies: [
            "PushAPNS", "PushSender", "SealedPush", "PushCrypto", "_PushBase", "TestSupport", "HostilePeers", crypto,
            http2,
            server("MetricsTestKit", "swift-metrics"),
        ] + transport + certificates,
        swiftSettings: settings),
]

// MARK: - Tests of programs, and of what is only on Linux

let testedOnLinux: [Target] = [
    .target(
        name: "TestPrograms",
        dependencies: [
            "TestSupport", "PushPostgres", "PushOutbox", "PushSimulator", "PushKeyring", "PushSender", "SealedPush",
            "_PushBase",
        ],
        path: "Tests/Programs", swiftSettings: settings),
    .testTarget(name: "UserNotificationsTests", dependencies: ["UserNotifications"], swiftSettings: settings),
    .testTarget(
        name: "PushOutboxTests",
        dependencies: [
            "PushOutbox", "PushPostgres", "PushAPNS", "PushSender", "PushSimulator", "SealedPush", "PushCrypto",
            "_PushBase", "TestSupport", "TestPrograms", "TestThreads", "outbox-worker", "transaction-example", database,
        ],
        swiftSettings: settings),
    .executableTarget(
        name: "outbox-worker", dependencies: ["PushOutbox", "PushPostgres", "PushSender", "SealedPush"],
        path: "Tests/OutboxWorker",
        swiftSettings: settings),
    .testTarget(
        name: "PushHTTPTests",
        dependencies: [
            "PushHTTP", "PushOutbox", "PushPostgres", "PushSender", "PushService", "PushSimulator", "SealedPush",
            "PushCrypto", "_PushBase", "TestSupport", "TestPrograms", "TestThreads", logging,
        ],
        swiftSettings: settings),
    .testTarget(
        name: "PushPageTests",
        dependencies: [
            "PushPage", "SealedPush", "_PushBase", "TestSupport", "TestPrograms", "TestThreads",
            "SealedPushCommand", "device-simulator",
        ],
        swiftSettings: settings),
    .testTarget(
        name: "PushSimulatorTests",
        dependencies: [
            "PushSimulator", "PushKeyring", "PushSender", "SealedPush", "PushService", "UserNotifications",
            "TestSupport",
            "TestPrograms", "TestThreads", "Cpangocairo",
            "SealedPushCommand", "device-simulator", "misbehaving-extension", "xcode-template-extension",
            "messages-example", "dynamic-chart-example", "daily-quote-example",
            "image-and-receipt-example", "rich-media-example", "app-example",
        ],
        swiftSettings: settings),
    .executableTarget(
        name: "xcode-template-extension", dependencies: ["PushSimulator", "UserNotifications"],
        path: "Tests/Extensions/XcodeTemplate", swiftSettings: strict),
    .executableTarget(
        name: "misbehaving-extension", dependencies: ["PushSimulator", "UserNotifications"],
        path: "Tests/Extensions/Misbehaving", swiftSettings: strict),
    .testTarget(
        name: "SimulatedAPNsTests",
        dependencies: [
            "SimulatedAPNs", "PushSimulator", "PushService", "PushSender", "SealedPush", "PushCrypto", "_PushBase",
            "TestSupport",
            "TestPrograms", "TestThreads", "device-simulator",
        ] + localAPNs,
        swiftSettings: settings),
    .testTarget(
        name: "BothEndsTests",
        dependencies: [
            "PushAPNS", "PushSender", "SealedPush", "PushCrypto", "_PushBase", "SimulatedAPNs", "TestSupport",
        ]
            + localAPNs,
        swiftSettings: settings),
    .target(
        name: "EndToEnd",
        dependencies: [
            "PushOutbox", "PushSender", "PushSimulator", "PushService", "SealedPush", "PushCrypto", "_PushBase",
            "TestSupport", "TestPrograms",
        ],
        path: "Tests/EndToEnd", swiftSettings: settings),
    .testTarget(
        name: "EndToEndTests",
        dependencies: [
            "EndToEnd", "PushAPNS", "SimulatedAPNs", "PushSimulator", "PushService", "PushSender", "SealedPush",
            "PushCrypto", "_PushBase", "TestSupport", "TestPrograms", "TestThreads", "soak-sender", "device-simulator",
        ],
        swiftSettings: settings),
    .executableTarget(
        name: "soak", dependencies: ["EndToEnd", "soak-sender", "device-simulator"], path: "Tests/Soak",
        swiftSettings: settings),
    .executableTarget(
        name: "hostile-benchmark",
        dependencies: ["HostilePeers", "PushAPNS", "PushSender", "SealedPush", "PushCrypto", "_PushBase"] + transport
            + [
                server("CoreMetrics", "swift-metrics")
            ],
        path: "Tests/HostileBenchmark", swiftSettings: settings),
    .executableTarget(
        name: "soak-sender",
        dependencies: [
            "EndToEnd", "PushOutbox", "PushAPNS", "PushSender", "SealedPush", "PushCrypto", "_PushBase", logging,
            metrics,
            server("CoreMetrics", "swift-metrics"),
        ],
        path: "Tests/SoakSender", swiftSettings: settings),
    .testTarget(
        name: "CommandLineTests",
        dependencies: [
            "CommandSupport", "SimulatedAPNs", "PushSimulator", "PushService", "PushKeyring", "PushSender",
            "PushOutbox",
            "SealedPush", "PushCrypto", "_PushBase", "TestSupport", "TestPrograms", "TestThreads", "SealedPushCommand",
            "device-simulator", argumentParser,
        ],
        swiftSettings: settings),
    .testTarget(
        name: "ProjectTests",
        dependencies: [
            "_PushBase", "TestSupport", "TestPrograms", "TestThreads", "SealedPushCommand", "device-simulator",
            "dynamic-chart-example",
        ],
        swiftSettings: settings),
]

func library(_ name: String) -> Product { .library(name: name, targets: [name]) }

let package = Package(
    name: "sealed-push",
    platforms: [
        .iOS(.v17), .macCatalyst(.v17), .macOS(.v15), .visionOS(.v1), .watchOS(.v10), .tvOS(.v17),
    ],
    products: [
        library("SealedPush"), library("PushSender"), library("PushKeyring"), library("PushService"),
        library("PushCharts"), library("PushOutbox"), library("PushPostgres"), library("PushAPNS"),
        .executable(name: "sealedpush", targets: ["SealedPushCommand"]),
    ]
        + (onLinux
            ? [
                library("PushSimulator"), library("SimulatedAPNs"), library("UserNotifications"),
                .executable(name: "device-simulator", targets: ["device-simulator"]),
            ] : []),
    traits: [
        .trait(
            name: "Server",
            description:
                "The outbox, the connection to Apple and the command line, with the packages they are built on."),
        .trait(
            name: "Postgres", description: "The outbox in PostgreSQL, for several hosts; wants libpq.",
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
        // Without its readers of configuration, and without the whole of Foundation.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
    ],
    targets: core + serverTargets + testedEverywhere
        + (onLinux ? simulator + testedOnLinux + constantTime : [])
)
