import Foundation
import PushCore
import PushOutbox
import TestPrograms
import TestSupport
import Testing

/// The store that a fixture's outbox uses.
enum StoreKind: String, CaseIterable {
    case sqlite
    case postgres
    case memory

    @TaskLocal static var current = StoreKind.sqlite

    static let databases: [StoreKind] = [.sqlite, .postgres]

    /// The stores to test: all, or the one that `STORE` in the environment names.
    static let chosen: [StoreKind] = {
        guard let name = ProcessInfo.processInfo.environment["STORE"] else { return allCases }
        guard let kind = StoreKind(rawValue: name) else {
            fatalError("STORE is \(name), not one of \(allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return [kind]
    }()
}

/// Runs each test once in each world: with each store, without an outbox key and with one, and with each form of payload. An
/// issue names its world. `STORE` in the environment leaves out all stores but one.
struct OverStores: SuiteTrait, TestTrait, TestScoping {
    /// The stores to run with, or `nil` for the one that the test chooses.
    var kinds: [StoreKind]? = StoreKind.allCases
    /// Whether the fixtures' outboxes have a key.
    var areKeyed = [false, true]
    /// The forms of payload. Those other than text are tried in memory and with a key: a store doesn't look into payloads, and
    /// the key's codes cover them.
    var forms: [PayloadKind] = [.text]

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        let kinds = kinds?.filter(StoreKind.chosen.contains) ?? [StoreKind.current]
        if kinds.isEmpty { try Test.cancel("It doesn't run over the only store that is to be tested.") }
        for kind in kinds {
            for isKeyed in areKeyed {
                for form in kind == .memory && isKeyed ? forms : [.text] {
                    let world = World(kind: kind, isKeyed: isKeyed, form: form)
                    guard try await world.run(test, testCase, function) else { return }
                }
            }
        }
    }
}

/// A store, with or without an outbox key, and the form of the payloads in it.
private struct World {
    let kind: StoreKind
    let isKeyed: Bool
    let form: PayloadKind

    var name: String { "over \(kind), \(isKeyed ? "with" : "without") an outbox key, form: \(form)" }

    /// Runs a test, and names this world in each of its issues. Returns false if the test waited in vain: it would do the same
    /// in the other worlds, for minutes in each.
    func run(
        _ test: Test, _ testCase: Test.Case?, _ function: @Sendable () async throws -> Void
    ) async throws -> Bool {
        let naming: IssueHandlingTrait = .compactMapIssues { [name] issue in
            var issue = issue
            issue.comments.append("\(name)")
            return issue
        }
        let hasWaited = Locked(false)
        try await naming.provideScope(for: test, testCase: testCase) {
            do {
                try await StoreKind.$current.withValue(kind) {
                    try await PayloadKind.$current.withValue(form) {
                        try await Fixture.$key.withValue(isKeyed ? OutboxKey() : nil) { try await function() }
                    }
                }
            } catch is ExpectationFailedError {
                // It has recorded an issue.
            } catch {
                hasWaited.withLock { $0 = error is WaitedInVain }
                Issue.record(error)
            }
        }
        return !hasWaited.withLock { $0 }
    }
}

/// Runs a test only in some of the worlds of its suite.
struct OnlyIn: TestTrait, TestScoping {
    var kinds = StoreKind.allCases
    var areKeyed = [false, true]
    var forms = PayloadKind.allCases

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard kinds.contains(StoreKind.current), forms.contains(PayloadKind.current),
            areKeyed.contains(Fixture.key != nil)
        else { return }
        try await function()
    }
}

extension Trait where Self == OverStores {
    static var overStores: Self { OverStores() }
    static var overForms: Self { OverStores(forms: PayloadKind.allCases) }
    /// For tests that write rows with SQL, or run programs.
    static var overDatabases: Self { OverStores(kinds: StoreKind.databases) }
    /// The same for tests with keys of their own, or for which a key makes another rule apply first.
    static var overUnkeyedDatabases: Self { OverStores(kinds: StoreKind.databases, areKeyed: [false]) }
    /// For tests that choose the store.
    static var overKeys: Self { OverStores(kinds: nil) }
}

extension Trait where Self == OnlyIn {
    /// For a test about the file.
    static var inFile: Self { OnlyIn(kinds: [.sqlite]) }
    /// For a test about the connection to the database server.
    static var inPostgres: Self { OnlyIn(kinds: [.postgres]) }
    /// For a test that writes rows with SQL.
    static var inDatabases: Self { OnlyIn(kinds: StoreKind.databases) }
    /// For a test to which a key makes no difference.
    static var withoutKey: Self { OnlyIn(areKeyed: [false]) }
    /// For a test that reads the message, or chooses its priority. A background push has no message, and one priority.
    static var withAlerts: Self { OnlyIn(forms: [.text, .members]) }
}
