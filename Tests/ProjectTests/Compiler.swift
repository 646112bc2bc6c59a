import Foundation
import TestPrograms
import TestSupport

/// Compiles files that use the built modules.
enum Compiler {
    /// Runs `swiftc` on all files as one module, with warnings as errors.
    static func run(_ arguments: [String]) throws -> Program.Result {
        let modules = products.appending(path: "Modules")
        let libraries = ["Clibsodium", "Ccairo", "Ccurl"].flatMap {
            ["-I", Checkout.folder.appending(path: "Sources/CLibraries/\($0)").path]
        }
        let flags = try Program(at: "/usr/bin/pkg-config").run("--cflags", "cairo").trimmed.split(separator: " ")
        let compiler = ["swiftc", "-wmo", "-swift-version", "6", "-warnings-as-errors", "-I", modules.path]
        let maps = try moduleMaps().flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
        return try Program(at: "/usr/bin/env").run(
            compiler + libraries + flags.flatMap { ["-Xcc", String($0)] } + maps + arguments)
    }

    /// The name that the package manager gives to this package, by its folder. A file compiled under it sees what is `package`.
    static var package: String {
        Checkout.folder.lastPathComponent.lowercased().replacing(/[^a-z0-9]/, with: "_")
    }

    private static var products: URL { Program("sealedpush").executable.deletingLastPathComponent() }

    /// Returns the module maps of C modules: those of the package manager, and those of the packages themselves.
    private static func moduleMaps() throws -> [String] {
        let own = try FileManager.default.contentsOfDirectory(at: products, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasSuffix(".build") }.map { $0.appending(path: "module.modulemap") }
        let checkouts = products.deletingLastPathComponent().deletingLastPathComponent().appending(path: "checkouts")
        let theirs = try FileManager.default.contentsOfDirectory(at: checkouts, includingPropertiesForKeys: nil)
            .flatMap { package in
                let sources = package.appending(path: "Sources")
                let targets = try? FileManager.default.contentsOfDirectory(at: sources, includingPropertiesForKeys: nil)
                return (targets ?? []).flatMap { target in
                    ["include/module.modulemap", "module.modulemap"].map { target.appending(path: $0) }
                }
            }
        return (own + theirs).map(\.path).filter { FileManager.default.fileExists(atPath: $0) }
    }
}
