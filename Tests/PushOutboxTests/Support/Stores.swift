import TestPrograms
import Testing

/// Which store a fixture's outbox stands over.
enum StoreKind: String, CaseIterable {
    case sqlite
    case postgres

    @TaskLocal static var current = StoreKind.sqlite
}

/// Runs each test once over each store.
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

/// Leaves a test out over all stores but SQLite's, whose file it is about.
struct InFile: TestTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        if StoreKind.current == .sqlite { try await function() }
    }
}

extension Trait where Self == OverStores { static var overStores: Self { OverStores() } }

extension Trait where Self == InFile { static var inFile: Self { InFile() } }
