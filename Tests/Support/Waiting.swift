/// A wait that was given up.
public struct WaitedInVain: Error, CustomStringConvertible {
    public let description: String

    init(_ what: String) { description = "waited in vain: \(what)" }
}

/// The last resort against a test that hangs: far longer than anything takes on the busiest machine. No test relies on it.
private let longestWait: Duration = .seconds(300)

/// Waits until `condition` holds. Between two looks it sleeps for longer than a look takes, so that waiting costs others little.
///
/// - Parameter what: what is waited for, as the error calls it.
/// - Throws: ``WaitedInVain`` after five minutes.
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

/// Returns what `body` returns. A body that never ends is cancelled.
///
/// - Throws: what `body` throws, and ``WaitedInVain`` after five minutes.
public func ending<Value: Sendable>(
    _ what: String, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value?.self) { group in
        defer { group.cancelAll() }
        group.addTask { try await body() }
        group.addTask {
            // Cancelled where the caller is, which is then for the body to answer.
            do { try await Task.sleep(for: longestWait) } catch { return nil }
            throw WaitedInVain(what)
        }
        while let value = try await group.next() { if let value { return value } }
        throw WaitedInVain(what)
    }
}

/// Runs `body` with a short limit of time, and with ever longer ones as long as it returns false, because the machine was
/// too busy to come to the point within the limit.
///
/// For code under test that goes by real time. What `body` expects must hold whatever the limit is.
///
/// - Throws: what `body` throws, and ``WaitedInVain`` where 64 times the limit is too short.
public func lengthening(_ shortest: Duration, _ what: String, _ body: (Duration) async throws -> Bool) async throws {
    for factor in [1, 4, 16, 64] where try await body(shortest * factor) { return }
    throw WaitedInVain("\(what), in \(shortest * 64)")
}

/// The same for a body that does not wait.
public func lengthening(_ shortest: Duration, _ what: String, _ body: (Duration) throws -> Bool) throws {
    for factor in [1, 4, 16, 64] where try body(shortest * factor) { return }
    throw WaitedInVain("\(what), in \(shortest * 64)")
}
