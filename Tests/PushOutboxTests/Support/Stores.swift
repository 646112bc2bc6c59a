import TestPrograms
import Testing

/// The store that a fixture's outbox uses.
enum StoreKind: String, CaseIterable {
    case sqlite
    case postgres

    @TaskLocal static var current = StoreKind.sqlite
}

/// Runs each test once with each store.
struct OverStores: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        for kind in StoreKind.allCases {
            do { try await StoreKind.$current.withValue(kind) { try await function() } } catch {
                Issue.record(error, "over \(kind)")
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

extension Trait where Self == OverStores { static var overStores: Self { OverStores() } }

extension Trait where Self == InFile { static var inFile: Self { InFile() } }
