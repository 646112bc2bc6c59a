// swift-tools-version: 6.1
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

// libsodium: Debian's package on Linux, swift-sodium's xcframework under the same module name on Apple's systems.
#if os(Linux)
    let libsodiumPackages: [Package.Dependency] = []
    let libsodiumTargets: [Target] = [
        .systemLibrary(
            name: "Clibsodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])])
    ]
    let libsodium: Target.Dependency = "Clibsodium"
    let userNotificationsTargets: [Target] = [
        .target(name: "UserNotifications", swiftSettings: settings),
        .testTarget(
            name: "UserNotificationsTests", dependencies: ["UserNotifications"], swiftSettings: settings),
    ]
    let userNotifications: [Target.Dependency] = ["UserNotifications"]
#else
    let libsodiumPackages: [Package.Dependency] = [
        .package(url: "https://github.com/jedisct1/swift-sodium", from: "0.9.1")
    ]
    let libsodiumTargets: [Target] = []
    let libsodium: Target.Dependency = .product(name: "Clibsodium", package: "swift-sodium")
    let userNotificationsTargets: [Target] = []
    let userNotifications: [Target.Dependency] = []
#endif

let package = Package(
    name: "sealed-push",
    platforms: [.iOS(.v18), .macOS(.v15)],
    dependencies: libsodiumPackages + [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        // The tests' second opinion on HPKE; nothing that ships uses it.
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    ],
    targets: libsodiumTargets + userNotificationsTargets + [
        .target(name: "PushCrypto", dependencies: [libsodium], swiftSettings: settings),
        .testTarget(
            name: "PushCryptoTests",
            dependencies: ["PushCrypto", .product(name: "Crypto", package: "swift-crypto")],
            resources: [.copy("Vectors")],
            swiftSettings: settings),
        .target(name: "SealedPush", dependencies: ["PushCrypto"], swiftSettings: settings),
        .target(name: "PushSender", dependencies: ["SealedPush", "PushCrypto"], swiftSettings: settings),
    ]
)
