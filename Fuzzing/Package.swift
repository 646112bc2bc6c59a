// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that whoever depends on Sealed Push resolves none of this; it sees the public API only.
// For Linux, since Apple's toolchains come without libFuzzer. Run it with Scripts/fuzz.
func target(_ name: String, _ products: String...) -> Target {
    .executableTarget(
        name: name, dependencies: ["FuzzSupport"] + products.map { .product(name: $0, package: "sealed-push") })
}

let package = Package(
    name: "fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "sealed-push", path: "..", traits: ["Server"])],
    targets: [
        .systemLibrary(name: "CRawSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .target(name: "FuzzSupport", dependencies: ["CRawSodium"]),
        target("fuzz-envelope", "SealedPush"),
        target("fuzz-content", "SealedPush"),
        target("fuzz-keytext", "SealedPush", "PushKeyring"),
        target("fuzz-opening", "PushSender"),
        target("fuzz-push-file", "PushSimulator"),
        target("fuzz-record", "SealedPush"),
        target("fuzz-keyring", "PushKeyring", "SealedPush"),
    ]
)
