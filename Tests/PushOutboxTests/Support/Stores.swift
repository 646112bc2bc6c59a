import PushOutbox
import TestPrograms
import Testing

/// The store that a fixture's outbox uses.
enum StoreKind: String, CaseIterable {
    case sqlite
    case postgres

    @TaskLocal static var current = StoreKind.sqlite
}

/// Runs each test once in each world: with each store, without an outbox key and with one.
struct OverStores: SuiteTrait, TestTrait, TestScoping {
    /// The stores to run with, or `nil` for the one that the test chooses.
    var kinds: [StoreKind]? = StoreKind.allCases
    /// Whether the fixtures' outboxes have a key.
    var areKeyed = [false, true]

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        for kind in kinds ?? [StoreKind.current] {
            for isKeyed in areKeyed {
                do {
                    try await StoreKind.$current.withValue(kind) {
                        try await Fixture.$key.withValue(isKeyed ? OutboxKey() : nil) { try await function() }
                    }
                } catch { Issue.record(error, "over \(kind), \(isKeyed ? "with" : "without") an outbox key") }
            }
        }
    }
}

/// Runs a test only with SQLite, because it is about the file.
struct InFile: TestTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        if StoreKind.current == .sqlite { try await function() }
    }
}

extension Trait where Self == OverStores {
    static var overStores: Self { OverStores() }
    /// For tests that choose the store.
    static var overKeys: Self { OverStores(kinds: nil) }
    /// For tests with keys of their own, or for which a key makes another rule apply first.
    static var overUnkeyedStores: Self { OverStores(areKeyed: [false]) }
}

extension Trait where Self == InFile { static var inFile: Self { InFile() } }
