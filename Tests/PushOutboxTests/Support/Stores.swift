import PushOutbox
import TestPrograms
import Testing

/// The store that a fixture's outbox uses.
enum StoreKind: String, CaseIterable {
    case sqlite
    case postgres
    case memory

    @TaskLocal static var current = StoreKind.sqlite

    static let databases: [StoreKind] = [.sqlite, .postgres]
}

/// Runs each test once in each world: with each store, without an outbox key and with one, and with each form of payload.
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
        for kind in kinds ?? [StoreKind.current] {
            for isKeyed in areKeyed {
                for form in kind == .memory && isKeyed ? forms : [.text] {
                    let world = "over \(kind), \(isKeyed ? "with" : "without") an outbox key, form: \(form)"
                    do {
                        try await StoreKind.$current.withValue(kind) {
                            try await PayloadKind.$current.withValue(form) {
                                try await Fixture.$key.withValue(isKeyed ? OutboxKey() : nil) { try await function() }
                            }
                        }
                    } catch { Issue.record(error, "\(world)") }
                }
            }
        }
    }
}

/// Runs a test only in some of the worlds of its suite.
struct OnlyIn: TestTrait, TestScoping {
    var kinds = StoreKind.allCases
    var forms = PayloadKind.allCases

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        if kinds.contains(StoreKind.current), forms.contains(PayloadKind.current) { try await function() }
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
    /// For a test that writes rows with SQL.
    static var inDatabases: Self { OnlyIn(kinds: StoreKind.databases) }
    /// For a test that reads the message, or chooses its priority. A background push has no message, and one priority.
    static var withAlerts: Self { OnlyIn(forms: [.text, .members]) }
}
