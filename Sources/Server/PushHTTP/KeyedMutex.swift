internal import PushCore

/// Runs one task for each key at a time, in order of arrival. Thread-safe.
final class KeyedMutex<Key: Hashable & Sendable>: Sendable {
    private let entries = Locked<[Key: Entry]>([:])

    private struct Entry {
        let semaphore = TaskSemaphore(1)
        var userCount = 0
    }

    /// The number of tasks that are waiting for another one with the same key.
    var waitingCount: Int { entries.withLock { $0.values.reduce(0) { $0 + $1.semaphore.waitingCount } } }

    func run<Answer>(_ key: Key, _ work: () async throws -> Answer) async rethrows -> Answer {
        let semaphore = entries.withLock { entries in
            entries[key, default: Entry()].userCount += 1
            return entries[key, default: Entry()].semaphore
        }
        await semaphore.enter()
        defer {
            semaphore.leave()
            entries.withLock { entries in
                entries[key]?.userCount -= 1
                if entries[key]?.userCount == 0 { entries[key] = nil }
            }
        }
        return try await work()
    }
}
