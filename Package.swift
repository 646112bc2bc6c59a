// swift-tools-version: 6.2
import PackageDescription

// Warnings are errors in our own builds only: a flag that is always on would break those who depend on us.
let strict: [SwiftSetting] =
    Context.environment["SEALED_PUSH_STRICT"] == nil ? [] : [.unsafeFlags(["-warnings-as-errors"])]
let settings: [SwiftSetting] =
    strict + [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let nio: [Target.Dependency] = [
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOPosix", package: "swift-nio"),
    .product(name: "NIOTLS", package: "swift-nio"),
    .product(name: "NIOSSL", package: "swift-nio-ssl"),
    .product(name: "NIOHPACK", package: "swift-nio-http2"),
]
/// For servers; the transport has framing of its own.
let http2: Target.Dependency = .product(name: "NIOHTTP2", package: "swift-nio-http2")
let certificates: [Target.Dependency] = [
    .product(name: "X509", package: "swift-certificates"),
    .product(name: "SwiftASN1", package: "swift-asn1"),
]
let server: [Target.Dependency] = [
    .product(name: "JWTKit", package: "jwt-kit"),
    .product(name: "Logging", package: "swift-log"),
    .product(name: "Metrics", package: "swift-metrics"),
    .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
]

#if os(Linux)
    // libsodium is Debian's package, and Apple's UserNotifications a stand-in, with the simulator on top of it.
    let platformPackages: [Package.Dependency] = []
    let localAPNs: [Target.Dependency] =
        nio + [http2, .product(name: "NIOHTTP1", package: "swift-nio"), crypto] + certificates
    let platformProducts: [Product] = [
        .library(name: "PushSimulator", targets: ["PushSimulator"]),
        .library(name: "SimulatedAPNs", targets: ["SimulatedAPNs"]),
        .library(name: "UserNotifications", targets: ["UserNotifications"]),
        .executable(name: "device-simulator", targets: ["device-simulator"]),
    ]
    let libsodium: Target.Dependency = "Clibsodium"
    let userNotifications: [Target.Dependency] = ["UserNotifications"]
    /// What the simulator fetches with, in place of Apple's loader.
    let curl: [Target.Dependency] = ["Ccurl"]
    let drawing: [Target.Dependency] = ["Ccairo"]
    let platformTargets: [Target] = [
        .systemLibrary(name: "Clibsodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(name: "Ccurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "Ccairo", pkgConfig: "cairo", providers: [.apt(["libcairo2-dev"])]),
        .systemLibrary(
            name: "Cpangocairo", pkgConfig: "pangocairo", providers: [.apt(["libpango1.0-dev"])]),
        .systemLibrary(name: "Cturbojpeg", pkgConfig: "libturbojpeg", providers: [.apt(["libturbojpeg0-dev"])]),
        .target(
            name: "LockScreenPicture", dependencies: ["PushSimulator", "SealedPush", "Cpangocairo", "Cturbojpeg"],
            swiftSettings: settings),
        .testTarget(
            name: "LockScreenPictureTests",
            dependencies: [
                "LockScreenPicture", "PushSimulator", "PushSender", "SealedPush", "UserNotifications", "TestSupport",
                "Cpangocairo", "Cturbojpeg", "device-simulator",
            ],
            swiftSettings: settings),
        .target(name: "UserNotifications", swiftSettings: settings),
        .testTarget(name: "UserNotificationsTests", dependencies: ["UserNotifications"], swiftSettings: settings),
        .target(
            name: "PushSimulator",
            dependencies: ["PushService", "PushKeyring", "SealedPush", "PushCrypto", "UserNotifications"],
            swiftSettings: settings),
        .target(
            name: "SimulatedAPNs",
            dependencies: [
                "PushSimulator", "PushService", "PushKeyring", "SealedPush", "PushCrypto", "UserNotifications",
            ] + localAPNs,
            swiftSettings: settings),
        .executableTarget(
            name: "device-simulator",
            dependencies: ["SimulatedAPNs", "PushSimulator", "LockScreenPicture", argumentParser],
            swiftSettings: settings),
        .executableTarget(
            name: "messages-example", dependencies: ["PushService", "PushSimulator"], path: "Examples/Messages",
            swiftSettings: strict),
        .executableTarget(
            name: "dynamic-chart-example", dependencies: ["PushCharts", "PushService", "PushSimulator"],
            path: "Examples/DynamicChart", exclude: ["README.md"], swiftSettings: strict),
        .executableTarget(
            name: "daily-quote-example", dependencies: ["PushService", "PushSimulator"], path: "Examples/DailyQuote",
            exclude: ["README.md"], swiftSettings: strict),
        .executableTarget(
            name: "rich-media-example", dependencies: ["PushService", "PushSimulator"], path: "Examples/RichMedia",
            exclude: ["README.md"], swiftSettings: strict),
        .executableTarget(
            name: "image-and-receipt-example", dependencies: ["PushService", "PushSimulator"],
            path: "Examples/ImageAndReceipt", exclude: ["README.md"], swiftSettings: strict),
        .executableTarget(
            name: "xcode-template-extension", dependencies: ["PushSimulator", "UserNotifications"],
            path: "Tests/Extensions/XcodeTemplate", swiftSettings: strict),
        .executableTarget(
            name: "misbehaving-extension", dependencies: ["PushSimulator", "UserNotifications"],
            path: "Tests/Extensions/Misbehaving", swiftSettings: strict),
        .executableTarget(
            name: "expanding-extension", dependencies: ["PushService", "PushSimulator", "SealedPush"],
            path: "Tests/Extensions/Expanding", swiftSettings: strict),
        .testTarget(
            name: "PushSenderTests", dependencies: ["PushSender", "SealedPush", "PushCrypto", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "PushOutboxTests",
            dependencies: [
                "PushOutbox", "PushSender", "PushSimulator", "SealedPush", "PushCrypto", "TestSupport", "outbox-worker",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PushReceiptsTests",
            dependencies: [
                "PushReceipts", "PushOutbox", "PushSender", "PushSimulator", "SealedPush", "PushCrypto", "TestSupport",
            ], swiftSettings: settings),
        .executableTarget(
            name: "outbox-worker", dependencies: ["PushOutbox", "PushSender", "SealedPush"],
            path: "Tests/OutboxWorker", swiftSettings: settings),
        .testTarget(
            name: "PushServiceTests",
            dependencies: [
                "PushService", "PushKeyring", "PushSender", "SealedPush", "PushCrypto", "UserNotifications",
                "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PushChartsTests",
            dependencies: [
                "PushCharts", "PushService", "PushSender", "SealedPush", "PushCrypto", "UserNotifications",
                "TestSupport", "Ccairo",
            ],
            exclude: ["Golden"], swiftSettings: settings),
        .testTarget(
            name: "PushKeyringTests", dependencies: ["PushKeyring", "SealedPush", "PushCrypto", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "PushSimulatorTests",
            dependencies: [
                "PushSimulator", "PushKeyring", "PushSender", "SealedPush", "TestSupport", "device-simulator",
                "misbehaving-extension", "expanding-extension", "xcode-template-extension", "messages-example",
                "dynamic-chart-example", "daily-quote-example", "image-and-receipt-example", "rich-media-example",
                "sealedpush", "PushService",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "SimulatedAPNsTests",
            dependencies: [
                "SimulatedAPNs", "PushSimulator", "PushKeyring", "PushSender", "SealedPush", "PushCrypto",
                "TestSupport", "device-simulator",
            ] + localAPNs,
            swiftSettings: settings),
        .target(
            name: "EndToEnd",
            dependencies: [
                "PushOutbox", "PushKeyring", "PushSender", "PushSimulator", "SealedPush", "PushCrypto", "TestSupport",
            ], path: "Tests/EndToEnd", swiftSettings: settings),
        .executableTarget(
            name: "soak", dependencies: ["EndToEnd", "soak-sender", "device-simulator"], path: "Tests/Soak",
            swiftSettings: settings),
        .executableTarget(
            name: "soak-sender",
            dependencies: [
                "EndToEnd", "PushOutbox", "PushAPNS", "PushSender", "SealedPush", "PushCrypto",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
            ], path: "Tests/SoakSender", swiftSettings: settings),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "EndToEnd", "PushAPNS", "SimulatedAPNs", "PushSimulator", "PushKeyring", "PushSender", "SealedPush",
                "PushCrypto",
                "TestSupport", "soak-sender", "device-simulator",
            ], swiftSettings: settings),
        .testTarget(
            name: "BothEndsTests",
            dependencies: [
                "PushAPNS", "PushSender", "SealedPush", "PushCrypto", "SimulatedAPNs", "TestSupport",
            ] + localAPNs + server,
            swiftSettings: settings),
        .testTarget(
            name: "CommandLineTests",
            dependencies: [
                "SimulatedAPNs", "PushSimulator", "PushKeyring", "PushSender", "SealedPush", "PushCrypto",
                "TestSupport", "sealedpush", "device-simulator",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ProjectTests", dependencies: ["TestSupport", "sealedpush", "device-simulator"],
            swiftSettings: settings),
    ]
#else
    // libsodium is swift-sodium's xcframework, under the same module name.
    let platformPackages: [Package.Dependency] = [
        .package(url: "https://github.com/jedisct1/swift-sodium", from: "0.9.1")
    ]
    let platformProducts: [Product] = []
    let libsodium: Target.Dependency = .product(name: "Clibsodium", package: "swift-sodium")
    let userNotifications: [Target.Dependency] = []
    let curl: [Target.Dependency] = []
    let drawing: [Target.Dependency] = []
    let platformTargets: [Target] = []
#endif

let package = Package(
    name: "sealed-push",
    platforms: [.iOS(.v18), .macOS(.v15)],
    products: [
        .library(name: "SealedPush", targets: ["SealedPush"]),
        .library(name: "PushSender", targets: ["PushSender"]),
        .library(name: "PushOutbox", targets: ["PushOutbox"]),
        .library(name: "PushAPNS", targets: ["PushAPNS"]),
        .library(name: "PushService", targets: ["PushService"]),
        .library(name: "PushCharts", targets: ["PushCharts"]),
        .library(name: "PushKeyring", targets: ["PushKeyring"]),
        .executable(name: "sealedpush", targets: ["sealedpush"]),
    ] + platformProducts,
    dependencies: platformPackages + [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        // The tests' second opinion on HPKE; nothing that ships uses it.
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        // The transport to Apple.
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        // The certificate of the local APNs, and those of the tests' servers.
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
    ],
    targets: platformTargets + [
        .systemLibrary(
            name: "Clibqrencode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"]), .brew(["qrencode"])]),
        .target(name: "PushCrypto", dependencies: [libsodium], swiftSettings: settings),
        .target(name: "SealedPush", dependencies: ["PushCrypto"], swiftSettings: settings),
        .target(name: "PushKeyring", dependencies: ["SealedPush", "PushCrypto"], swiftSettings: settings),
        .target(name: "PushSender", dependencies: ["SealedPush", "PushCrypto"], swiftSettings: settings),
        .target(
            name: "PushOutbox",
            dependencies: ["PushSender", "SealedPush", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: settings),
        .target(
            name: "PushAPNS", dependencies: ["PushSender", "SealedPush", "PushCrypto"] + nio + server,
            swiftSettings: settings),
        .target(
            name: "PushReceipts",
            dependencies: [
                "PushOutbox", "PushSender", "SealedPush", "PushCrypto", .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
            ], swiftSettings: settings),
        .target(
            name: "PushService", dependencies: ["SealedPush", "PushCrypto"] + userNotifications + curl,
            swiftSettings: settings),
        .target(
            name: "PushCharts", dependencies: ["PushService", "SealedPush"] + drawing, swiftSettings: settings),
        .executableTarget(
            name: "sealedpush",
            dependencies: [
                "PushAPNS", "PushReceipts", "PushOutbox", "PushKeyring", "PushSender", "SealedPush", "PushCrypto",
                argumentParser, "Clibqrencode", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "server-example", dependencies: ["PushSender"], path: "Examples/Server", swiftSettings: strict),
        .executableTarget(
            name: "sending-server-example",
            dependencies: [
                "PushAPNS", "PushOutbox", "PushSender", .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Examples/SendingServer", swiftSettings: strict),
        .target(
            name: "TestSupport",
            dependencies: ["PushCrypto", "SealedPush", "PushKeyring", "PushSender", "PushSimulator"],
            path: "Tests/Support", swiftSettings: settings),
        .testTarget(
            name: "PushCryptoTests", dependencies: ["PushCrypto", "TestSupport", crypto], resources: [.copy("Vectors")],
            swiftSettings: settings),
        .testTarget(
            name: "SealedPushTests", dependencies: ["SealedPush", "PushCrypto", "TestSupport", crypto],
            swiftSettings: settings),
        .testTarget(
            name: "PushAPNSTests",
            dependencies: [
                "PushAPNS", "PushSender", "SealedPush", "PushCrypto", "TestSupport", crypto, http2,
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ] + nio + server + certificates,
            swiftSettings: settings),
        .testTarget(
            name: "VectorTests", dependencies: ["PushSender", "PushCrypto", "TestSupport"], swiftSettings: settings),
    ]
)
