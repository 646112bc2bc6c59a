// swift-tools-version: 6.2
import PackageDescription

// What an app and its tests need of Sealed Push. It resolves libsodium and nothing else, in every Xcode: there is no trait.
// Scripts/device-package of the repository puts this file next to the sources. A test compares it with the repository's.

#if os(Linux)
// For an app's tests. libsodium is Debian's package. UserNotifications stands in for Apple's framework.
let onLinux = true
let libsodium: Target.Dependency = "Clibsodium"
let libsodiumPackages: [Package.Dependency] = []
#else
// libsodium is swift-sodium's xcframework, under the same module name. Releases before 0.11.0 lack ML-KEM.
let onLinux = false
let libsodium: Target.Dependency = .product(name: "Clibsodium", package: "swift-sodium")
let libsodiumPackages: [Package.Dependency] = [
    .package(url: "https://github.com/jedisct1/swift-sodium", from: "0.11.0")
]
#endif

let settings: [SwiftSetting] =
    ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"].map { .enableUpcomingFeature($0) }

/// A library module in `Sources/PATH`, named after its folder.
func module(_ path: String, _ dependencies: [Target.Dependency] = [], privacy: Bool = false) -> Target {
    // App Store uploads need this file from each module that queries a file's times or size (stat(2) and similar calls).
    let manifest = "PrivacyInfo.xcprivacy"
    return .target(
        name: String(path.split(separator: "/").last ?? ""), dependencies: dependencies, path: "Sources/\(path)",
        exclude: privacy && onLinux ? [manifest] : [],
        resources: privacy && !onLinux ? [.process(manifest)] : [], swiftSettings: settings)
}

func library(_ name: String, _ pkgConfig: String, apt: String) -> Target {
    .systemLibrary(name: name, path: "Sources/CLibraries/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt])])
}

func product(_ name: String) -> Product { .library(name: name, targets: [name]) }

let core: [Target.Dependency] = ["SealedPush", "PushCore"]
let userNotifications: [Target.Dependency] = onLinux ? ["UserNotifications"] : []
let drawing: [Target.Dependency] = onLinux ? ["Ccairo"] : []

let standIns: [Target] = [
    library("Clibsodium", "libsodium", apt: "libsodium-dev"),
    library("Ccairo", "cairo", apt: "libcairo2-dev"),
    module("Simulator/UserNotifications"),
]

let package = Package(
    name: "sealed-push-device",
    platforms: [.iOS(.v17), .macCatalyst(.v17), .macOS(.v15), .visionOS(.v1)],
    products: ["SealedPush", "PushService", "PushApp", "PushCharts", "PushServiceTesting", "PushSender"].map(product)
        + (onLinux ? [product("UserNotifications")] : []),
    dependencies: libsodiumPackages,
    targets: [
        module("Core/PushCore", [libsodium], privacy: true),
        module("Core/SealedPush", ["PushCore"]),
        module("Server/PushSender", core, privacy: true),
        module("Device/PushService", core + userNotifications, privacy: true),
        module("Device/PushApp", ["PushService"] + core + userNotifications),
        module("Device/PushServiceTesting", ["PushApp", "PushService", "PushSender"] + core + userNotifications),
        module("Device/PushCharts", ["PushService"] + core + drawing),
    ] + (onLinux ? standIns : [])
)
