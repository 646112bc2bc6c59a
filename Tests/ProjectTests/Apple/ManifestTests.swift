import Foundation
import TestSupport
import Testing

@Suite("The manifest on Linux and on Apple's systems") struct ManifestTests {
    private static let server: Set<String> = [
        "swift-argument-parser", "grdb.swift", "swift-crypto", "swift-nio", "swift-nio-ssl", "swift-nio-http2",
        "hummingbird", "swift-http-types", "swift-nio-extras", "jwt-kit", "swift-log", "swift-metrics",
        "swift-service-lifecycle", "swift-certificates", "swift-asn1",
    ]

    @Test("no two paths differ only in case or in how a letter is composed") func paths() async throws {
        let paths = try await PackageCopy.paths()
        #expect(paths.count > 500)
        #expect(Names.collisions(among: Names.withFolders(paths)) == [])
    }

    @Test(
        "every name in it is declared, every condition is sound, and no file of a build overwrites another",
        arguments: [PackageCopy.Branch.linux, .apple])
    func names(branch: PackageCopy.Branch) async throws {
        let copy = try await PackageCopy(branch)
        let manifest = try await copy.manifest()
        #expect(manifest.faults() == [])
        #expect(manifest.targets.count > 20)
        // Only our own builds have flags that a dependent must not get.
        #expect(manifest.targets.filter { $0.hasUnsafeFlags }.map { $0.name } == [])
        #expect(try await copy.manifest(strict: true).targets.filter { $0.hasUnsafeFlags }.count > 20)
    }

    @Test("it loads on Apple's systems, with libsodium alone, as an app does, and with the trait's packages")
    func apple() async throws {
        let copy = try await PackageCopy(.apple)
        #expect(try await copy.resolved() == ["swift-sodium"])
        #expect(try await copy.resolved("--traits", "Server") == Self.server.union(["swift-sodium"]))
        // As AppGuide 1 says.
        #expect(try await copy.resolvedByApp(taking: Manifest.appProducts) == ["sealed-push", "swift-sodium"])
    }

    @Test("it loads on Linux, with the trait's packages, and with none") func linux() async throws {
        let copy = try await PackageCopy(.linux)
        #expect(try await copy.resolved() == Self.server)
        #expect(try await copy.resolved("--disable-default-traits") == [])
    }
}
