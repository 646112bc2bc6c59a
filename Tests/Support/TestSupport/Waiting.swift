/// The error for a wait that was abandoned.
public struct WaitedInVain: Error, CustomStringConvertible {
    public let description: String

    init(_ what: String) { description = "gave up waiting: \(what)" }
}

/// The last resort against a hanging test: far longer than anything takes on the busiest machine. No test relies on it.
private let longestWait: Duration = .seconds(Thoroughness.count(300, thorough: 1_800))

/// Waits until `condition` is true. Sleeps longer between checks than a check takes, so that waiting costs others little.
///
/// - Parameter what: the awaited condition, as the error describes it.
/// - Throws: ``WaitedInVain`` after five minutes, or in a thorough run, after half an hour.
public func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + longestWait
    while true {
        let start = ContinuousClock.now
        if try await condition() { return }
        let now = ContinuousClock.now
        guard now < end else { throw WaitedInVain(what) }
        let pause: Duration = (now - start) * 4
        try await Task.sleep(for: min(max(pause, .milliseconds(2)), .milliseconds(100)))
    }
}

/// Returns the result of `body`. A body that never ends is canceled.
///
/// - Throws: the error that `body` throws, and ``WaitedInVain`` after the same time as ``eventually(_:_:)``.
public func ending<Value: Sendable>(
    _ what: String, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value?.self) { group in
        defer { group.cancelAll() }
        group.addTask { try await body() }
        group.addTask {
            // Canceled if the caller is; `body` must then respond to it.
            do { try await Task.sleep(for: longestWait) } catch { return nil }
            throw WaitedInVain(what)
        }
        while let value = try await group.next() { if let value { return value } }
        throw WaitedInVain(what)
    }
}

/// Runs `body` with a short time limit, and with ever longer ones as long as it returns false because the machine was too
/// busy to finish within the limit.
///
/// For code under test that depends on real time. The expectations in `body` must hold for any limit.
///
/// - Throws: the error that `body` throws, and ``WaitedInVain`` if 64 times the limit is too short.
public func lengthening(_ shortest: Duration, _ what: String, _ body: (Duration) async throws -> Bool) async throws {
    for factor in [1, 4, 16, 64] where try await body(shortest * factor) { return }
    throw WaitedInVain("\(what), in \(shortest * 64)")
}

/// Does the same for a body that doesn't wait.
public func lengthening(_ shortest: Duration, _ what: String, _ body: (Duration) throws -> Bool) throws {
    for factor in [1, 4, 16, 64] where try body(shortest * factor) { return }
    throw WaitedInVain("\(what), in \(shortest * 64)")
}
