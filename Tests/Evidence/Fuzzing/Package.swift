// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that packages that depend on Sealed Push don't resolve its dependencies. It uses internal symbols
// as tests do, by `@testable`, which Scripts/fuzz enables. For Linux, since Apple's toolchains lack libFuzzer.
func target(
    _ name: String, _ products: String..., packages: [String: [String]] = [:]
) -> Target {
    let products = products.map { Target.Dependency.product(name: $0, package: "sealed-push") }
    let others = packages.flatMap { package, names in
        names.map { Target.Dependency.product(name: $0, package: package) }
    }
    return .executableTarget(name: name, dependencies: ["FuzzSupport"] + products + others)
}

let package = Package(
    name: "fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "sealed-push", path: "../../..", traits: ["Server"]),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(name: "CRawSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .target(name: "FuzzSupport", dependencies: ["CRawSodium"]),
        target("fuzz-opening", "PushSender", "PushService", "PushCharts", "SealedPush"),
        target("fuzz-keytext", "SealedPush", "PushKeyring"),
        target("fuzz-record", "PushSender", "SealedPush"),
        target("fuzz-keyring", "PushKeyring", "PushSender", "SealedPush"),
        target("fuzz-outbox", "PushOutbox", "PushSender", packages: ["GRDB.swift": ["GRDB"]]),
        target("fuzz-fetch", "PushSimulator", "PushService", "PushSender", "SealedPush"),
        target(
            "fuzz-http2", "PushAPNs", "PushSender",
            packages: [
                "swift-nio": ["NIOCore", "NIOEmbedded", "NIOTLS"], "swift-nio-http2": ["NIOHPACK"],
                "swift-crypto": ["Crypto"], "swift-log": ["Logging"], "swift-metrics": ["CoreMetrics"],
            ]),
    ]
)
