// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that packages that depend on Sealed Push resolve none of its dependencies.
let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "sealed-push", path: "../../..", traits: ["Postgres"]),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    ],
    targets: [
        .systemLibrary(name: "CRawSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                "CRawSodium", .product(name: "PushSender", package: "sealed-push"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            path: "Sources/Benchmarks"),
        .executableTarget(name: "media-benchmark", dependencies: ["CRawSodium"], path: "Sources/MediaBenchmark"),
        .executableTarget(
            name: "outbox-benchmark",
            dependencies: [
                .product(name: "PushOutbox", package: "sealed-push"),
                .product(name: "PushPostgres", package: "sealed-push"),
                .product(name: "PushSender", package: "sealed-push"),
            ],
            path: "Sources/OutboxBenchmark"),
        .executableTarget(
            name: "push-benchmark",
            dependencies: [
                .product(name: "PushAPNs", package: "sealed-push"),
                .product(name: "PushSender", package: "sealed-push"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/PushBenchmark"),
    ]
)
